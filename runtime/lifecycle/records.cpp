#include "runtime/lifecycle/records.h"

#include "runtime/evidence/standing.h"

#include <algorithm>
#include <map>

namespace curfew::lifecycle {
namespace {

using evidence::ObjectReader;
using evidence::RecordKind;

Json ReasonsJson(const std::vector<gate::Reason>& reasons) {
  Json list = Json::array();
  for (const gate::Reason& reason : reasons) {
    Json& json = list.emplace_back(Json::object());
    json["id"] = reason.id;
    json["message"] = reason.message;
    json["file"] = reason.file;
    json["line"] = reason.line;
  }
  return list;
}

evidence::Fate FateOf(execute::Fate fate) {
  switch (fate) {
    case execute::Fate::Destroyed:
      return evidence::Fate::Destroyed;
    case execute::Fate::Kept:
      return evidence::Fate::Kept;
    case execute::Fate::Unknown:
      return evidence::Fate::Unknown;
  }
  return evidence::Fate::Unknown;
}

evidence::Fate ParseFate(std::string_view name) {
  for (const evidence::Fate fate : {evidence::Fate::Destroyed, evidence::Fate::Kept}) {
    if (NameOf(fate) == name) return fate;
  }
  return evidence::Fate::Unknown;
}

// Reads the records one after another into a receipt.
class Reading {
 public:
  explicit Reading(evidence::Receipt& receipt) : receipt_(receipt) {}

  Outcome Read(const evidence::Record& record) {
    CURFEW_TRY(const std::string text, evidence::Canonical(record.facts));
    CURFEW_TRY(const JsonValue facts, evidence::ParseCanonical(text));
    switch (record.kind) {
      case RecordKind::Decision:
        return Decision(facts);
      case RecordKind::Step:
        return Step(record, facts);
      case RecordKind::Command:
        return Command(facts);
      case RecordKind::Process:
        return Process(facts);
      case RecordKind::Export:
        return Export(facts);
      case RecordKind::Reload:
        return Reload(record, facts);
      case RecordKind::Closing:
        return Closing(record, facts);
      case RecordKind::Reopened:
        return Reopened(record);
      case RecordKind::Opened:
      case RecordKind::Flow:  // summed up by ReceiptOf
      case RecordKind::Note:
      case RecordKind::Cut:
      case RecordKind::Residue:
        return Ok();
    }
    return Ok();
  }

  // Whatever was begun and never ended on record.
  void Finish() {
    for (auto& [number, command] : running_) {
      command.reason = "it was still running when the sandbox ended";
      receipt_.commands.push_back(std::move(command));
    }
    for (const execute::Resource& resource : held_) {
      receipt_.resources.push_back({.resource_class = resource.resource_class,
                                    .identity = resource.identity,
                                    .fate = evidence::Fate::Unknown,
                                    .detail = "nothing on record says that it ended"});
    }
  }

 private:
  Outcome Decision(const JsonValue& facts) {
    const JsonValue* allowed = facts.Find("allowed");
    if (allowed == nullptr || !allowed->is(JsonValue::Kind::Bool)) {
      return Failure(FailureCode::Malformed, "a decision on record has no answer");
    }
    ++(allowed->boolean ? receipt_.decisions.allowed : receipt_.decisions.denied);
    return Ok();
  }

  Outcome Step(const evidence::Record& record, const JsonValue& facts) {
    ObjectReader reader(facts, "a step on record");
    reader.Text("step");
    const std::string phase = reader.Text("phase");
    if (phase == "done") {
      for (const JsonValue& item : reader.Array("resources").items) {
        CURFEW_TRY(execute::Resource resource, ResourceOf(item));
        held_.push_back(std::move(resource));
      }
    } else if (phase == "undone") {
      for (const JsonValue& item : reader.Array("ended").items) {
        CURFEW_TRY_VOID(Ended(item));
        receipt_.ended_ms = record.at_ms;
      }
    } else if (phase == "ready") {
      receipt_.isolation = reader.Text("isolation") == NameOf(evidence::Isolation::Kvm)
                               ? evidence::Isolation::Kvm
                               : evidence::Isolation::Emulated;
      receipt_.ready_ms = record.at_ms;
    } else {
      reader.Refuse("`phase` is none of done, undone, ready");
    }
    return reader.Finish();
  }

  static Result<execute::Resource> ResourceOf(const JsonValue& item) {
    ObjectReader reader(item, "a resource on record");
    execute::Resource resource{.resource_class = reader.Text("class"),
                               .identity = reader.Text("identity")};
    CURFEW_TRY_VOID(reader.Finish());
    return resource;
  }

  Outcome Ended(const JsonValue& item) {
    ObjectReader reader(item, "an ended resource on record");
    evidence::ResourceOutcome outcome{.resource_class = reader.Text("class"),
                                      .identity = reader.Text("identity"),
                                      .fate = ParseFate(reader.Text("fate")),
                                      .detail = reader.Text("detail")};
    CURFEW_TRY_VOID(reader.Finish());
    const auto is_it = [&](const auto& one) {
      return one.resource_class == outcome.resource_class && one.identity == outcome.identity;
    };
    std::erase_if(held_, is_it);
    // What was not shown to be gone, and was looked at again.
    std::erase_if(receipt_.resources, [&](const auto& one) {
      return is_it(one) && one.fate == evidence::Fate::Unknown;
    });
    receipt_.resources.push_back(std::move(outcome));
    return Ok();
  }

  Outcome Command(const JsonValue& facts) {
    ObjectReader reader(facts, "a command on record");
    const std::uint64_t number = reader.Count("number");
    const std::string phase = reader.Text("phase");
    evidence::CommandResult result;
    result.argv = reader.Texts("argv");
    if (phase == "started") {
      reader.Text("program");
      CURFEW_TRY_VOID(reader.Finish());
      result.allowed = true;
      result.started = true;
      running_.emplace(number, std::move(result));
      return Ok();
    }
    result.allowed = reader.OptionalFlag("allowed");
    result.started = reader.Flag("started");
    result.reason = reader.Text("reason");
    result.timed_out = reader.Flag("timed_out");
    if (const auto status = reader.OptionalInteger("exit_status")) {
      result.exit_status = static_cast<int>(*status);
    }
    if (const auto signal = reader.OptionalInteger("signal")) {
      result.signal = static_cast<int>(*signal);
    }
    CURFEW_TRY_VOID(reader.Finish());
    running_.erase(number);
    receipt_.commands.push_back(std::move(result));
    return Ok();
  }

  Outcome Process(const JsonValue& facts) {
    ObjectReader reader(facts, "a process on record");
    receipt_.processes.push_back(
        {.pid = reader.Integer("pid"), .argv = reader.Texts("argv"), .how = reader.Text("how")});
    return reader.Finish();
  }

  Outcome Export(const JsonValue& facts) {
    ObjectReader reader(facts, "an export on record");
    evidence::ExportedFile file{
        .name = reader.Text("name"), .bytes = reader.Count("bytes"), .digest = {}};
    const std::optional<Digest> digest = ParseDigest(reader.Text("digest"));
    if (!digest) reader.Refuse("`digest` is none");
    file.digest = digest.value_or(Digest{});
    CURFEW_TRY_VOID(reader.Finish());
    receipt_.exports.push_back(std::move(file));
    return Ok();
  }

  Outcome Reload(const evidence::Record& record, const JsonValue& facts) {
    ObjectReader reader(facts, "a reload on record");
    static_cast<void>(reader.Text("old"));
    evidence::PolicyChange change{.at_ms = record.at_ms,
                                  .digest = reader.Text("new"),
                                  .generation = reader.Count("generation")};
    CURFEW_TRY_VOID(reader.Finish());
    if (receipt_.reloads.size() < evidence::PolicyChangesMax) {
      receipt_.reloads.push_back(std::move(change));
    } else {
      ++receipt_.reloads_omitted;
    }
    return Ok();
  }

  Outcome Reopened(const evidence::Record& record) {
    CURFEW_TRY(const evidence::Reopening reopening, evidence::ReadReopening(record));
    if (reopening.covered) receipt_.supersedes = reopening.covered->receipt;
    return Ok();
  }

  Outcome Closing(const evidence::Record& record, const JsonValue& facts) {
    ObjectReader reader(facts, "the closing on record");
    std::string reason = reader.Text("reason");
    CURFEW_TRY_VOID(reader.Finish());
    if (receipt_.closing_ms == 0) {  // the first stays: what ended it first is why it ended
      receipt_.closing_ms = record.at_ms;
      receipt_.close_reason = std::move(reason);
    }
    return Ok();
  }

  evidence::Receipt& receipt_;
  std::vector<execute::Resource> held_;
  std::map<std::uint64_t, evidence::CommandResult> running_;
};

}  // namespace

Json Decided(const gate::Answer& answer, Json request) {
  return {{"action", std::string(schema::WordOf(answer.action))},
          {"allowed", answer.allowed},
          {"class", answer.class_name},
          {"cut", answer.cut},
          {"generation", answer.generation},
          {"reasons", ReasonsJson(answer.reasons)},
          {"request", std::move(request)},
          {"stage", std::string(schema::WordOf(answer.stage))},
          {"trials", ReasonsJson(answer.trials)}};
}

Json ResourcesJson(const std::vector<execute::Resource>& resources) {
  Json list = Json::array();
  for (const execute::Resource& resource : resources) {
    list.push_back({{"class", resource.resource_class}, {"identity", resource.identity}});
  }
  return list;
}

Result<std::vector<execute::Resource>> ParseResources(std::string_view text) {
  CURFEW_TRY(const JsonValue list, ParseJson(text));
  std::vector<execute::Resource> resources;
  if (!list.is(JsonValue::Kind::Array)) {
    return Failure(FailureCode::Malformed, "the journal's resource is no list");
  }
  for (const JsonValue& item : list.items) {
    ObjectReader reader(item, "a resource in the journal");
    resources.push_back(
        {.resource_class = reader.Text("class"), .identity = reader.Text("identity")});
    CURFEW_TRY_VOID(reader.Finish());
  }
  return resources;
}

Json StepDone(std::string_view step, const std::vector<execute::Resource>& resources) {
  return {{"step", std::string(step)}, {"phase", "done"}, {"resources", ResourcesJson(resources)}};
}

Json StepUndone(std::string_view step, const std::vector<execute::Ended>& ended) {
  Json list = Json::array();
  for (const execute::Ended& end : ended) {
    list.push_back({{"class", end.resource.resource_class},
                    {"identity", end.resource.identity},
                    {"fate", std::string(NameOf(FateOf(end.fate)))},
                    {"detail", end.detail}});
  }
  return {{"step", std::string(step)}, {"phase", "undone"}, {"ended", std::move(list)}};
}

Json StepReady(evidence::Isolation isolation) {
  return {{"step", "machine"}, {"phase", "ready"}, {"isolation", std::string(NameOf(isolation))}};
}

Json CommandStarted(std::uint64_t number, const std::vector<std::string>& argv,
                    std::string_view program) {
  return {
      {"number", number}, {"phase", "started"}, {"argv", argv}, {"program", std::string(program)}};
}

Json CommandEnded(std::uint64_t number, const evidence::CommandResult& result) {
  Json facts = {{"number", number},        {"phase", "ended"},
                {"argv", result.argv},     {"started", result.started},
                {"reason", result.reason}, {"timed_out", result.timed_out}};
  if (result.allowed) facts["allowed"] = *result.allowed;
  if (result.exit_status) facts["exit_status"] = *result.exit_status;
  if (result.signal) facts["signal"] = *result.signal;
  return facts;
}

Json ProcessEnded(const evidence::EndedProcess& process) {
  return {{"pid", process.pid}, {"argv", process.argv}, {"how", process.how}};
}

Json Exported(const evidence::ExportedFile& file) {
  return {{"name", file.name}, {"bytes", file.bytes}, {"digest", ToString(file.digest)}};
}

Json Reloaded(std::string_view old_digest, std::string_view new_digest, std::uint64_t generation) {
  return {{"old", std::string(old_digest)},
          {"new", std::string(new_digest)},
          {"generation", generation}};
}

Json Closing(std::string_view reason) { return {{"reason", std::string(reason)}}; }

Json Residue(const evidence::ResidueReport& report) {
  Json findings = Json::array();
  for (const evidence::ResidueFinding& finding : report.findings) {
    findings.push_back({{"class", std::string(NameOf(finding.residue_class))},
                        {"fate", std::string(NameOf(finding.fate))},
                        {"identity", finding.identity},
                        {"why", finding.why}});
  }
  return {{"verdict", std::string(NameOf(report.verdict()))}, {"findings", std::move(findings)}};
}

Result<evidence::Receipt> ReceiptOf(const std::vector<evidence::Record>& records,
                                    const store::Sandbox& sandbox,
                                    const evidence::ResidueReport& residue, std::string keeper_note,
                                    std::int64_t closed_ms) {
  evidence::Receipt receipt;
  receipt.sandbox = sandbox.incarnation;
  receipt.task_id = sandbox.task_id;
  receipt.owner = sandbox.owner;
  receipt.creator = sandbox.creator;
  receipt.sandbox_class = sandbox.sandbox_class;
  receipt.policy_digest = sandbox.policy_digest;
  receipt.policy_generation = sandbox.policy_generation;
  receipt.image_digest = sandbox.image_digest;
  receipt.requested_ms = sandbox.created_ms;
  receipt.deadline_ms = sandbox.deadline_ms;
  receipt.grace_ms = sandbox.grace_ms;
  Reading reading(receipt);
  for (const evidence::Record& record : records) CURFEW_TRY_VOID(reading.Read(record));
  reading.Finish();
  CURFEW_TRY(receipt.flows, evidence::SummariseFlows(records));
  receipt.residue = residue;
  receipt.keeper_note = std::move(keeper_note);
  receipt.closed_ms = closed_ms;
  if (receipt.closing_ms == 0) receipt.closing_ms = closed_ms;
  if (receipt.close_reason.empty()) receipt.close_reason = sandbox.close_reason;
  return receipt;
}

}  // namespace curfew::lifecycle
