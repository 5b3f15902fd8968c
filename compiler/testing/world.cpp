#include "compiler/testing/world.h"

#include "compiler/module/capability.h"

#include <algorithm>
#include <iterator>

namespace curfew::testing {
namespace {

namespace slot = schema::slot;
using module::Request;
using module::Value;
using schema::Action;

std::string_view SubjectOf(std::string_view path) { return path.substr(0, path.find('.')); }

std::optional<std::string> TextOf(const model::Fact& fact) {
  if (!fact.value) return std::nullopt;
  const auto* scalar = std::get_if<model::Scalar>(&fact.value->value);
  const auto* text = scalar == nullptr ? nullptr : std::get_if<std::string>(scalar);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::int64_t OrdinalOf(schema::Enum which, std::string_view word) {
  const auto words = schema::InfoOf(which).values;
  return std::distance(words.begin(), std::find(words.begin(), words.end(), word));
}

}  // namespace

void World::Give(const model::GivenStep& given) {
  for (const model::Fact& fact : given.facts) {
    if (fact.path == "caller.id" && first_caller_.empty()) {
      first_caller_ = TextOf(fact).value_or("");
    }
    given_.insert_or_assign(fact.path, fact);
  }
}

void World::PassTime(std::int64_t duration_ms) {
  elapsed_ms_ += duration_ms;
  if (!sandbox_) return;
  const auto reading = ReadLifetime(sandbox_->terms, sandbox_->life, elapsed_ms_);
  if (reading.state == module::LifetimeState::IdleEnd &&
      sandbox_->terms.idle_end == module::IdleEnd::Freeze) {
    sandbox_->life.frozen_since_ms = sandbox_->life.last_activity_ms + *sandbox_->terms.idle_ms;
  }
}

void World::Freeze() {
  if (sandbox_ && !sandbox_->life.frozen_since_ms) sandbox_->life.frozen_since_ms = elapsed_ms_;
}

void World::SetNow(std::int64_t wall_ms) { wall_offset_ms_ = wall_ms - elapsed_ms_; }

void World::Close() {
  if (!sandbox_) return;
  sandbox_->terms.deadline_ms = std::min(sandbox_->terms.deadline_ms, elapsed_ms_);
  if (sandbox_->came_from) --snapshots_[*sandbox_->came_from].branches;
  sandbox_->came_from.reset();
  running_ = 0;
}

Request World::Ask(const model::AskStep& ask) {
  arena_ = {};
  Request request(ask.action);
  if (wall_offset_ms_) request.SetNow(*wall_offset_ms_ + elapsed_ms_);
  AddGiven(request);
  for (const model::Fact& fact : ask.facts) SetFact(request, fact.path, fact.value);
  AddHost(request);
  AddSandbox(request);
  HideHttp(request);
  AddAbsences(request);
  return request;
}

bool World::HidesHttp(const Request& request) const {
  if (request.action() != Action::Egress || !sandbox_) return false;
  // Without a network nothing leads to a gateway, read or unread.
  if (!sandbox_->granted.network || sandbox_->granted.inspects_tls) return false;
  return request.is_present(slot::EgressScheme) &&
         request.value(slot::EgressScheme).integer == OrdinalOf(schema::Enum::Scheme, "https");
}

void World::HideHttp(Request& request) const {
  if (!HidesHttp(request)) return;
  for (const schema::Slot hidden :
       {slot::EgressMethod, slot::EgressPath, slot::EgressQuery, slot::EgressUpgrade}) {
    request.SetAbsent(hidden);
  }
}

void World::Created(const module::PlanTemplate& granted, const module::CreatePlan& plan) {
  Sandbox sandbox;
  sandbox.class_name = granted.class_name;
  sandbox.granted = granted;
  sandbox.image = plan.image.digest;
  sandbox.creator = CallerOf();
  for (const auto& [path, fact] : given_) {
    if (SubjectOf(path) == "task" || SubjectOf(path) == "caller")
      sandbox.sealed.emplace(path, fact);
  }
  sandbox.terms = {.created_ms = elapsed_ms_,
                   .deadline_ms = elapsed_ms_ + plan.ttl_ms,
                   .grace_ms = granted.grace_ms,
                   .idle_ms = granted.idle_ms,
                   .idle_end = granted.idle_end,
                   .frozen_ms = granted.frozen_ms};
  sandbox.hard_end_ms = elapsed_ms_ + granted.ttl_ms.most;
  sandbox.life.last_activity_ms = elapsed_ms_;
  sandbox.window_ms = granted.limits.window_ms;
  if (plan.token_ms) sandbox.token_until_ms = elapsed_ms_ + *plan.token_ms;
  sandbox_ = std::move(sandbox);
  ++running_;
}

void World::Allowed(const model::AskStep& ask, const Request& request) {
  if (!sandbox_) return;
  // What comes from outside is activity; what was only looked at is none.
  if (ask.action == Action::Exec || ask.action == Action::Import) {
    sandbox_->life.last_activity_ms = elapsed_ms_;
  }
  if (ask.action == Action::Resume) {
    sandbox_->life.frozen_since_ms.reset();
    sandbox_->life.last_activity_ms = elapsed_ms_;
  }
  if (ask.action == Action::Extend) {
    const std::int64_t by_ms = request.value(slot::ExtendBy).integer;
    sandbox_->terms.deadline_ms += by_ms;
    sandbox_->renewed_ms += by_ms;
    ++sandbox_->renewals;
  }
  if (ask.action == Action::Snapshot) TakeSnapshot(request);
  if (ask.action == Action::Import && request.is_present(slot::ImportSize)) {
    sandbox_->imported_bytes += request.value(slot::ImportSize).integer;
  }
  if (ask.action == Action::Export && request.is_present(slot::ExportSize)) {
    sandbox_->exported_bytes += request.value(slot::ExportSize).integer;
  }
  if (ask.action == Action::Egress) {
    sandbox_->egress_at_ms.push_back(elapsed_ms_);
    sandbox_->egress_bytes += request.value(slot::EgressBytes).integer;
  }
}

// Whether the set that decides now declares the attribute as the test's own set does.
bool World::IsStillOfItsType(std::string_view path, const model::Type& type) const {
  if (model_ == first_model_) return true;
  const auto found =
      std::find_if(model_->declared.begin(), model_->declared.end(),
                   [path](const model::DeclaredAttribute& d) { return d.path == path; });
  if (found == model_->declared.end()) return true;  // the schema's own
  if (found->type.kind != type.kind || found->type.collection != type.collection) return false;
  return type.kind != schema::TypeKind::Enum ||
         model_->enums[static_cast<std::size_t>(found->type.enumeration)].values ==
             first_model_->enums[static_cast<std::size_t>(type.enumeration)].values;
}

std::optional<schema::Slot> World::SlotOf(Action action, std::string_view path) const {
  if (const schema::Attribute* attribute = schema::FindAttribute(action, path)) {
    return attribute->slot;
  }
  const auto found =
      std::find_if(model_->declared.begin(), model_->declared.end(),
                   [path](const model::DeclaredAttribute& d) { return d.path == path; });
  if (found == model_->declared.end()) return std::nullopt;
  return schema::DeclaredSlot(action, static_cast<std::size_t>(found - model_->declared.begin()));
}

Value World::ValueOf(const model::Scalar& scalar) {
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return Value::OfInteger(*integer);
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    return Value::OfText(arena_.Keep(*text));
  }
  if (const auto* digest = std::get_if<Digest>(&scalar)) {
    return Value::OfText(arena_.Keep(std::string(AsText(digest->bytes))));
  }
  if (const auto* address = std::get_if<values::Address>(&scalar)) {
    return Value::OfText(arena_.Keep(std::string(AsText(address->bytes))));
  }
  const auto& block = std::get<values::Cidr>(scalar);
  std::string bytes(AsText(block.base.bytes));
  bytes += static_cast<char>(block.prefix);
  return Value::OfText(arena_.Keep(std::move(bytes)));
}

Value World::ValueOf(const model::Constant& constant) {
  if (const auto* scalar = std::get_if<model::Scalar>(&constant.value)) return ValueOf(*scalar);
  std::vector<Value> items;
  for (const model::Scalar& scalar : std::get<std::vector<model::Scalar>>(constant.value)) {
    items.push_back(ValueOf(scalar));
  }
  return Value::OfItems(arena_.Keep(std::move(items)));
}

void World::SetFact(Request& request, std::string_view path,
                    const std::optional<model::Constant>& value) {
  const std::optional<schema::Slot> place = SlotOf(request.action(), path);
  if (!place) return;  // given for other questions of the test
  if (value && !IsStillOfItsType(path, value->type)) return;
  if (!value) {
    request.SetAbsent(*place);
  } else if (*place == slot::Now) {
    request.SetNow(std::get<std::int64_t>(std::get<model::Scalar>(value->value)));
  } else {
    request.Set(*place, ValueOf(*value));
  }
}

void World::SetText(Request& request, schema::Slot place, std::string text) {
  if (!request.is_known(place)) request.SetText(place, arena_.Keep(std::move(text)));
}

void World::SetUnlessKnown(Request& request, schema::Slot place, std::int64_t integer) {
  if (!request.is_known(place)) request.SetInteger(place, integer);
}

// What `given` states. The task, and for egress the caller, are those of the create.
void World::AddGiven(Request& request) {
  const bool is_sealed = sandbox_ && request.action() != Action::Create;
  const auto seals = [&](std::string_view subject) {
    return is_sealed &&
           (subject == "task" || (subject == "caller" && request.action() == Action::Egress));
  };
  for (const auto& [path, fact] : given_) {
    // `given snapshot` is what a resume brings back, not what is about to be kept.
    if (request.action() == Action::Snapshot && SubjectOf(path) == "snapshot") continue;
    if (!seals(SubjectOf(path))) SetFact(request, path, fact.value);
  }
  if (!is_sealed) return;
  for (const auto& [path, fact] : sandbox_->sealed) {
    if (seals(SubjectOf(path))) SetFact(request, path, fact.value);
  }
}

// What follows from the sandbox that the test has created.
void World::AddSandbox(Request& request) {
  if (request.action() == Action::Create) {
    SetUnlessKnown(request, slot::CreateRunning, running_ + 1);
    return;
  }
  if (!sandbox_) {
    if (!first_caller_.empty()) SetText(request, slot::SandboxCreator, first_caller_);
    return;
  }
  const module::LifetimeReading reading =
      ReadLifetime(sandbox_->terms, sandbox_->life, elapsed_ms_);
  SetText(request, slot::SandboxClass, sandbox_->class_name);
  SetText(request, slot::SandboxImage, std::string(AsText(sandbox_->image.bytes)));
  if (!sandbox_->creator.empty()) SetText(request, slot::SandboxCreator, sandbox_->creator);
  AddIsolation(request);
  SetUnlessKnown(request, slot::SandboxAge, reading.age_ms);
  SetUnlessKnown(request, slot::SandboxIdle, reading.idle_ms);
  SetUnlessKnown(request, slot::SandboxTtlLeft, reading.ttl_left_ms);
  SetUnlessKnown(request, slot::SandboxFrozen, sandbox_->life.frozen_since_ms ? 1 : 0);
  if (request.action() == Action::Extend) AddRenewals(request);
  if (request.action() == Action::Resume) AddFrozen(request);
  const bool has_authority = reading.ttl_left_ms > 0;
  const std::int64_t token_left =
      sandbox_->token_until_ms ? *sandbox_->token_until_ms - elapsed_ms_ : 0;
  SetUnlessKnown(request, slot::TokenValid, has_authority && token_left > 0 ? 1 : 0);
  SetUnlessKnown(request, slot::TokenExpiresIn, token_left);
  AddTransferred(request);
  AddKept(request);
}

void World::AddIsolation(Request& request) {
  // A host that can do both uses KVM.
  const auto host = request.value(slot::HostCapabilities).elements();
  const bool has_kvm = std::any_of(host.begin(), host.end(), [](const Value& word) {
    return word.text() == module::capability::Kvm;
  });
  SetUnlessKnown(request, slot::SandboxIsolation,
                 OrdinalOf(schema::Enum::RunningIsolation, has_kvm ? "kvm" : "emulated"));
}

void World::AddTransferred(Request& request) {
  if (request.action() == Action::Import && request.is_present(slot::ImportSize)) {
    SetUnlessKnown(request, slot::ImportTotal,
                   sandbox_->imported_bytes + request.value(slot::ImportSize).integer);
  }
  if (request.action() == Action::Export && request.is_present(slot::ExportSize)) {
    SetUnlessKnown(request, slot::ExportTotal,
                   sandbox_->exported_bytes + request.value(slot::ExportSize).integer);
  }
}

void World::AddRenewals(Request& request) {
  SetUnlessKnown(request, slot::ExtendTimes, sandbox_->renewals + 1);
  SetUnlessKnown(request, slot::ExtendHardEndIn, sandbox_->hard_end_ms - elapsed_ms_);
  if (!request.is_present(slot::ExtendBy)) return;
  SetUnlessKnown(request, slot::ExtendTotal,
                 sandbox_->renewed_ms + request.value(slot::ExtendBy).integer);
}

// What a resume of the test's own sandbox brings back: the sandbox as it was frozen.
void World::AddFrozen(Request& request) {
  if (!sandbox_->life.frozen_since_ms || !request.is_present(slot::ResumeSnapshotKind) ||
      request.value(slot::ResumeSnapshotKind).integer !=
          OrdinalOf(schema::Enum::ResumeKind, "frozen")) {
    return;
  }
  const std::int64_t age_ms = elapsed_ms_ - *sandbox_->life.frozen_since_ms;
  SetUnlessKnown(request, slot::ResumeSnapshotAge, age_ms);
  SetUnlessKnown(request, slot::ResumeSnapshotLineageAge, age_ms);
  SetUnlessKnown(request, slot::ResumeSnapshotBranches, 1);
  SetText(request, slot::ResumeSnapshotClass, sandbox_->class_name);
  SetText(request, slot::ResumeSnapshotImage, std::string(AsText(sandbox_->image.bytes)));
}

// Requests that left within the class's window, as the gateway counts them.
std::int64_t World::RequestsInWindow() const {
  if (!sandbox_) return 0;
  const std::int64_t since = elapsed_ms_ - sandbox_->window_ms;
  return std::count_if(sandbox_->egress_at_ms.begin(), sandbox_->egress_at_ms.end(),
                       [since](std::int64_t at_ms) { return at_ms > since; });
}

// What the harness says where the test is silent (language.md sections 5.11 and 11).
void World::AddHost(Request& request) {
  if (!request.is_known(slot::HostCapabilities)) {
    std::vector<Value> all;
    for (const std::string_view word : module::capability::All) all.push_back(Value::OfText(word));
    request.Set(slot::HostCapabilities, Value::OfItems(arena_.Keep(std::move(all))));
  }
  if (request.action() != Action::Egress) return;
  // A request without a body, counted as the gateway would.
  SetUnlessKnown(request, slot::EgressBytes, 0);
  SetUnlessKnown(request, slot::EgressRequests, RequestsInWindow() + 1);
  SetUnlessKnown(
      request, slot::EgressTotal,
      (sandbox_ ? sandbox_->egress_bytes : 0) + request.value(slot::EgressBytes).integer);
  if (!request.is_known(slot::EgressIp)) {
    if (const auto address = UnnamedAddress()) {
      request.SetText(slot::EgressIp, arena_.Keep(std::string(AsText(address->bytes))));
    }
  }
}

// Of a subject that the test states, an optional fact that it leaves out is not there. Nobody has
// to say what a question does not wish for.
void World::AddAbsences(Request& request) {
  const auto is_stated = [&](std::string_view path) {
    const std::string_view subject = SubjectOf(path);
    if (subject == schema::WordOf(request.action())) return true;
    return std::any_of(given_.begin(), given_.end(),
                       [&](const auto& given) { return SubjectOf(given.first) == subject; });
  };
  for (const schema::Attribute& attribute : schema::AttributesOf(request.action())) {
    if (request.is_known(attribute.slot)) continue;
    const bool of_other = schema::FindAttribute(request.action(), attribute.path) == nullptr;
    const bool is_left_out =
        attribute.type.optional && attribute.slot != slot::EgressIp && is_stated(attribute.path);
    if (of_other || is_left_out || attribute.origin == schema::Origin::Wish) {
      request.SetAbsent(attribute.slot);
    }
  }
  for (std::size_t n = 0; n < model_->declared.size(); ++n) {
    const schema::Slot place = schema::DeclaredSlot(request.action(), n);
    const model::DeclaredAttribute& declared = model_->declared[n];
    if (!request.is_known(place) && declared.type.optional && is_stated(declared.path)) {
      request.SetAbsent(place);
    }
  }
}

// A public address that no rule names, so that a test need not think of one.
std::optional<values::Address> World::UnnamedAddress() const {
  std::vector<values::Cidr> named;
  const auto add_rules = [&named](const std::vector<model::EgressRule>& rules) {
    for (const model::EgressRule& rule : rules) {
      named.insert(named.end(), rule.pins.begin(), rule.pins.end());
      for (const model::EgressTarget& target : rule.targets) {
        if (!target.place) continue;
        if (const auto* block = std::get_if<values::Cidr>(&*target.place)) named.push_back(*block);
      }
    }
  };
  const auto add_class = [&](const model::Class& one) {
    add_rules(one.network.rules);
    add_rules(one.network.trials);
  };
  for (const model::Class& one : model_->classes) add_class(one);
  if (model_->floor) add_class(*model_->floor);
  const auto add = [&named](const model::Scalar& scalar) {
    if (const auto* block = std::get_if<values::Cidr>(&scalar)) named.push_back(*block);
    if (const auto* one = std::get_if<values::Address>(&scalar)) named.push_back({*one, 128});
  };
  for (const model::Constant& constant : model_->expressions.constants) {
    if (const auto* scalar = std::get_if<model::Scalar>(&constant.value)) {
      add(*scalar);
    } else {
      for (const auto& item : std::get<std::vector<model::Scalar>>(constant.value)) add(item);
    }
  }
  values::Address candidate;
  candidate.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 20, 30, 40};
  for (int first = 1; first < 224; ++first) {
    candidate.bytes[12] = static_cast<std::uint8_t>(first);
    if (values::RangeOf(candidate) != values::Range::Public) continue;
    const bool is_named = std::any_of(
        named.begin(), named.end(),
        [&candidate](const values::Cidr& block) { return values::Contains(block, candidate); });
    if (!is_named) return candidate;
  }
  return std::nullopt;
}

}  // namespace curfew::testing
