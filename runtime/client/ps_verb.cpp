#include "compiler/values/quantity.h"
#include "runtime/client/station.h"
#include "runtime/evidence/canonical_json.h"

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
};

class PsVerb final : public Verb {
 public:
  explicit PsVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "ps"; }
  [[nodiscard]] std::string_view summary() const override {
    return "list sandboxes, after finishing those that lost their keeper";
  }
  [[nodiscard]] std::string_view example() const override {
    return "exit status: 0, or 1 could not run\n\nexample:\n  curfew ps --all";
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
    static_cast<void>(swept);
    CURFEW_TRY(const std::vector<store::Sandbox> sandboxes, station->store().List(false));
    std::vector<Seen> seen;
    for (const store::Sandbox& sandbox : sandboxes) {
      const bool over = sandbox.state == store::SandboxState::Closed;
      if (over && !all_) continue;
      seen.push_back(Look(sandbox));
    }
    console.Out(format_ == "json" ? Json(seen) : Table(seen));
    return Ok();
  }

  [[nodiscard]] Seen Look(const store::Sandbox& sandbox) const {
    Seen seen{.sandbox = sandbox, .keeper_lives = false, .age_ms = 0, .left_ms = std::nullopt};
    const Result<bool> lives = lifecycle::KeeperLives(means_.processes, means_.clock, sandbox);
    seen.keeper_lives = lives && *lives;
    seen.age_ms = sandbox.closed_ms.value_or(means_.clock.WallNowMs()) - sandbox.created_ms;
    if (sandbox.deadline_boot_ms && store::IsOpen(sandbox.state) &&
        sandbox.boot_id == means_.clock.BootId()) {
      seen.left_ms = *sandbox.deadline_boot_ms - means_.clock.MonotonicNowMs();
    }
    return seen;
  }

  static std::string Span(std::int64_t ms) { return values::DurationText(ms / 1000 * 1000); }

  static std::string Table(const std::vector<Seen>& seen) {
    std::string text = fmt::format("{:19}  {:11}  {:8}  {:8}  {:6}  {:16}  {}\n", "SANDBOX",
                                   "STATE", "AGE", "LEFT", "KEEPER", "CLASS", "TASK");
    for (const Seen& one : seen) {
      text += fmt::format("{:19}  {:11}  {:8}  {:8}  {:6}  {:16}  {}\n", one.sandbox.incarnation.id,
                          NameOf(one.sandbox.state), Span(one.age_ms),
                          one.left_ms ? Span(*one.left_ms) : "-", one.keeper_lives ? "alive" : "-",
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
