#include "compiler/record/record_reader.h"

#include "compiler/record/record_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace curfew::record {
namespace {

using format::Cell;
using format::Header;
using module::Facts;
using module::Value;

Failure Bad(std::string_view what) {
  return Failure(FailureCode::Malformed, fmt::format("not a record of a decision: {}", what));
}

template <typename Change>
void ForEachSlot(const Facts::Bits& bits, Change change) {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
      change(
          static_cast<schema::Slot>(64 * word + static_cast<std::size_t>(std::countr_zero(left))));
    }
  }
}

bool AreWithin(const Facts::Bits& some, const Facts::Bits& all) {
  return (some[0] & ~all[0]) == 0 && (some[1] & ~all[1]) == 0;
}

// What one record says, taken apart from front to back.
class Reading {
 public:
  explicit Reading(ByteView bytes) : rest_(bytes) {}

  Result<Record> Run() {
    if (!Take(header_)) return Bad("too short");
    CURFEW_TRY_VOID(CheckHeader());
    Record record;
    record.sequence = header_.sequence;
    record.generation = header_.generation;
    record.policy = header_.policy;
    record.module_mark = header_.module;
    record.effect = Has(format::Allowed) ? module::Effect::Allow : module::Effect::Deny;
    record.class_index = header_.class_index;
    record.undecided = Has(format::Undecided);
    record.undecided_slot = header_.missing;
    record.is_cut = Has(format::FactsCut);
    record.request = module::Request(static_cast<schema::Action>(header_.action),
                                     static_cast<schema::Stage>(header_.stage));
    const bool rules_fit = TakeRules(header_.denials, format::DenialsCut, record.denials) &&
                           TakeRules(header_.allows, format::AllowsCut, record.allows) &&
                           TakeRules(header_.trials, format::TrialsCut, record.trials);
    if (!rules_fit) return Bad("its rules");
    if (!TakeFacts(record)) return Bad("its facts");
    if (some_cut_ != record.is_cut) return Bad("what is cut is not marked so");
    const bool is_padding = rest_.size() < format::Alignment &&
                            std::ranges::all_of(rest_, [](std::uint8_t byte) { return byte == 0; });
    if (!is_padding) return Bad("bytes behind its end");
    return record;
  }

 private:
  [[nodiscard]] bool Has(format::Flag flag) const { return (header_.flags & flag) != 0; }

  template <typename T>
  bool Take(T& value) {
    if (rest_.size() < sizeof value) return false;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return true;
  }

  [[nodiscard]] Outcome CheckHeader() const {
    if (header_.version != format::Version) {
      return Bad(fmt::format("version {}, and this program reads version {}", header_.version,
                             format::Version));
    }
    if (header_.action >= schema::ActionCount) return Bad("its action");
    const bool is_egress = header_.action == static_cast<std::uint8_t>(schema::Action::Egress);
    const auto last = static_cast<std::uint8_t>(schema::Stage::Request);
    if (header_.stage > last || (!is_egress && header_.stage != last)) return Bad("its stage");
    const bool is_sound = (header_.flags & ~format::FlagsAll) == 0 &&
                          std::ranges::count(header_.reserved, 0) == std::ssize(header_.reserved);
    if (!is_sound) return Bad("bits that say nothing");
    const bool allows = Has(format::Allowed);
    const bool is_answer =
        !(allows && (header_.denials > 0 || Has(format::Undecided) || Has(format::DenialsCut))) &&
        (Has(format::Undecided) || header_.missing == 0) &&
        header_.missing < limits::AttributesPerActionMax;
    if (!is_answer) return Bad("an answer that no decision gives");
    if (!AreWithin(header_.present, header_.known)) return Bad("facts in two states");
    return Ok();
  }

  bool TakeRules(std::size_t count, format::Flag cut, RecordedRules& rules) {
    if (count > format::RulesMax) return false;
    rules.is_cut = Has(cut);
    for (std::size_t i = 0; i < count; ++i) {
      module::RuleIndex rule = 0;
      if (!Take(rule) || (i > 0 && rule <= rules.rules.back())) return false;
      rules.rules.push_back(rule);
    }
    return true;
  }

  bool TakeFacts(Record& record) {
    bool fits = true;
    record.said.read = header_.known;
    ForEachSlot(header_.known, [&](schema::Slot slot) { record.request.SetAbsent(slot); });
    ForEachSlot(header_.numbers, [&](schema::Slot slot) {
      std::int64_t number = 0;
      const bool is_present = Facts::Test(header_.present, slot);
      fits = fits && Take(number) && (is_present || number == 0);
      if (!is_present) return;
      record.request.SetInteger(slot, number);
      Facts::Assign(record.said.numbers, slot, true);
    });
    ForEachSlot(header_.present, [&](schema::Slot slot) {
      if (Facts::Test(header_.numbers, slot)) return;
      fits = fits && TakeOther(record, slot);
    });
    return fits;
  }

  // A text, or a set or list.
  bool TakeOther(Record& record, schema::Slot slot) {
    Cell cell = 0;
    if (!Take(cell)) return false;
    some_cut_ = some_cut_ || (cell & format::CellIsCut) != 0;
    const Cell kind = cell & ~(format::CellCount | format::CellIsCut);
    const std::size_t count = cell & format::CellCount;
    Value value;
    if (kind == 0) {
      if (!TakeText(record.arena, count, value)) return false;
      Facts::Assign(record.said.texts, slot, true);
    } else if (kind == format::CellIsList) {
      if (!TakeTexts(record.arena, count, value)) return false;
      Facts::Assign(record.said.text_lists, slot, true);
    } else if (kind == (format::CellIsList | format::CellOfNumbers)) {
      if (!TakeIntegers(record.arena, count, value)) return false;
      Facts::Assign(record.said.number_lists, slot, true);
    } else {
      return false;
    }
    record.request.Set(slot, value);
    return true;
  }

  bool TakeText(module::ValueArena& arena, std::size_t size, Value& value) {
    if (size > format::TextBytesMax || size > rest_.size()) return false;
    value = Value::OfText(arena.Keep(AsText(rest_.first(size))));
    rest_ = rest_.subspan(size);
    return true;
  }

  bool TakeTexts(module::ValueArena& arena, std::size_t count, Value& value) {
    std::vector<Value> elements;
    for (std::size_t i = 0; i < count; ++i) {
      Cell cell = 0;
      if (!Take(cell)) return false;
      some_cut_ = some_cut_ || (cell & format::CellIsCut) != 0;
      if ((cell & ~(format::CellCount | format::CellIsCut)) != 0) return false;
      if (!TakeText(arena, cell & format::CellCount, elements.emplace_back())) return false;
    }
    value = Value::OfItems(arena.Keep(std::move(elements)));
    return true;
  }

  bool TakeIntegers(module::ValueArena& arena, std::size_t count, Value& value) {
    std::vector<Value> elements;
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t number = 0;
      if (!Take(number)) return false;
      elements.push_back(Value::OfInteger(number));
    }
    value = Value::OfItems(arena.Keep(std::move(elements)));
    return true;
  }

  ByteView rest_;
  Header header_{};
  bool some_cut_ = false;
};

// Rules and facts are numbered as their module numbers them.
Outcome CheckModule(const Record& record, const Digest& policy, std::uint64_t module_mark) {
  if (record.policy == policy && record.module_mark == module_mark) return Ok();
  return Failure(
      FailureCode::Usage,
      fmt::format("the record is of another module, of policy set {}", ToString(record.policy)));
}

}  // namespace

std::optional<std::int64_t> Record::time_ms() const {
  if (!request.is_present(schema::slot::Now)) return std::nullopt;
  return request.value(schema::slot::Now).integer;
}

Result<Record> RecordReader::Read(ByteView& bytes) {
  std::uint32_t size = 0;
  if (bytes.size() < sizeof(Header)) return Bad("too short");
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size < sizeof(Header) || size % format::Alignment != 0 || size > bytes.size() ||
      size > ByteRing::RecordBytesMax) {
    return Bad("its length");
  }
  CURFEW_TRY(Record record, Reading(bytes.first(size)).Run());
  if (record.sequence < next_) return Bad("out of its order");
  record.lost = record.sequence - next_;
  next_ = record.sequence + 1;
  bytes = bytes.subspan(size);
  return record;
}

Outcome CheckAskable(const Record& record, const RecordedFacts& facts) {
  CURFEW_TRY_VOID(CheckModule(record, facts.policy(), facts.module_mark()));
  if (record.is_cut) {
    return Failure(FailureCode::TooLarge,
                   "facts were longer than a record keeps, so that nobody can ask it again");
  }
  const RecordedFacts::OfAction& of = facts.of(record.request.action());
  const RecordedFacts::OfAction& said = record.said;
  const bool has_forms = AreWithin(said.read, of.read) && AreWithin(said.numbers, of.numbers) &&
                         AreWithin(said.texts, of.texts) &&
                         AreWithin(said.number_lists, of.number_lists) &&
                         AreWithin(said.text_lists, of.text_lists);
  if (!has_forms) return Bad("facts that its module does not have");
  return Ok();
}

Result<std::vector<std::string_view>> IdsOf(const Record& record, const RecordedRules& rules,
                                            const module::PolicyModule& policy) {
  CURFEW_TRY_VOID(CheckModule(record, policy.manifest().policy, ModuleMark(policy)));
  std::vector<std::string_view> ids;
  for (const module::RuleIndex rule : rules.rules) {
    if (rule >= policy.rule_count()) return Bad("a rule that its module does not have");
    ids.push_back(policy.rule(rule).id);
  }
  return ids;
}

}  // namespace curfew::record
