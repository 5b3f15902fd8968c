// The vocabulary of requests: actions, types, and the built-in attributes of each action with their
// slots. Data only; what a policy set declares on top of it (`attributes task { … }`) gets the
// slots behind (see DeclaredSlot).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace curfew::schema {

enum class Action : std::uint8_t {
#define CURFEW_ACTION(name, word, asked, granted) name,
#include "compiler/schema/actions.def"
#undef CURFEW_ACTION
};
inline constexpr std::size_t ActionCount = 10;

struct ActionInfo {
  Action action;
  std::string_view word;
  std::string_view asked_when;
  std::string_view granted_by;
};
std::span<const ActionInfo> Actions();
std::string_view WordOf(Action action);
std::optional<Action> ActionOf(std::string_view word);

// How a request's stage limits what is known (language.md section 6). Only egress has more than the
// last.
enum class Stage : std::uint8_t { Name, Address, Request };
std::string_view WordOf(Stage stage);

enum class TypeKind : std::uint8_t {
  Bool,
  Int,
  Text,       // `string`
  Principal,  // kind:name, as in "user:ana"
  Duration,   // milliseconds
  Size,       // bytes
  Time,       // milliseconds since 1970-01-01T00:00:00Z
  Ip,         // 16 bytes; IPv4 as ::ffff:a.b.c.d
  Cidr,       // 16 bytes and a prefix length
  Host,       // canonical name: values/host.h
  UrlPath,    // canonical path: values/url.h
  FilePath,   // absolute, no `.` or `..`
  Digest,     // 32 bytes
  Enum        // ordinal
};
// As policy text spells it: "bool", "url_path", …; "enum" for Enum.
std::string_view WordOf(TypeKind kind);
std::optional<TypeKind> TypeKindOf(std::string_view word);

enum class Collection : std::uint8_t { One, Set, List };

enum class Enum : std::uint8_t {
#define CURFEW_ENUM(name, ordered, ...) name,
#include "compiler/schema/enums.def"
#undef CURFEW_ENUM
};
struct EnumInfo {
  std::string_view name;
  bool ordered;
  std::span<const std::string_view> values;
};
const EnumInfo& InfoOf(Enum which);

// The type of a built-in attribute. Declared ones have their own (model), with enum values of their
// own.
struct Type {
  TypeKind kind;
  Collection collection = Collection::One;
  bool optional = false;
  Enum enumeration = Enum::Weekday;  // where kind is Enum
};

enum class Origin : std::uint8_t { Stated, Wish, Verified, Derived, Internal };

// The place of an attribute in a request: an index into its values and its two bit sets.
using Slot = std::uint16_t;

struct Attribute {
  std::string_view path;
  Type type;
  Origin origin;
  Slot slot;
  std::string_view doc;
};

// Every built-in attribute of the action in slot order; slot i stands at index i. For create, the
// sandbox's slots are there too (so that shared facts keep their slots) and such a fact is always
// absent.
std::span<const Attribute> AttributesOf(Action action);
// The built-in attribute at a dotted path, or nullptr. In create, `sandbox.*` and `token.*` are not
// found.
const Attribute* FindAttribute(Action action, std::string_view path);
// The slot of the n-th declared attribute of the set, in the set's canonical order, for this
// action.
Slot DeclaredSlot(Action action, std::size_t n);

// Slots by name: slot::CallerId, slot::SandboxAge, slot::CreateTtl, slot::ExecProgram,
// slot::ResumeSnapshotAge, …
namespace slot {
enum Shared : Slot {
#define CURFEW_EVERY(slot, path, type, origin, doc) slot,
#define CURFEW_SANDBOX(slot, path, type, origin, doc) slot,
#include "compiler/schema/attributes.def"
  SharedCount
};
inline constexpr Slot FirstOfSandbox = SandboxId;

enum class Own : std::size_t {
#define CURFEW_OWN(action, slot, path, type, origin, doc) action##slot,
#include "compiler/schema/attributes.def"
};
inline constexpr Action ActionOfOwn[] = {
#define CURFEW_OWN(action, slot, path, type, origin, doc) Action::action,
#include "compiler/schema/attributes.def"
};
constexpr Slot PlaceOf(Own own) {
  Slot place = SharedCount;
  const auto index = static_cast<std::size_t>(own);
  for (std::size_t i = 0; i < index; ++i) {
    if (ActionOfOwn[i] == ActionOfOwn[index]) ++place;
  }
  return place;
}
#define CURFEW_OWN(action, slot, path, type, origin, doc) \
  inline constexpr Slot action##slot = PlaceOf(Own::action##slot);
#include "compiler/schema/attributes.def"
}  // namespace slot

// Whether the fact is of the sandbox's task or of the sandbox itself, and stays as it is for as
// long as the sandbox lives. Not in create, where it is being said for the first time.
bool LastsWithSandbox(Action action, Slot slot);

}  // namespace curfew::schema
