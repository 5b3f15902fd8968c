#include "runtime/client/station.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/residue.h"
#include "runtime/machine/cgroups.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

using evidence::Cleanness;

struct Searched {
  std::string sandbox_id;
  Cleanness verdict = Cleanness::Unknown;
  std::vector<evidence::ResidueFinding> findings;
};

class ResidueVerb final : public Verb {
 public:
  explicit ResidueVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "residue"; }
  [[nodiscard]] std::string_view summary() const override {
    return "search this host for what sandboxes left behind";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Finishes sandboxes that lost their keeper, looks again at those in quarantine, and "
           "then searches\nfor each sandbox that is over. --all also searches for sandboxes that "
           "this state does not know.\n"
           "exit status: 0 nothing is left; 2 something is, or could not be judged; 1 could not "
           "run\n\nexample:\n  curfew residue\n  curfew residue cf-abcdefghij234567";
  }
  void Configure(CLI::App& app) override {
    app.add_option("SANDBOX", which_, "one sandbox's id (default: all that this state knows)");
    app.add_flag("--all", all_, "also what this state does not know");
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }

  int Run(Console& console) override {
    const Result<int> status = Search(console);
    if (status) return *status;
    console.Complain(status.error().message);
    return ExitStatusOf(status.error().code);
  }

 private:
  Result<int> Search(Console& console) {
    CURFEW_TRY(const std::unique_ptr<Station> station, Station::Open(means_, state_));
    CURFEW_TRY(const lifecycle::SweepReport swept, station->Sweep(console, true));
    CURFEW_TRY(const std::vector<store::Sandbox> sandboxes, Which(*station));
    std::vector<Searched> searched;
    for (const store::Sandbox& sandbox : sandboxes) {
      if (store::IsOpen(sandbox.state)) continue;
      CURFEW_TRY(const evidence::ResidueQuery query,
                 lifecycle::ResidueQueryOf(station->store(), station->state(), sandbox));
      const evidence::ResidueReport report =
          evidence::SearchResidue(means_.files, means_.networks, means_.clock, query);
      searched.push_back({.sandbox_id = sandbox.incarnation.id,
                          .verdict = report.verdict(),
                          .findings = report.findings});
    }
    if (all_) CURFEW_TRY_VOID(SearchUnknown(sandboxes, searched));
    console.Out(format_ == "json" ? Json(searched) : Text(searched));
    const bool clean = std::all_of(searched.begin(), searched.end(), [](const Searched& one) {
      return one.verdict == Cleanness::Clean;
    });
    return clean && swept.failures.empty() ? exit_status::Fine : exit_status::No;
  }

  Result<std::vector<store::Sandbox>> Which(Station& station) const {
    if (which_.empty()) return station.store().List(false);
    if (!IsSandboxId(which_)) {
      return Failure(FailureCode::Usage,
                     Printable(which_) + " is no sandbox's id; `curfew ps --all` lists them");
    }
    Result<store::Sandbox> one = station.store().FindById(which_);
    if (!one) return std::move(one).error();
    if (store::IsOpen(one->state)) {
      return Failure(FailureCode::Busy, which_ + " is still open; `curfew ps` says how long");
    }
    return std::vector<store::Sandbox>{*std::move(one)};
  }

  // Traces of sandboxes that are in no catalogue of ours. One whose machine has a living keeper
  // belongs to another state directory.
  Outcome SearchUnknown(const std::vector<store::Sandbox>& known, std::vector<Searched>& searched) {
    CURFEW_TRY(const std::vector<std::string> seen,
               evidence::SandboxesSeen(means_.files, means_.networks));
    for (const std::string& id : seen) {
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto& sandbox) {
        return sandbox.incarnation.id == id;
      });
      if (is_known || HasKeeper(id)) continue;
      searched.push_back(
          {.sandbox_id = id,
           .verdict = Cleanness::Dirty,
           .findings = {
               {.residue_class = evidence::ResidueClass::Cgroup,
                .fate = evidence::Fate::Kept,
                .identity = id,
                .why = "it left a trace here, and this state directory does not know it"}}});
    }
    return Ok();
  }

  [[nodiscard]] bool HasKeeper(const std::string& id) const {
    const Result<std::vector<int>> members = machine::Cgroups::Find(id).Members();
    if (!members) return false;
    return std::any_of(members->begin(), members->end(), [this](int pid) {
      const Result<host::ProcessStat> member = means_.processes.StatOf(pid);
      if (!member) return false;
      const Result<host::ProcessStat> parent = means_.processes.StatOf(member->parent);
      return parent && parent->name == "curfew-keeper";
    });
  }

  static std::string Text(const std::vector<Searched>& searched) {
    std::string text;
    std::size_t clean = 0;
    for (const Searched& one : searched) {
      if (one.verdict == Cleanness::Clean) {
        ++clean;
        continue;
      }
      text += fmt::format("{}  {}\n", one.sandbox_id, NameOf(one.verdict));
      for (const evidence::ResidueFinding& finding : one.findings) {
        text +=
            fmt::format("  {:12} {:8} {}: {}\n", NameOf(finding.residue_class),
                        NameOf(finding.fate), Printable(finding.identity), Printable(finding.why));
      }
    }
    return text + fmt::format("{} of {} left nothing\n", clean,
                              Counted(searched.size(), "sandbox", "sandboxes"));
  }

  static std::string Json(const std::vector<Searched>& searched) {
    evidence::Json list = evidence::Json::array();
    for (const Searched& one : searched) {
      evidence::Json findings = evidence::Json::array();
      for (const evidence::ResidueFinding& finding : one.findings) {
        findings.push_back({{"class", std::string(NameOf(finding.residue_class))},
                            {"fate", std::string(NameOf(finding.fate))},
                            {"identity", finding.identity},
                            {"why", finding.why}});
      }
      list.push_back({{"sandbox", one.sandbox_id},
                      {"verdict", std::string(NameOf(one.verdict))},
                      {"findings", std::move(findings)}});
    }
    const Result<std::string> text =
        evidence::Canonical({{"version", 1}, {"sandboxes", std::move(list)}});
    return text ? *text + "\n" : std::string();
  }

  const Means& means_;
  std::string which_;
  bool all_ = false;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeResidueVerb(const Means& means) {
  return std::make_unique<ResidueVerb>(means);
}

}  // namespace curfew::client
