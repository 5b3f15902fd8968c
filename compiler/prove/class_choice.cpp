#include "compiler/prove/class_choice.h"

#include "compiler/prove/sameness.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace curfew::prove {

using module::ClassIndex;
using module::ClassRecord;

bool ClassChoice::IsNeverNamed(ClassIndex of_class) const {
  const module::Tables& t = space_.tables(side_);
  const ClassRecord& record = t.classes[of_class];
  return record.by_name != 0 && t.NameOf(record.name) != named_;
}

std::span<const ClassIndex> ClassChoice::Narrowers(ClassIndex of_class) const {
  const module::Tables& t = space_.tables(side_);
  const module::Range links = t.classes[of_class].narrowed_by;
  return t.class_links.subspan(links.first, links.count);
}

// IsTrue: it surely is one; NotFalse: it may be.
Claim ClassChoice::Candidate(ClassIndex of_class, Claim::Kind kind) const {
  if (IsNeverNamed(of_class)) return Claim::Some({});
  const ClassRecord& record = space_.tables(side_).classes[of_class];
  Claim when = Claim::Of(kind, {side_, module::NoIndex}, record.when);
  if (record.by_name == 0) return when;
  return Claim::All({Claim::Of(Claim::Kind::IsNamed, {}, module::NoIndex), std::move(when)});
}

// Not surely.
Claim ClassChoice::NoCandidate(ClassIndex of_class) const {
  if (IsNeverNamed(of_class)) return Claim::All({});
  const ClassRecord& record = space_.tables(side_).classes[of_class];
  Claim when = Claim::Of(Claim::Kind::NotTrue, {side_, module::NoIndex}, record.when);
  if (record.by_name == 0) return when;
  return Claim::Some({Claim::Of(Claim::Kind::NotNamed, {}, module::NoIndex), std::move(when)});
}

std::vector<Claim> ClassChoice::Remains(ClassIndex of_class) const {
  std::vector<Claim> all{Candidate(of_class, Claim::Kind::IsTrue)};
  for (const ClassIndex narrower : Narrowers(of_class)) all.push_back(NoCandidate(narrower));
  return all;
}

Claim ClassChoice::MayRemain(ClassIndex of_class) const {
  std::vector<Claim> all{Candidate(of_class, Claim::Kind::NotFalse)};
  for (const ClassIndex narrower : Narrowers(of_class)) all.push_back(NoCandidate(narrower));
  return Claim::All(std::move(all));
}

Claim ClassChoice::MayNotRemain(ClassIndex of_class) const {
  std::vector<Claim> some{NoCandidate(of_class)};
  for (const ClassIndex narrower : Narrowers(of_class)) {
    some.push_back(Candidate(narrower, Claim::Kind::IsTrue));
  }
  return Claim::Some(std::move(some));
}

std::vector<bool> ChosenAlike(const FactSpace& space) {
  Sameness sameness(space, {});
  using Words = std::tuple<std::string_view, bool, std::uint32_t>;
  const auto words = [&](Side side, ClassIndex of_class) {
    const module::Tables& t = space.tables(side);
    const ClassRecord& record = t.classes[of_class];
    return Words(t.NameOf(record.name), record.by_name != 0, sameness.Of(side, record.when));
  };
  const auto narrowers = [&](Side side, ClassIndex of_class) {
    const module::Tables& t = space.tables(side);
    const module::Range links = t.classes[of_class].narrowed_by;
    std::set<Words> all;
    for (const ClassIndex narrower : t.class_links.subspan(links.first, links.count)) {
      all.insert(words(side, narrower));
    }
    return all;
  };
  std::vector<bool> alike;
  for (ClassIndex i = 0; i < space.tables(1).classes.size(); ++i) {
    const auto other = space.policy(0).FindClass(space.policy(1).class_name(i));
    alike.push_back(other && words(0, *other) == words(1, i) &&
                    narrowers(0, *other) == narrowers(1, i));
  }
  return alike;
}

}  // namespace curfew::prove
