// The naive decision: what naive_evaluator.h promises, a member for each part of the model, so that
// several files can hold them. For those files only.
#pragma once

#include "compiler/model/policy_model.h"
#include "compiler/module/request.h"
#include "compiler/values/address.h"
#include "tests/properties/naive_evaluator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace curfew::properties {

using model::ExprId;
using model::ExprKind;
using module::Request;
using schema::Action;
using schema::Slot;
using schema::TypeKind;
namespace slot = schema::slot;

// Nothing is unknown.
using Truth = std::optional<bool>;

inline Truth Not(Truth a) { return a ? Truth(!*a) : Truth(); }
inline Truth All(const std::vector<Truth>& parts) {
  if (std::find(parts.begin(), parts.end(), Truth(false)) != parts.end()) return false;
  if (std::find(parts.begin(), parts.end(), Truth()) != parts.end()) return std::nullopt;
  return true;
}
inline Truth Some(std::vector<Truth> parts) {
  for (Truth& part : parts) part = Not(part);
  return Not(All(parts));
}

// A value: a number, or text, or several of either.
__extension__ using Wide = __int128;
struct Thing {
  Wide number = 0;
  std::string text;
  std::vector<Thing> items;
  friend bool operator==(const Thing&, const Thing&) = default;
  friend bool operator<(const Thing& a, const Thing& b) {
    return a.number != b.number ? a.number < b.number : a.text < b.text;
  }
};
using Fact = std::optional<Thing>;

// What the request says, or nothing where it is unknown or absent.
Fact ReadFact(const module::Request& request, Slot which, TypeKind kind,
              schema::Collection collection = schema::Collection::One);

inline std::optional<values::Address> AddressOf(const Fact& fact) {
  if (!fact || fact->text.size() != 16) return std::nullopt;
  values::Address address;
  std::memcpy(address.bytes.data(), fact->text.data(), 16);
  return address;
}

inline bool Has(const std::vector<Thing>& items, const Thing& thing) {
  return std::find(items.begin(), items.end(), thing) != items.end();
}

class NaiveDecision {
 public:
  NaiveDecision(const model::PolicyModel& model, const Request& request)
      : m_(model),
        r_(request),
        last_(request.action() != Action::Egress || request.stage() == schema::Stage::Request) {}

  NaiveAnswer Run();

 private:
  void Deny(const std::string& id, Truth why) {
    if (why == Truth(false)) return;
    if (!why && (!last_ || !unknown_denies_)) return;
    (why ? sure_ : unsure_) = true;
    answer_.denials.insert(id);
  }
  // As a denial, and nothing follows from it.
  void OnTrial(const std::string& id, const std::optional<model::Trial>& trial, Truth why) {
    if (!trial || why == Truth(false)) return;
    Truth lasts = true;
    if (trial->until_ms) {
      lasts = NumberIs(slot::Now, [&](Wide now) { return now < *trial->until_ms; });
    }
    const Truth both = All({lasts, why});
    if (both ? *both : last_ && unknown_denies_) answer_.trials.insert(id);
  }
  // At the last stage an allow that may hold does not count.
  [[nodiscard]] bool Counts(Truth truth) const { return truth ? *truth : !last_; }
  void DenySurely(const std::string& id) { Deny(id, true); }
  // Whatever the stage.
  void DenyUnsurely(const std::string& id) {
    unsure_ = true;
    answer_.denials.insert(id);
  }
  // When nothing was granted, for sure or because of what is unknown.
  void DenyByDefault(const std::string& id, bool some_unknown) {
    if (some_unknown && last_) {
      DenyUnsurely(id);
    } else {
      DenySurely(id);
    }
  }

  [[nodiscard]] Fact Number(Slot which) const { return ReadFact(r_, which, TypeKind::Int); }
  [[nodiscard]] Fact Text(Slot which) const { return ReadFact(r_, which, TypeKind::Text); }
  [[nodiscard]] Fact Texts(Slot which) const {
    return ReadFact(r_, which, TypeKind::Text, schema::Collection::Set);
  }
  template <typename Test>
  [[nodiscard]] Truth NumberIs(Slot which, Test test) const {
    const Fact fact = Number(which);
    return fact ? Truth(test(fact->number)) : Truth();
  }
  [[nodiscard]] Truth Present(Slot which) const {
    return r_.is_known(which) ? Truth(r_.is_present(which)) : Truth();
  }
  [[nodiscard]] Truth Holds(ExprId condition) const;

  // What holds for the class: the floor, what it narrows, itself.
  [[nodiscard]] std::vector<const model::Class*> Links(const model::Class& of) const {
    std::vector<const model::Class*> links;
    if (m_.floor) links.push_back(&*m_.floor);
    for (const model::ClassId id : of.chain) links.push_back(&At(m_, id));
    return links;
  }

  void Checks();
  void SelectClass();
  void Rules(const model::Class* of);
  Truth OwnAccess() const;
  void Access(const model::Class* of);
  void Create(const model::Class& of);
  void Exec(const model::Class& of);
  void Egress(const model::Class& of);
  void Transfer(const model::Class& of);
  void TransferOf(const model::Class& link);
  void Persist(const model::Class& of);
  void Snapshot(const model::Class& of);
  void SnapshotLimits(const model::SnapshotRule& rule);
  void ResumeSnapshot(const model::Class& of, Truth frozen);
  void ResumeLimits(const model::Class& of, const model::Class& link,
                    const model::SnapshotRule& rule);
  // The kinds that every link which writes snapshots grants, with the least default of each.
  [[nodiscard]] std::map<module::SnapshotKind, std::optional<std::int64_t>> KeptKinds(
      const model::Class& of) const;
  [[nodiscard]] std::vector<const model::Class*> SnapshotWriters(const model::Class& of) const;
  void ResumeAccess(const model::Class& of);
  Truth IsCallerOrGroup(const Fact& principal) const;
  // By every `access` that holds for the class; nobody, where there is none.
  Truth IsListed(const model::Class& of) const;
  Truth IsGranted(const model::AccessGrant& access) const;
  [[nodiscard]] bool ImageFits(const model::Class& of) const;
  void NameGrant(const std::string& id, bool image_fits, Slot wish,
                 const std::vector<std::string>& granted);
  void IdentityWishes(const model::Class& of);
  void Limits(const model::Class& of);
  void Expose(const model::Class& of);
  void ExposeOf(const model::Class& link);
  void NetworkNeeds(const model::Class& of);
  [[nodiscard]] Truth HostCannot(const char* word) const;
  void Time(const model::Class& of);
  void Extend(const model::Class& of);
  void Resume(const model::Class& of);
  void Bound(const model::Class& of, const std::string& path, Slot which, module::Bound silent,
             const std::vector<std::optional<model::Bound>>& written);
  void Image(const model::Class& link);
  void EgressOf(const model::Class& link);
  Truth Says(const model::EgressRule& rule) const;
  [[nodiscard]] Truth Hidden() const;
  [[nodiscard]] Truth Upgrades(const model::EgressRule& rule) const;
  [[nodiscard]] Truth Asks(const model::EgressRule& rule) const;
  [[nodiscard]] Truth Slashes(const model::EgressRule& rule) const;
  Truth Reaches(const model::EgressTarget& target, bool allow) const;
  // Of several `idle` the soonest is the one, and of two at once the one that closes.
  [[nodiscard]] const model::Idle* SoonestIdle(const model::Class& of) const;
  [[nodiscard]] bool FreezesWhenIdle(const model::Class& of) const;
  [[nodiscard]] Truth IsNamed(const std::vector<std::string>& listed) const;

  const model::PolicyModel& m_;
  Request r_;
  const bool last_;
  bool unknown_denies_ = true;
  bool sure_ = false;
  bool unsure_ = false;
  const model::Class* class_ = nullptr;
  NaiveAnswer answer_;
};

}  // namespace curfew::properties
