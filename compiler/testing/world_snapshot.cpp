// The world of a test: snapshots, and the sandboxes that run from them.
#include "compiler/testing/world.h"

#include <algorithm>

namespace curfew::testing {
namespace {

namespace slot = schema::slot;
using module::Request;
using schema::Action;

// The kinds of snapshots follow `frozen` in schema::Enum::ResumeKind.
constexpr std::int64_t kKindsBegin = 1;

bool IsOf(std::string_view path, std::string_view subject) {
  return path.size() > subject.size() && path.starts_with(subject) && path[subject.size()] == '.';
}

std::optional<std::int64_t> IntegerOf(const model::Fact* fact) {
  if (fact == nullptr || !fact->value) return std::nullopt;
  const auto* scalar = std::get_if<model::Scalar>(&fact->value->value);
  const auto* integer = scalar == nullptr ? nullptr : std::get_if<std::int64_t>(scalar);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

std::optional<std::string> TextOf(const model::Fact* fact) {
  if (fact == nullptr || !fact->value) return std::nullopt;
  const auto* scalar = std::get_if<model::Scalar>(&fact->value->value);
  const auto* text = scalar == nullptr ? nullptr : std::get_if<std::string>(scalar);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

}  // namespace

std::string World::CallerOf() const {
  const auto caller = given_.find("caller.id");
  return caller == given_.end() ? first_caller_ : TextOf(&caller->second).value_or("");
}

const model::Fact* World::FactOf(const model::AskStep& ask, std::string_view path) const {
  const auto said = std::find_if(ask.facts.begin(), ask.facts.end(),
                                 [path](const model::Fact& fact) { return fact.path == path; });
  if (said != ask.facts.end()) return &*said;
  const auto given = given_.find(path);
  return given == given_.end() ? nullptr : &given->second;
}

// ---- What is kept -------------------------------------------------------------------------------

void World::AddKept(Request& request) {
  if (request.action() != Action::Snapshot || !request.is_present(slot::SnapshotKind)) return;
  const std::int64_t kind = request.value(slot::SnapshotKind).integer;
  // Of the sandbox's class and task's owner; whoever owns a snapshot is stated anew for each.
  const auto owner_of = [](const Facts& sealed) {
    const auto owner = sealed.find("task.owner");
    return owner == sealed.end() ? std::nullopt : TextOf(&owner->second);
  };
  const auto owner = owner_of(sandbox_->sealed);
  const auto kept = std::count_if(snapshots_.begin(), snapshots_.end(), [&](const Snapshot& one) {
    return one.kind == kind && one.class_name == sandbox_->class_name &&
           owner_of(one.sealed) == owner && one.expires_ms > elapsed_ms_;
  });
  SetUnlessKnown(request, slot::SnapshotKept, kept + 1);
  if (request.is_known(slot::SnapshotLineageExpiresIn)) return;
  if (sandbox_->came_from) {
    request.SetInteger(slot::SnapshotLineageExpiresIn,
                       snapshots_[*sandbox_->came_from].expires_ms - elapsed_ms_);
  } else {
    request.SetAbsent(slot::SnapshotLineageExpiresIn);
  }
}

void World::TakeSnapshot(const Request& request) {
  Snapshot taken;
  taken.kind = request.value(slot::SnapshotKind).integer;
  taken.class_name = sandbox_->class_name;
  taken.image = sandbox_->image;
  if (request.is_present(slot::SnapshotOwner)) {
    taken.owner = request.value(slot::SnapshotOwner).text();
  }
  if (request.is_present(slot::SnapshotReason)) {
    taken.reason = request.value(slot::SnapshotReason).text();
  }
  for (const auto& [path, fact] : sandbox_->sealed) {
    if (IsOf(path, "task")) taken.sealed.emplace(path, fact);
  }
  taken.taken_ms = elapsed_ms_;
  taken.first_ms = sandbox_->came_from ? snapshots_[*sandbox_->came_from].first_ms : elapsed_ms_;
  std::int64_t kept_ms = 0;
  if (request.is_present(slot::SnapshotExpiresIn)) {
    kept_ms = request.value(slot::SnapshotExpiresIn).integer;
  } else {
    for (const module::SnapshotGrant& grant : sandbox_->granted.snapshots) {
      if (static_cast<std::int64_t>(grant.kind) == taken.kind) {
        kept_ms = grant.expires_ms.standard.value_or(0);
      }
    }
  }
  taken.expires_ms = elapsed_ms_ + kept_ms;
  if (request.is_present(slot::SnapshotSize)) {
    taken.bytes = request.value(slot::SnapshotSize).integer;
  }
  snapshots_.push_back(std::move(taken));
}

// ---- What runs again ----------------------------------------------------------------------------

std::optional<std::size_t> World::ChosenBy(const model::AskStep& resume) const {
  const auto kind = IntegerOf(FactOf(resume, "snapshot.kind"));
  for (std::size_t i = snapshots_.size(); i-- > 0;) {
    if (!kind || snapshots_[i].kind + kKindsBegin == *kind) return i;
  }
  return std::nullopt;
}

Request World::AskCreateOf(const model::AskStep& resume) {
  arena_ = {};
  Request request(Action::Create);
  if (wall_offset_ms_) request.SetNow(*wall_offset_ms_ + elapsed_ms_);
  const auto chosen = ChosenBy(resume);
  const Snapshot* snapshot = chosen ? &snapshots_[*chosen] : nullptr;
  for (const auto& [path, fact] : given_) {
    const bool is_sealed = snapshot != nullptr && IsOf(path, "task");
    if (!is_sealed) SetFact(request, path, fact.value);
  }
  if (snapshot != nullptr) {
    for (const auto& [path, fact] : snapshot->sealed) SetFact(request, path, fact.value);
  }
  for (const model::Fact& fact : resume.facts) SetFact(request, fact.path, fact.value);

  if (const model::Fact* image = FactOf(resume, "snapshot.image"); image != nullptr) {
    SetFact(request, "create.image", image->value);
  } else if (snapshot != nullptr) {
    SetText(request, slot::CreateImage, std::string(AsText(snapshot->image.bytes)));
  }
  // A class by name is named by the snapshot.
  const auto class_name = snapshot != nullptr ? std::optional(snapshot->class_name)
                                              : TextOf(FactOf(resume, "snapshot.class"));
  const auto of =
      std::find_if(model_->classes.begin(), model_->classes.end(),
                   [&](const model::Class& one) { return class_name && one.name == *class_name; });
  if (of != model_->classes.end() && of->by_name) SetText(request, slot::CreateClass, of->name);
  for (const auto& [said, wish] :
       {std::pair{"resume.ttl", "create.ttl"}, std::pair{"resume.secrets", "create.secrets"}}) {
    if (const model::Fact* fact = FactOf(resume, said)) SetFact(request, wish, fact->value);
  }
  AddHost(request);
  AddSandbox(request);
  AddAbsences(request);
  return request;
}

Request World::AskResumeOf(const model::AskStep& resume, const module::PlanTemplate& granted,
                           const module::CreatePlan& plan) {
  arena_ = {};
  Request request(Action::Resume);
  if (wall_offset_ms_) request.SetNow(*wall_offset_ms_ + elapsed_ms_);
  const bool is_taken = ChosenBy(resume).has_value();
  for (const auto& [path, fact] : given_) {
    // The sandbox is the new one, of which the test has said nothing yet.
    const bool is_of_other = IsOf(path, "sandbox") || IsOf(path, "token");
    if (!is_of_other && !(is_taken && IsOf(path, "task"))) SetFact(request, path, fact.value);
  }
  if (is_taken) {
    for (const auto& [path, fact] : snapshots_[*ChosenBy(resume)].sealed) {
      SetFact(request, path, fact.value);
    }
  }
  for (const model::Fact& fact : resume.facts) SetFact(request, fact.path, fact.value);
  AddHost(request);
  SetText(request, slot::SandboxClass, granted.class_name);
  SetText(request, slot::SandboxImage, std::string(AsText(plan.image.digest.bytes)));
  if (!CallerOf().empty()) SetText(request, slot::SandboxCreator, CallerOf());
  AddIsolation(request);
  SetUnlessKnown(request, slot::SandboxAge, 0);
  SetUnlessKnown(request, slot::SandboxIdle, 0);
  SetUnlessKnown(request, slot::SandboxTtlLeft, plan.ttl_ms);
  SetUnlessKnown(request, slot::SandboxFrozen, 0);
  SetUnlessKnown(request, slot::TokenValid, plan.token_ms ? 1 : 0);
  SetUnlessKnown(request, slot::TokenExpiresIn, plan.token_ms.value_or(0));
  AddSnapshot(request, resume);
  AddAbsences(request);
  return request;
}

// What is known of the snapshot, from when it was taken.
void World::AddSnapshot(Request& request, const model::AskStep& resume) {
  SetUnlessKnown(request, slot::ResumeCredentialsValid, 1);
  const auto chosen = ChosenBy(resume);
  if (!chosen) {
    SetUnlessKnown(request, slot::ResumeSnapshotBranches, 1);
    SetUnlessKnown(request, slot::ResumeSnapshotPolicyChanged, 0);
    if (request.is_present(slot::ResumeSnapshotAge)) {
      SetUnlessKnown(request, slot::ResumeSnapshotLineageAge,
                     request.value(slot::ResumeSnapshotAge).integer);
    }
    return;
  }
  const Snapshot& snapshot = snapshots_[*chosen];
  SetUnlessKnown(request, slot::ResumeSnapshotKind, snapshot.kind + kKindsBegin);
  SetText(request, slot::ResumeSnapshotClass, snapshot.class_name);
  SetText(request, slot::ResumeSnapshotOwner, snapshot.owner);
  SetText(request, slot::ResumeSnapshotReason, snapshot.reason);
  SetText(request, slot::ResumeSnapshotImage, std::string(AsText(snapshot.image.bytes)));
  SetUnlessKnown(request, slot::ResumeSnapshotAge, elapsed_ms_ - snapshot.taken_ms);
  SetUnlessKnown(request, slot::ResumeSnapshotLineageAge, elapsed_ms_ - snapshot.first_ms);
  SetUnlessKnown(request, slot::ResumeSnapshotExpiresIn, snapshot.expires_ms - elapsed_ms_);
  SetUnlessKnown(request, slot::ResumeSnapshotBranches, snapshot.branches + 1);
  SetUnlessKnown(request, slot::ResumeSnapshotPolicyChanged, snapshot.policy_changed ? 1 : 0);
  if (snapshot.bytes) SetUnlessKnown(request, slot::ResumeSnapshotSize, *snapshot.bytes);
}

void World::Resumed(const model::AskStep& resume, const module::PlanTemplate& granted,
                    const module::CreatePlan& plan) {
  Created(granted, plan);
  const auto chosen = ChosenBy(resume);
  if (chosen) {
    std::erase_if(sandbox_->sealed, [](const auto& one) { return IsOf(one.first, "task"); });
    for (const auto& [path, fact] : snapshots_[*chosen].sealed) {
      sandbox_->sealed.insert_or_assign(path, fact);
    }
    ++snapshots_[*chosen].branches;
    sandbox_->came_from = chosen;
  }
  for (const model::Fact& fact : resume.facts) {
    if (IsOf(fact.path, "task")) sandbox_->sealed.insert_or_assign(fact.path, fact);
  }
}

void World::Reload(const model::PolicyModel& model, const module::PlanTemplate* granted) {
  if (model.digest != model_->digest) {
    for (Snapshot& snapshot : snapshots_) snapshot.policy_changed = true;
  }
  model_ = &model;
  if (!sandbox_ || granted == nullptr) return;
  sandbox_->terms = Tightened(sandbox_->terms, *granted);
  sandbox_->hard_end_ms =
      std::min(sandbox_->hard_end_ms, sandbox_->terms.created_ms + granted->ttl_ms.most);
  sandbox_->granted = *granted;
}

}  // namespace curfew::testing
