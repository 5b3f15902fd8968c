#include "runtime/keeper/questions.h"

#include "compiler/base/json.h"
#include "compiler/values/path.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::keeper {

using module::DecodedRequest;
using module::Value;
using schema::Action;
using schema::Enum;
namespace slot = schema::slot;

namespace {

// The ordinal of a word; the schema's own words only.
std::int64_t OrdinalOf(Enum which, std::string_view word) {
  const auto values = schema::InfoOf(which).values;
  const auto found = std::find(values.begin(), values.end(), word);
  CURFEW_CHECK(found != values.end(), "the runtime states only words of the schema");
  return found - values.begin();
}

template <typename Texts>
void SetTexts(DecodedRequest& asked, schema::Slot at, const Texts& texts) {
  std::vector<Value> items;
  for (const auto& text : texts)
    items.push_back(Value::OfText(asked.arena.Keep(std::string(text))));
  asked.request.Set(at, Value::OfItems(asked.arena.Keep(std::move(items))));
}

void SetKept(DecodedRequest& asked, schema::Slot at, std::string text) {
  asked.request.SetText(at, asked.arena.Keep(std::move(text)));
}

Failure Invalid(std::string_view where, std::string_view why) {
  return Failure(FailureCode::Malformed, fmt::format("{}: {}", where, why));
}

Result<std::string> CanonicalPath(std::string_view where, std::string_view text) {
  values::Parsed<std::string> path = values::ParseFilePath(text);
  if (!path) return Invalid(where, path.error().message);
  return *std::move(path);
}

}  // namespace

Questions::Questions(const gate::PolicyInForce& policy, const host::Clock& clock, Caller caller,
                     std::set<std::string, std::less<>> capabilities)
    : policy_(policy),
      clock_(clock),
      caller_(std::move(caller)),
      capabilities_(std::move(capabilities)) {}

Outcome Questions::StateCreate(const evidence::Json& document) {
  if (document.is_object()) stated_task_ = document.value("task", evidence::Json());
  CURFEW_TRY(const std::string text, evidence::Canonical(document));
  CURFEW_TRY(const JsonValue json, ParseJson(text));
  module::RequestDecoding decoding =
      module::DecodeRequest(json, policy_.module().declared(), module::StatedBy::Caller);
  if (!decoding) {
    std::string why;
    for (const module::RequestProblem& problem : decoding.problems) {
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", problem.pointer, problem.message);
    }
    return Failure(FailureCode::Malformed, why);
  }
  if (decoding.decoded->request.action() != Action::Create) {
    return Invalid("/action", "the first question of a sandbox is `create`");
  }
  create_ = *std::move(decoding.decoded);
  const auto declared = policy_.module().declared();
  sealed_.assign(declared.begin(), declared.end());
  return Ok();
}

const module::Request& Questions::Create(std::int64_t running) {
  SetEveryFact(*create_);
  create_->request.SetNow(clock_.WallNowMs());
  create_->request.SetInteger(slot::CreateRunning, running);
  return create_->request;
}

std::string Questions::SealedText(schema::Slot at) const {
  if (!create_ || !create_->request.is_present(at)) return {};
  return std::string(create_->request.value(at).text());
}

std::string Questions::StatedText(schema::Slot at, const char* member) const {
  if (create_) return SealedText(at);
  const bool is_stated = stated_task_.is_object() && stated_task_.contains(member);
  if (!is_stated) return "(not stated)";
  const evidence::Json& stated = stated_task_[member];
  return stated.is_string() ? Printable(stated.get<std::string>()) : "(not readable)";
}

std::string Questions::image() const {
  if (!create_ || !create_->request.is_present(slot::CreateImage)) return {};
  const Value& value = create_->request.value(slot::CreateImage);
  return "sha256:" + Hex(AsBytes({value.data, sizeof(Digest::bytes)}));
}

void Questions::SetEveryFact(DecodedRequest& asked) const {
  module::Request& request = asked.request;
  SetKept(asked, slot::CallerId, caller_.id);
  request.SetInteger(slot::CallerKind, OrdinalOf(Enum::CallerKind, caller_.kind));
  SetTexts(asked, slot::CallerGroups, caller_.groups);
  request.SetInteger(slot::CallerOperator, caller_.is_operator ? 1 : 0);
  SetTexts(asked, slot::HostCapabilities, capabilities_);
  // Nothing verifies what a set declares of callers yet: it is not there, or nobody knows it.
  for (std::size_t n = 0; n < policy_.module().declared().size(); ++n) {
    if (!policy_.module().declared()[n].path.starts_with("caller.")) continue;
    if (policy_.module().declared()[n].optional) {
      request.SetAbsent(schema::DeclaredSlot(request.action(), n));
    }
  }
}

// After a reload a fact may stand in another place, or mean something else: then nobody knows it.
std::optional<schema::Slot> Questions::SealedSlotOf(
    const module::DeclaredAttribute& declared) const {
  for (std::size_t n = 0; n < sealed_.size(); ++n) {
    const module::DeclaredAttribute& sealed = sealed_[n];
    if (sealed.path != declared.path) continue;
    const bool means_the_same = sealed.kind == declared.kind &&
                                sealed.collection == declared.collection &&
                                sealed.enum_values == declared.enum_values;
    if (!means_the_same) return std::nullopt;
    return schema::DeclaredSlot(Action::Create, n);
  }
  return std::nullopt;
}

DecodedRequest Questions::About(Action action, const SandboxFacts& sandbox) const {
  DecodedRequest asked = WhatLasts(action, sandbox);
  StateWhatPasses(asked.request, sandbox);
  return asked;
}

DecodedRequest Questions::WhatLasts(Action action, const SandboxFacts& sandbox) const {
  CURFEW_CHECK(create_.has_value(), "a sandbox begins with its create");
  DecodedRequest asked{.request = module::Request(action), .arena = {}};
  module::Request& request = asked.request;
  SetEveryFact(asked);
  const auto seal = [&](schema::Slot from, schema::Slot to) {
    if (!create_->request.is_known(from)) return;
    if (create_->request.is_present(from)) {
      request.Set(to, create_->request.value(from));
    } else {
      request.SetAbsent(to);
    }
  };
  for (const schema::Slot at :
       {slot::TaskId, slot::TaskOwner, slot::TaskTeam, slot::TaskKind, slot::TaskTrigger}) {
    seal(at, at);
  }
  for (std::size_t n = 0; n < policy_.module().declared().size(); ++n) {
    const module::DeclaredAttribute& declared = policy_.module().declared()[n];
    if (!declared.path.starts_with("task.")) continue;
    if (const std::optional<schema::Slot> from = SealedSlotOf(declared)) {
      seal(*from, schema::DeclaredSlot(action, n));
    }
  }
  SetKept(asked, slot::SandboxId, sandbox.id);
  SetKept(asked, slot::SandboxClass, sandbox.class_name);
  SetKept(asked, slot::SandboxImage, std::string(AsText(sandbox.image.bytes)));
  request.SetInteger(slot::SandboxIsolation,
                     OrdinalOf(Enum::RunningIsolation, sandbox.kvm ? "kvm" : "emulated"));
  SetKept(asked, slot::SandboxCreator, sandbox.creator);
  return asked;
}

void Questions::StateWhatPasses(module::Request& request, const SandboxFacts& sandbox) const {
  request.SetNow(clock_.WallNowMs());
  request.SetInteger(slot::SandboxAge, sandbox.age_ms);
  request.SetInteger(slot::SandboxIdle, sandbox.idle_ms);
  request.SetInteger(slot::SandboxTtlLeft, sandbox.ttl_left_ms);
  request.SetInteger(slot::SandboxFrozen, 0);  // nothing here freezes one: capability::Freeze
  request.SetInteger(slot::TokenValid, sandbox.token_valid ? 1 : 0);
  request.SetInteger(slot::TokenExpiresIn, sandbox.token_expires_in_ms);
}

Result<DecodedRequest> Questions::AskExec(const Exec& exec, const SandboxFacts& sandbox) {
  DecodedRequest asked = About(Action::Exec, sandbox);
  CURFEW_TRY(std::string program, CanonicalPath("/exec/program", exec.program));
  CURFEW_TRY(std::string cwd, CanonicalPath("/exec/cwd", exec.cwd));
  if (exec.arguments.size() > limits::SetElementsMax) {
    return Invalid("/exec/args", fmt::format("more than {} arguments", limits::SetElementsMax));
  }
  for (const std::string& argument : exec.arguments) {
    if (argument.size() > limits::RequestStringBytesMax) {
      return Invalid("/exec/args", "an argument is too long");
    }
  }
  SetKept(asked, slot::ExecProgram, std::move(program));
  SetTexts(asked, slot::ExecArgs, exec.arguments);
  SetKept(asked, slot::ExecUser, exec.user);
  SetKept(asked, slot::ExecCwd, std::move(cwd));
  asked.request.SetInteger(slot::ExecTerminal, 0);
  asked.request.SetInteger(slot::ExecBackground, exec.background ? 1 : 0);
  return asked;
}

Result<DecodedRequest> Questions::AskExport(const guest::File& file, std::uint64_t total,
                                            const SandboxFacts& sandbox) {
  DecodedRequest asked = About(Action::Export, sandbox);
  CURFEW_TRY(std::string path, CanonicalPath("/export/path", file.path));
  if (file.type != guest::FileKind::File) {
    return Invalid("/export/kind", "only plain files can leave; a link is not followed");
  }
  constexpr std::uint64_t most = INT64_MAX;
  if (file.bytes > most || total > most) return Invalid("/export/size", "too large");
  SetKept(asked, slot::ExportPath, std::move(path));
  asked.request.SetInteger(slot::ExportSize, static_cast<std::int64_t>(file.bytes));
  asked.request.SetInteger(slot::ExportTotal, static_cast<std::int64_t>(total));
  asked.request.SetInteger(slot::ExportKind, OrdinalOf(Enum::FileKind, "file"));
  return asked;
}

const module::Request& Questions::AskEgress(const egress::EgressFacts& egress,
                                            const SandboxFacts& sandbox) {
  const std::uint64_t generation = policy_.module().manifest().generation;
  if (!egress_lasts_ || egress_generation_ != generation) {
    egress_lasts_ = WhatLasts(Action::Egress, sandbox);
    egress_generation_ = generation;
  }
  egress_ = egress_lasts_->request;
  egress_->SetStage(egress.stage);
  StateWhatPasses(*egress_, sandbox);
  egress::State(egress, *egress_);
  return *egress_;
}

}  // namespace curfew::keeper
