#include "compiler/values/quantity.h"
#include "runtime/client/station.h"
#include "runtime/evidence/canonical_json.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

// One line of the list.
struct Seen {
  store::Sandbox sandbox;
  bool keeper_lives = false;
  std::int64_t age_ms = 0;
  std::optional<std::int64_t> left_ms;
  bool overdue = false;  // its keeper did not end it in time: it was ended now, or could not be
};

class PsVerb final : public Verb {
 public:
  explicit PsVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "ps"; }
  [[nodiscard]] std::string_view summary() const override {
    return "list sandboxes, after finishing those that lost their keeper";
  }
  [[nodiscard]] std::string_view example() const override {
    return "A sandbox whose keeper did not end it in time is ended now, and shown as overdue.\n"
           "exit status: 0, or 1 could not run\n\nexample:\n  curfew ps --all";
  }
  void Configure(CLI::App& app) override {
    app.add_flag("--all", all_, "closed ones too");
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }

  int Run(Console& console) override {
    const Outcome listed = List(console);
    if (listed) return exit_status::Fine;
    console.Complain(listed.error().message);
    return ExitStatusOf(listed.error().code);
  }

 private:
  Outcome List(Console& console) {
    CURFEW_TRY(const std::unique_ptr<Station> station, Station::Open(means_, state_));
    CURFEW_TRY(const lifecycle::SweepReport swept, station->Sweep(console, false));
    CURFEW_TRY(const std::vector<store::Sandbox> sandboxes, station->store().List(false));
    std::vector<Seen> seen;
    for (const store::Sandbox& sandbox : sandboxes) {
      const bool was_overdue = std::find(swept.overdue.begin(), swept.overdue.end(),
                                         sandbox.incarnation.id) != swept.overdue.end();
      const bool over = sandbox.state == store::SandboxState::Closed;
      if (over && !all_ && !was_overdue) continue;
      seen.push_back(Look(sandbox));
      seen.back().overdue = was_overdue || lifecycle::IsOverdue(means_.clock, sandbox);
    }
    console.Out(format_ == "json" ? Json(seen) : Table(seen));
    return Ok();
  }

  [[nodiscard]] Seen Look(const store::Sandbox& sandbox) const {
    Seen seen;
    seen.sandbox = sandbox;
    const Result<bool> lives = lifecycle::KeeperLives(means_.processes, means_.clock, sandbox);
    seen.keeper_lives = lives && *lives;
    seen.age_ms = sandbox.closed_ms.value_or(means_.clock.WallNowMs()) - sandbox.created_ms;
    seen.left_ms = lifecycle::TimeLeftMs(means_.clock, sandbox);
    return seen;
  }

  static std::string Span(std::int64_t ms) { return values::DurationText(ms / 1000 * 1000); }

  static std::string Left(const Seen& one) {
    if (one.overdue) return "overdue";
    return one.left_ms ? Span(*one.left_ms) : "-";
  }

  static std::string Table(const std::vector<Seen>& seen) {
    std::string text = fmt::format("{:19}  {:11}  {:8}  {:8}  {:6}  {:16}  {}\n", "SANDBOX",
                                   "STATE", "AGE", "LEFT", "KEEPER", "CLASS", "TASK");
    for (const Seen& one : seen) {
      text += fmt::format("{:19}  {:11}  {:8}  {:8}  {:6}  {:16}  {}\n", one.sandbox.incarnation.id,
                          NameOf(one.sandbox.state), Span(one.age_ms), Left(one),
                          one.keeper_lives ? "alive" : "-",
                          one.sandbox.sandbox_class.empty() ? "-" : one.sandbox.sandbox_class,
                          Printable(one.sandbox.task_id, 60));
    }
    return text;
  }

  static std::string Json(const std::vector<Seen>& seen) {
    evidence::Json list = evidence::Json::array();
    for (const Seen& one : seen) {
      evidence::Json line = {{"sandbox", one.sandbox.incarnation.id},
                             {"state", std::string(NameOf(one.sandbox.state))},
                             {"class", one.sandbox.sandbox_class},
                             {"task", one.sandbox.task_id},
                             {"owner", one.sandbox.owner},
                             {"creator", one.sandbox.creator},
                             {"created_ms", one.sandbox.created_ms},
                             {"age_ms", one.age_ms},
                             {"keeper_alive", one.keeper_lives},
                             {"overdue", one.overdue},
                             {"close_reason", one.sandbox.close_reason}};
      if (one.left_ms) line["left_ms"] = *one.left_ms;
      if (one.sandbox.deadline_ms) line["deadline_ms"] = *one.sandbox.deadline_ms;
      if (one.sandbox.keeper && one.keeper_lives) line["keeper_pid"] = one.sandbox.keeper->pid;
      list.push_back(std::move(line));
    }
    const Result<std::string> text =
        evidence::Canonical({{"version", 1}, {"sandboxes", std::move(list)}});
    return text ? *text + "\n" : std::string();
  }

  const Means& means_;
  bool all_ = false;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakePsVerb(const Means& means) { return std::make_unique<PsVerb>(means); }

}  // namespace curfew::client
