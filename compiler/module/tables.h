// The decision code of a module as it lies in its bytes: arrays of fixed records linked by 32-bit
// indexes, with no pointer in them. compiler/ir builds and prints them, verify_tables.h proves them
// once at load, and an engine reads them in place. What they mean is written down in
// compiler/ir/README.md.
#pragma once

#include "compiler/module/verdict.h"
#include "compiler/schema/schema.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

namespace curfew::module {

inline constexpr std::uint32_t NoIndex = std::numeric_limits<std::uint32_t>::max();

// A stretch of another array.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend auto operator<=>(const Range&, const Range&) = default;
};

// ---- Values -------------------------------------------------------------------------------------

// What an operand is made of, and how it can be compared.
enum class ValueClass : std::uint8_t {
  Integer,       // bool, int, duration, size, time, enum
  Text,          // every other single value, as bytes
  IntegerItems,  // a set or list of either
  TextItems
};
ValueClass ClassOf(schema::TypeKind kind, schema::Collection collection);

enum class TermKind : std::uint8_t {
  Slot,         // the request's value at `slot`
  Element,      // the element that the quantifier around it looks at
  Integer,      // integers[a]
  Text,         // texts[a]
  TextSet,      // text_items[a, a + b): ascending indexes of texts
  TextList,     // text_items[a, a + b), in the author's order
  IntegerSet,   // integers[a, a + b), ascending
  IntegerList,  // integers[a, a + b)
  Count,        // how many elements the term `a` has
  Sum           // addends[a, a + b), exact
};
inline constexpr std::size_t TermKindCount = 10;

struct TermRecord {
  TermKind kind = TermKind::Integer;
  ValueClass value = ValueClass::Integer;
  schema::Slot slot = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

// A term that is added or, with a sign of -1, taken away. It is no Sum itself.
struct AddendRecord {
  std::int32_t sign = 1;
  std::uint32_t term = 0;
};

// ---- Conditions ---------------------------------------------------------------------------------

// One node of a condition. Its children have smaller indexes. Terms and children stand in a, b and
// c as each line says.
enum class NodeOp : std::uint8_t {
  False,
  True,
  Not,     // node a
  And,     // children[a, a + b)
  Or,      // children[a, a + b)
  AnyOf,   // items term a, node b on Element
  AllOf,   // items term a, node b on Element
  NoneOf,  // items term a, node b on Element
  Has,     // the fact of slot a is present
  Equal,   // term a, term b: both integers or both texts; so also the next five
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,              // term a is an element of items term b
  SubsetOf,        // every element of items term a is one of items term b
  Intersects,      // some element of items term a is one of items term b
  SameItems,       // items term a and items term b are equal element by element
  Starts,          // items term a begins with items term b
  HostIn,          // text term a meets one of patterns[b, b + c), ascending; values::HostReach
  PathIn,          // text term a meets one of patterns[b, b + c): mode is a values::Reading
  TextIn,          // text term a meets one of patterns[b, b + c): globs of `matches`
  AddressIn,       // text term a, 16 bytes, lies in one of blocks[b, b + c)
  AddressInItems,  // text term a, 16 bytes, lies in an element of items term b: 17 bytes each
  QueryIn          // text term a meets one of patterns[b, b + c): mode is a values::QueryReading
};
inline constexpr std::size_t NodeOpCount = 26;

struct NodeRecord {
  NodeOp op = NodeOp::False;
  std::uint8_t reserved[3] = {};
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

struct PatternRecord {
  std::uint32_t text = 0;
  std::uint32_t mode = 0;
  friend auto operator<=>(const PatternRecord&, const PatternRecord&) = default;
};

// A block of addresses; IPv4 is mapped, so its prefix is 96 or more.
struct BlockOfAddresses {
  std::uint8_t base[16] = {};
  std::uint32_t prefix = 128;
};

// ---- Rules --------------------------------------------------------------------------------------

struct NameRef {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  friend auto operator<=>(const NameRef&, const NameRef&) = default;
};

// A reason that a verdict can give. Sorted by id; an id with several reasons has a row for each.
struct RuleRecord {
  NameRef id;
  NameRef message;
  NameRef file;  // empty for what no file says
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Effect effect = Effect::Deny;
  // 1: a `never`, which was proven of the set: a denial like any other, of a block's denials, that
  // is never the only one (OnlyNeversDeny).
  std::uint8_t never = 0;
  std::uint8_t reserved[2] = {};
};

// A rule where it is asked. NoIndex as a condition always holds. `within` is for allows only: an
// allow whose condition holds and whose `within` does not says what is asked and yet grants
// nothing, which is another reason than saying nothing.
struct EntryRecord {
  RuleIndex rule = 0;
  std::uint32_t condition = NoIndex;
  std::uint32_t within = NoIndex;
};

// Allows of which one must count. A block's groups must all be satisfied: one for each class of a
// chain that writes allows of the kind.
struct GroupRecord {
  Range entries;
  RuleIndex default_denial = 0;  // when no condition counts
  RuleIndex beyond_denial = 0;   // when some do, but none within its limits
};

// What a left-out wish is; where `when_slot` says, only if that integer fact has the value.
struct DefaultRecord {
  enum class Kind : std::uint8_t { Integer, Text, NoItems };
  schema::Slot slot = 0;
  Kind kind = Kind::Integer;
  std::uint8_t reserved = 0;
  std::uint32_t text = 0;  // of texts
  std::uint32_t when_slot = NoIndex;
  std::int32_t when_value = 0;
  std::int64_t integer = 0;
};

// Everything that is asked of one action in one place (a class, the whole set, or nowhere).
struct BlockRecord {
  Range checks;    // entries: denials that judge the request as it came
  Range defaults;  // then the left-out wishes are filled in
  Range denials;   // entries
  Range groups;
  Range trials;  // entries: denials that are told and take nothing away
};

struct ClassRecord {
  NameRef name;
  RuleIndex rule = 0;  // the class as the reason for an allowed create
  std::uint32_t when = NoIndex;
  Range narrowed_by;  // class_links: every class that narrows it, near or far
  std::uint32_t by_name = 0;
};

// The reasons that belong to no block.
struct SelectionRules {
  RuleIndex none = 0;
  RuleIndex ambiguous = 0;
  RuleIndex not_selected = 0;
  RuleIndex gone = 0;
  RuleIndex invalid = 0;  // request.invalid, for the decoder and the gate
};

// ---- Index --------------------------------------------------------------------------------------
// Other ways to the entries of a long range: by facts that tell them apart, so that a decision
// looks at those that may hold and passes over those that cannot. Each entry goes by one index of
// its range or by none. All of it follows from the tables above (entry_index.h derives it), and
// verify_tables.h compares.

// How a key meets a text: as values::HostReach says of a host pattern; Exact is equality. Of a mark
// it is 0.
struct PostingRecord {
  std::uint32_t index = 0;  // of indexes
  std::uint32_t entry = 0;
  std::uint32_t reach = 0;
  friend auto operator<=>(const PostingRecord&, const PostingRecord&) = default;
};

// A row of an open hash table: HashOf the text finds its first place, and the next ones follow. It
// bears what a search needs, so that most look no further than half a cache line.
struct KeyRecord {
  NameRef text = {NoIndex, 0};  // in `data`; an offset of NoIndex ends a search
  std::uint32_t tag = 0;        // the upper half of the hash
  Range postings;
  PostingRecord only;  // the first of them
  friend auto operator<=>(const KeyRecord&, const KeyRecord&) = default;
};

// A row of another one, of what is no text: the mark (mark.h) is its own hash.
struct MarkRecord {
  std::uint64_t mark = 0;
  Range postings;  // without any the row is free, and ends a search
  friend auto operator<=>(const MarkRecord&, const MarkRecord&) = default;
};

// What of its fact an index goes by, and what a bit of its lengths is.
enum class IndexKind : std::uint32_t {
  Text,      // all of a text; or, bit i, a host name of i + 1 labels above it (DepthOf)
  Integer,   // bit i: a block of 2 to the i integers
  Path,      // bit i: the first i + 1 segments of a path
  WidePath,  // the same, where some entry reads the path as values::Reading::Wide does
  Address    // bit i: a block of addresses with a prefix of i bits
};
inline constexpr std::size_t LengthsMax = 160;

struct IndexRecord {
  Range entries;           // the range's; of the index of classes: all classes
  Range unkeyed;           // of `listed`: entries of the range that no index of it rules out
  Range keyed;             // of `listed`: entries that this one finds
  std::uint32_t slot = 0;  // the fact
  IndexKind kind = IndexKind::Text;
  std::uint32_t beside = 0;  // how many more indexes of the range stand behind this one
  // Which lengths some key has. Those of Text are the same for all indexes of a fact, so that one
  // search serves them.
  std::array<std::uint32_t, LengthsMax / 32> lengths = {};
  friend auto operator<=>(const IndexRecord&, const IndexRecord&) = default;
};

struct Tables {
  std::span<const RuleRecord> rules;
  std::span<const ClassRecord> classes;  // sorted by name
  std::span<const std::uint32_t> class_links;
  std::span<const BlockRecord> blocks;  // see BlockOf
  std::span<const GroupRecord> groups;
  std::span<const EntryRecord> entries;
  std::span<const DefaultRecord> defaults;
  std::span<const NodeRecord> nodes;
  std::span<const std::uint32_t> children;
  std::span<const TermRecord> terms;
  std::span<const AddendRecord> addends;
  std::span<const std::int64_t> integers;
  std::span<const NameRef> texts;  // into `data`, back to back; ascending, no doubles
  std::span<const std::uint32_t> text_items;
  std::span<const PatternRecord> patterns;
  std::span<const BlockOfAddresses> addresses;
  // The first of the indexes of a range, or NoIndex.
  std::span<const std::uint32_t> class_index;    // one: of the classes
  std::span<const std::uint32_t> block_indexes;  // by block: of its denials
  std::span<const std::uint32_t> group_indexes;  // by group: of its entries
  std::span<const IndexRecord> indexes;
  std::span<const std::uint32_t> listed;    // entries; ascending within a range of them
  std::span<const KeyRecord> keys;          // none, or a power of two
  std::span<const MarkRecord> marks;        // none, or a power of two
  std::span<const PostingRecord> postings;  // of a key or a mark: ascending
  std::string_view names;                   // UTF-8
  std::string_view data;                    // any bytes
  SelectionRules selection;

  [[nodiscard]] std::string_view NameOf(NameRef ref) const {
    return names.substr(ref.offset, ref.size);
  }
  [[nodiscard]] std::string_view TextOf(std::uint32_t text) const {
    return data.substr(texts[text].offset, texts[text].size);
  }
};

// Blocks stand class by class, and in each by action. Two more classes follow: the whole set, and
// nowhere (a sandbox whose class is gone).
inline std::size_t SetBlock(std::size_t class_count, schema::Action action) {
  return class_count * schema::ActionCount + static_cast<std::size_t>(action);
}
inline std::size_t GoneBlock(std::size_t class_count, schema::Action action) {
  return (class_count + 1) * schema::ActionCount + static_cast<std::size_t>(action);
}
inline std::size_t BlockOf(ClassIndex of_class, schema::Action action) {
  return std::size_t{of_class} * schema::ActionCount + static_cast<std::size_t>(action);
}
inline std::size_t BlockCount(std::size_t class_count) {
  return (class_count + 2) * schema::ActionCount;
}

static_assert(sizeof(TermRecord) == 12 && sizeof(NodeRecord) == 16 && sizeof(AddendRecord) == 8 &&
              sizeof(PatternRecord) == 8 && sizeof(BlockOfAddresses) == 20 &&
              sizeof(RuleRecord) == 36 && sizeof(EntryRecord) == 12 && sizeof(GroupRecord) == 16 &&
              sizeof(DefaultRecord) == 24 && sizeof(BlockRecord) == 40 &&
              sizeof(ClassRecord) == 28 && sizeof(PostingRecord) == 12 && sizeof(KeyRecord) == 32 &&
              sizeof(MarkRecord) == 16 && sizeof(IndexRecord) == 56);
static_assert(std::is_trivially_copyable_v<RuleRecord> &&
              std::is_trivially_copyable_v<ClassRecord>);

}  // namespace curfew::module
