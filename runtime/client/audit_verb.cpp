#include "runtime/client/station.h"
#include "runtime/evidence/flows.h"
#include "runtime/evidence/verify.h"

#include <chrono>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

using evidence::FlowRecord;

constexpr int ReadsMax = 40;  // of a chain whose last record is being written
constexpr std::chrono::milliseconds ReadPause{50};

struct Entry {
  std::uint64_t sequence = 0;
  FlowRecord flow;
};
struct Audit {
  bool is_over = false;  // sealed by a receipt
  std::uint64_t records = 0;
  std::uint64_t lost = 0;
  std::vector<Entry> entries;
};

std::string Subject(const FlowRecord& flow) {
  const std::string place = evidence::PlaceOf(flow);
  if (flow.method.empty()) return Printable(place, 320);
  const std::string query = flow.query ? "?" + *flow.query : "";
  return Printable(fmt::format("{} {}{}{}", flow.method, place, flow.path, query), 320);
}

std::string Line(const Entry& entry) {
  const FlowRecord& flow = entry.flow;
  std::string text = fmt::format("{}  {}  {}\n", host::Rfc3339(flow.started_ms),
                                 flow.allowed ? "allow" : "DENY ", Subject(flow));
  text += fmt::format("    {} bytes out, {} bytes in, {} ms", flow.bytes_out, flow.bytes_in,
                      flow.duration_ms);
  if (flow.times > 1) text += fmt::format(", {} times", flow.times);
  if (flow.status != 0) text += fmt::format(", answered {}", flow.status);
  if (!flow.end.empty()) text += ", ended: " + Printable(flow.end, 160);
  text.push_back('\n');
  for (const evidence::NamedRule& rule : flow.rules) {
    text += fmt::format("    by {}", Printable(evidence::Place(rule), 160));
    if (!rule.message.empty()) text += ": " + Printable(rule.message, 160);
    text.push_back('\n');
  }
  for (const evidence::NamedRule& rule : flow.trials) {
    text += fmt::format("    would be denied by {}\n", Printable(evidence::Place(rule), 160));
  }
  return text;
}

class AuditVerb final : public Verb {
 public:
  explicit AuditVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "audit"; }
  [[nodiscard]] std::string_view summary() const override {
    return "show what a sandbox asked of the network, and what became of it";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Each request that is over, with its verdict, rule, bytes and time, from the sandbox's "
           "records. They are\nverified first: of a sandbox that is closed with its receipt, of "
           "one "
           "that runs as far as they go.\nOne that is still under way is not shown yet.\n"
           "exit status: 0 shown, 2 the records do not hold, 1 could not run\n\n"
           "example:\n  curfew audit cf-abcdefghij234567 --denied\n"
           "  curfew audit cf-abcdefghij234567 --format json";
  }
  void Configure(CLI::App& app) override {
    app.add_option("SANDBOX", sandbox_, "a sandbox's id")->required();
    app.add_flag("--denied", denied_, "only what was refused or cut");
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }

  int Run(Console& console) override {
    const Result<Audit> audit = Read();
    if (!audit) {
      console.Complain(audit.error().message);
      return ExitStatusOf(audit.error().code);
    }
    for (const Entry& entry : audit->entries) {
      if (denied_ && entry.flow.allowed) continue;
      console.Out(format_ == "json" ? JsonLine(entry) : Line(entry));
    }
    if (format_ == "text") console.Err(Footer(*audit));
    return exit_status::Fine;
  }

 private:
  Result<Audit> Read() const {
    if (!IsSandboxId(sandbox_)) {
      return Failure(FailureCode::Usage,
                     Printable(sandbox_, 60) + " is no sandbox's id; `curfew ps --all` lists them");
    }
    CURFEW_TRY(const std::unique_ptr<Station> station, Station::Open(means_, state_));
    CURFEW_TRY(const store::Sandbox sandbox, station->store().FindById(sandbox_));
    const host::StateDirectory& state = station->state();
    Audit audit;
    CURFEW_TRY(audit.is_over, IsSealed(state));
    CURFEW_TRY(const evidence::Chain chain, ReadWhole(state, sandbox, audit.is_over));
    audit.records = chain.records.size();
    for (const evidence::Record& record : chain.records) {
      if (record.kind != evidence::RecordKind::Flow) continue;
      CURFEW_TRY(evidence::FlowReading reading, evidence::ReadFlow(record));
      audit.lost += reading.lost;
      if (reading.flow) audit.entries.push_back({record.sequence, *std::move(reading.flow)});
    }
    return audit;
  }

  // Whether a receipt binds the records. One that does not hold: Tampered.
  [[nodiscard]] Result<bool> IsSealed(const host::StateDirectory& state) const {
    const evidence::Verification verification =
        evidence::Verify(means_.files, {.receipt_path = state.Receipt(sandbox_),
                                        .chain_path = state.Records(sandbox_),
                                        .heads_path = state.Heads(),
                                        .key_path = state.ReceiptPublicKey(),
                                        .key_pinned = false,
                                        .sandbox_id = sandbox_,
                                        .witnessed = std::nullopt});
    switch (verification.standing) {
      case evidence::Standing::Valid:
        return true;
      case evidence::Standing::Absent:
        return false;
      // Taken up again, and the next receipt is not written yet.
      case evidence::Standing::Superseded:
        return false;
      case evidence::Standing::Tampered:
        return Failure(FailureCode::Tampered,
                       fmt::format("nothing is shown, because the evidence does not hold: {}: {}",
                                   verification.where, verification.why));
      case evidence::Standing::CouldNotRun:
        return Failure(FailureCode::System,
                       fmt::format("the evidence could not be verified: {}: {}", verification.where,
                                   verification.why));
    }
    CURFEW_UNREACHABLE("the switch names every standing");
  }

  // A keeper may be in the middle of a record: its end is then not there yet.
  [[nodiscard]] Result<evidence::Chain> ReadWhole(const host::StateDirectory& state,
                                                  const store::Sandbox& sandbox,
                                                  bool is_over) const {
    for (int reads = 1;; ++reads) {
      Result<evidence::Chain> chain =
          evidence::ReadChain(means_.files, state.Records(sandbox_), sandbox.incarnation);
      const bool may_be_whole_later =
          !chain && !is_over && chain.error().code == FailureCode::Tampered && reads < ReadsMax;
      if (chain) return chain;
      if (!may_be_whole_later) {
        return std::move(chain).error().In("nothing is shown, because the records do not hold");
      }
      std::this_thread::sleep_for(ReadPause);
    }
  }

  [[nodiscard]] std::string JsonLine(const Entry& entry) const {
    evidence::Json line = evidence::FlowFacts(entry.flow);
    line["version"] = 1;
    line["sandbox"] = sandbox_;
    line["record"] = entry.sequence;
    const Result<std::string> text = evidence::Canonical(line);
    CURFEW_CHECK(text.has_value(), "what was read from a record can be written");
    return *text + "\n";
  }

  static std::string Footer(const Audit& audit) {
    std::uint64_t requests = 0;
    std::uint64_t denied = 0;
    for (const Entry& entry : audit.entries) {
      requests += entry.flow.times;
      denied += entry.flow.allowed ? 0 : entry.flow.times;
    }
    std::string text = fmt::format(
        "{} requests, {} refused; {} records verified{}\n", requests, denied, audit.records,
        audit.is_over ? ", with the receipt" : "; no receipt binds them yet");
    if (audit.lost > 0) text += fmt::format("{} more could not be put on record\n", audit.lost);
    return text;
  }

  const Means& means_;
  bool denied_ = false;
  std::string sandbox_;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeAuditVerb(const Means& means) {
  return std::make_unique<AuditVerb>(means);
}

}  // namespace curfew::client
