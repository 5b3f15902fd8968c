// The facts of a question: what each may be, and what holds of all requests.
#include "compiler/module/capability.h"
#include "compiler/prove/encoding.h"

#include <algorithm>
#include <array>

namespace curfew::prove {
namespace {

constexpr View kRaw;
constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kDaysMost = 2'932'896;

bool IsSingle(const Fact& fact) { return fact.collection != schema::Collection::Set; }
bool IsNumber(const Fact& fact) {
  return fact.is_number() && fact.collection == schema::Collection::One;
}

}  // namespace

Bool Encoding::Presence(FactId id) {
  return space_.fact(id).may_be_absent ? s_.Fresh() : Bool::True;
}

void Encoding::WholeSeconds(const Number& number) {
  has_unstatable_ = true;
  const Int seconds = s_.FreshNumber(INT64_MIN / kSecondMs, INT64_MAX / kSecondMs);
  const std::pair<std::int64_t, Int> part[] = {{kSecondMs, seconds}};
  s_.Require(s_.Or(s_.Not(statable_), s_.Equal(number.value, s_.Sum(part))));
}

void Encoding::MakeFacts() {
  // An axiom about two facts brings the other one; what follows from the time brings the time.
  const std::set<FactId> read = facts_;
  for (const FactId id : read) {
    if (space_.fact(id).not_below) facts_.insert(*space_.fact(id).not_below);
    if (space_.fact(id).origin == schema::Origin::Derived) {
      facts_.insert(space_.BuiltIn(schema::slot::Now));
    }
  }
  for (FactId id = 0; id < space_.facts().size(); ++id) {
    const auto below = space_.fact(id).not_below;
    if (below && facts_.contains(*below)) facts_.insert(id);
  }
  for (const FactId id : facts_) {
    const Fact& fact = space_.fact(id);
    if (IsNumber(fact)) {
      Number number{Presence(id), s_.FreshNumber(fact.least, fact.most)};
      if (fact.is_duration_or_time()) WholeSeconds(number);
      numbers_[{kRaw, id}] = number;
      continue;
    }
    const Cells& cells = CellsOf(id);
    const bool is_set = !IsSingle(fact);
    const bool is_host = fact.path == "host.capabilities";
    const Bool present = is_host ? Bool::True : Presence(id);
    std::vector<Bool> each;
    for (const module::Value& value : cells.values()) {
      const bool is_list = fact.collection == schema::Collection::List;
      const bool fits = is_list || cells.is_number() || FitsAxioms(space_, id, value.text());
      if (is_host) {
        // The host can do everything.
        each.push_back(Solver::Constant(std::ranges::find(module::capability::All, value.text()) !=
                                        std::end(module::capability::All)));
      } else {
        each.push_back(fits ? s_.And(present, s_.Fresh()) : Bool::False);
      }
    }
    if (is_set) {
      severals_[{kRaw, id}] = {present, std::move(each)};
      continue;
    }
    s_.Require(s_.Or(s_.Not(present), s_.Or(each)));
    s_.RequireAtMostOne(each);
    singles_[{kRaw, id}] = {present, std::move(each)};
  }
}

void Encoding::MakeAxioms() {
  for (const FactId id : facts_) {
    const auto below = space_.fact(id).not_below;
    if (!below) continue;
    const Number& number = NumberOf(kRaw, id);
    const Number& other = NumberOf(kRaw, *below);
    s_.Require(s_.Or(s_.Not(s_.And(number.present, other.present)),
                     s_.LessEqual(other.value, number.value)));
  }
  if (facts_.contains(space_.BuiltIn(schema::slot::Now))) MakeNow();
  if (space_.action() == schema::Action::Egress) MakeEgress();
}

// The time of day and the day of the week follow from the time. 1970 began on a Thursday.
void Encoding::MakeNow() {
  const FactId now = space_.BuiltIn(schema::slot::Now);
  const FactId time = space_.BuiltIn(schema::slot::NowTimeOfDay);
  const FactId weekday = space_.BuiltIn(schema::slot::NowWeekday);
  if (!facts_.contains(time) && !facts_.contains(weekday)) return;
  const Int day = s_.FreshNumber(0, kDaysMost);
  const Int within =
      facts_.contains(time) ? NumberOf(kRaw, time).value : s_.FreshNumber(0, kDayMs - 1);
  const std::pair<std::int64_t, Int> parts[] = {{kDayMs, day}, {1, within}};
  s_.Require(s_.Equal(NumberOf(kRaw, now).value, s_.Sum(parts)));
  if (!facts_.contains(weekday)) return;
  const Int week = s_.FreshNumber(0, kDaysMost / 7 + 1);
  const std::pair<std::int64_t, Int> days[] = {{7, week}, {1, NumberOf(kRaw, weekday).value}};
  const std::pair<std::int64_t, Int> shifted[] = {{1, day}, {1, s_.Number(3)}};
  s_.Require(s_.Equal(s_.Sum(days), s_.Sum(shifted)));
}

// A byte stream shows no HTTP, plain HTTP does, and TLS may or may not. What has no name goes to an
// address.
void Encoding::MakeEgress() {
  namespace slot = schema::slot;
  const FactId host = space_.BuiltIn(slot::EgressHost);
  const FactId ip = space_.BuiltIn(slot::EgressIp);
  const auto present = [&](FactId id) {
    return facts_.contains(id) ? PresentIn(kRaw, id) : Bool::True;
  };
  if (facts_.contains(host)) s_.Require(s_.Or(present(host), present(ip)));
  const FactId scheme_id = space_.BuiltIn(slot::EgressScheme);
  constexpr std::array kOfHttp = {slot::EgressMethod, slot::EgressPath, slot::EgressQuery,
                                  slot::EgressUpgrade};
  const bool reads_http = std::ranges::any_of(
      kOfHttp, [&](schema::Slot of) { return facts_.contains(space_.BuiltIn(of)); });
  if (!reads_http) return;
  if (!facts_.contains(scheme_id)) {
    facts_.insert(scheme_id);
    numbers_[{kRaw, scheme_id}] = {Bool::True, s_.FreshNumber(0, 2)};
  }
  const Int scheme = NumberOf(kRaw, scheme_id).value;
  const Bool is_stream = s_.Equal(scheme, s_.Number(2));
  const Bool is_https = s_.Equal(scheme, s_.Number(1));
  const Bool is_seen = s_.Fresh();
  has_unstatable_ = true;
  s_.Require(s_.Or(s_.Not(is_stream), s_.Not(is_seen)));
  s_.Require(s_.Or(s_.Or(is_stream, is_https), is_seen));
  s_.Require(s_.Or(s_.Or(s_.Not(statable_), is_stream), is_seen));
  for (const schema::Slot of : kOfHttp) {
    const FactId id = space_.BuiltIn(of);
    if (!facts_.contains(id)) continue;
    const bool always = of == slot::EgressMethod || of == slot::EgressPath;
    s_.Require(s_.Or(s_.Not(present(id)), is_seen));
    if (always) s_.Require(s_.Or(s_.Not(is_seen), present(id)));
  }
}

void Encoding::PinClass(const Question& question) {
  const bool creates = space_.action() == schema::Action::Create;
  const FactId id = creates ? space_.BuiltIn(schema::slot::CreateClass)
                            : space_.BuiltIn(schema::slot::SandboxClass);
  if (!facts_.contains(id)) return;
  const Single& single = SingleOf(kRaw, id);
  if (question.is_gone) {
    for (const std::string& name : question.known_classes) {
      if (const auto cell = CellsOf(id).Find(name)) s_.Require(s_.Not(single.is[*cell]));
    }
    return;
  }
  const auto cell = CellsOf(id).Find(question.class_name);
  if (question.names_class) s_.Require(cell ? single.is[*cell] : Bool::False);
  for (std::size_t i = 0; i < single.is.size(); ++i) {
    if (i != cell) s_.Require(s_.Not(single.is[i]));
  }
}

// ---- Views --------------------------------------------------------------------------------------

std::vector<std::pair<Bool, const module::DefaultRecord*>> Encoding::DefaultsOf(View view,
                                                                                FactId id,
                                                                                Bool present) {
  std::vector<std::pair<Bool, const module::DefaultRecord*>> defaults;
  if (view.block == module::NoIndex) return defaults;
  const module::Tables& t = space_.tables(view.side);
  const module::Range range = t.blocks[view.block].defaults;
  Bool still_absent = s_.Not(present);
  for (const auto& record : t.defaults.subspan(range.first, range.count)) {
    if (space_.FactAt(view.side, record.slot) != id) continue;
    Bool applies = still_absent;
    if (record.when_slot != module::NoIndex) {
      const auto when = space_.FactAt(view.side, static_cast<schema::Slot>(record.when_slot));
      const Number& number = NumberOf(kRaw, *when);
      applies = s_.And(
          applies, s_.And(number.present, s_.Equal(number.value, s_.Number(record.when_value))));
    }
    defaults.emplace_back(applies, &record);
    still_absent = s_.And(still_absent, s_.Not(applies));
  }
  return defaults;
}

const Encoding::Single& Encoding::SingleOf(View view, FactId id) {
  const auto known = singles_.find({view, id});
  if (known != singles_.end()) return known->second;
  Single single = singles_.at({kRaw, id});
  for (const auto& [applies, record] : DefaultsOf(view, id, single.present)) {
    single.present = s_.Or(single.present, applies);
    if (record->kind != module::DefaultRecord::Kind::Text) continue;
    const auto cell = CellsOf(id).Find(space_.tables(view.side).TextOf(record->text));
    if (cell) single.is[*cell] = s_.Or(single.is[*cell], applies);
  }
  return singles_.emplace(std::pair(view, id), std::move(single)).first->second;
}

const Encoding::Several& Encoding::SeveralOf(View view, FactId id) {
  const auto known = severals_.find({view, id});
  if (known != severals_.end()) return known->second;
  Several several = severals_.at({kRaw, id});
  for (const auto& [applies, record] : DefaultsOf(view, id, several.present)) {
    several.present = s_.Or(several.present, applies);
  }
  return severals_.emplace(std::pair(view, id), std::move(several)).first->second;
}

const Encoding::Number& Encoding::NumberOf(View view, FactId id) {
  const auto known = numbers_.find({view, id});
  if (known != numbers_.end()) return known->second;
  Number number = numbers_.at({kRaw, id});
  for (const auto& [applies, record] : DefaultsOf(view, id, number.present)) {
    number.value = s_.Choose(applies, s_.Number(record->integer), number.value);
    number.present = s_.Or(number.present, applies);
  }
  return numbers_.emplace(std::pair(view, id), number).first->second;
}

Bool Encoding::PresentIn(View view, FactId id) {
  const Fact& fact = space_.fact(id);
  if (IsNumber(fact)) return NumberOf(view, id).present;
  return IsSingle(fact) ? SingleOf(view, id).present : SeveralOf(view, id).present;
}

}  // namespace curfew::prove
