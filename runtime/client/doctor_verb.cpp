#include "compiler/module/capability.h"
#include "runtime/client/station.h"
#include "runtime/client/verbs.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/machine/capabilities.h"
#include "runtime/network/network.h"

#include <algorithm>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

using machine::Finding;

constexpr std::string_view NoBoundary =
    "Sandboxes of this host are emulated, since KVM cannot be used: emulation is NO security "
    "boundary.\nOnly classes with `isolation any` run here.\n";

class DoctorVerb final : public Verb {
 public:
  explicit DoctorVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "doctor"; }
  [[nodiscard]] std::string_view summary() const override {
    return "say what this machine can do, and what is missing";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Everything is tried, nothing is assumed, and nothing is changed.\n"
           "exit status: 0 `curfew run` works here, 2 it cannot\n\nexample:\n  curfew doctor";
  }
  void Configure(CLI::App& app) override {
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }

  int Run(Console& console) override {
    const machine::Capabilities can = machine::Probe();
    std::vector<Finding> findings = {Root(), Keeper(), State(), NativeCode()};
    findings.insert(findings.end(), can.findings.begin(), can.findings.end());
    findings.push_back(Network());
    for (Finding& finding : Unbuilt()) findings.push_back(std::move(finding));
    const bool blocked = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
      return finding.needed && !finding.good;
    });
    const bool works = !blocked && (can.CanKvm() || can.CanEmulate());
    console.Out(format_ == "json" ? Json(findings, can, works) : Text(findings, can, works));
    return works ? exit_status::Fine : exit_status::No;
  }

 private:
  static Finding Root() {
    const bool good = geteuid() == 0;
    return {.name = "root",
            .good = good,
            .needed = true,
            .detail = good ? "this is root" : "this is not root",
            .remedy = good ? "" : "run curfew as root"};
  }

  [[nodiscard]] Finding Keeper() const {
    const bool good = access(means_.keeper_program.c_str(), X_OK) == 0;
    return {.name = "keeper",
            .good = good,
            .needed = true,
            .detail = means_.keeper_program + (good ? "" : " cannot be started"),
            .remedy = good ? "" : "build curfew-keeper, and keep it beside curfew"};
  }

  // Nothing is made here: where the directory is not there yet, its nearest folder must take it.
  [[nodiscard]] Finding State() const {
    std::string folder = state_;
    while (access(folder.c_str(), F_OK) != 0 && folder.rfind('/') != std::string::npos &&
           folder.rfind('/') > 0) {
      folder = folder.substr(0, folder.rfind('/'));
    }
    const bool good = access(folder.c_str(), W_OK) == 0;
    return {.name = "state",
            .good = good,
            .needed = true,
            .detail = state_ + (good ? " can be written" : " cannot be written"),
            .remedy = good ? "" : "name another with --state or CURFEW_STATE"};
  }

  // Made once, and dropped.
  static Finding Network() {
    const Outcome tried = network::TryWire();
    return {.name = "network",
            .good = tried.has_value(),
            .needed = false,
            .detail = tried ? "a sandbox can have a network that leads to its gateway alone"
                            : tried.error().message,
            .remedy = tried ? "" : "until then, classes that allow anything out are denied here"};
  }

  // What policy can ask for, and no host can do yet.
  static std::vector<Finding> Unbuilt() {
    std::vector<Finding> findings;
    for (const module::capability::Ability& ability : module::capability::Unbuilt) {
      findings.push_back({.name = std::string(ability.word),
                          .good = false,
                          .needed = false,
                          .detail = fmt::format("{}: not built yet", ability.does),
                          .remedy = "until then, what asks for it is denied here "
                                    "(`builtin.unsupported`)"});
    }
    return findings;
  }

  // Decisions are the same without it, and slower.
  [[nodiscard]] Finding NativeCode() const {
    const Outcome tried = means_.try_native_code();
    return {.name = "native",
            .good = tried.has_value(),
            .needed = false,
            .detail = tried ? "policies are compiled to native code"
                            : "policies are interpreted: " + tried.error().message,
            .remedy = tried ? ""
                            : "keep libcurfew_jit.so and its libLLVM beside curfew, and allow "
                              "it executable memory"};
  }

  static std::string Text(const std::vector<Finding>& findings, const machine::Capabilities& can,
                          bool works) {
    std::string text;
    for (const Finding& finding : findings) {
      text += fmt::format("{:8} {:10} {}\n",
                          finding.good     ? "ok"
                          : finding.needed ? "MISSING"
                                           : "without",
                          finding.name, Printable(finding.detail, 1000));
      if (!finding.remedy.empty()) text += fmt::format("{:19} {}\n", "", finding.remedy);
    }
    text += "\n";
    if (!works) return text + "`curfew run` cannot work on this machine yet.\n";
    if (!can.CanKvm()) text += NoBoundary;
    return text + "`curfew run` works on this machine.\n";
  }

  static std::string Json(const std::vector<Finding>& findings, const machine::Capabilities& can,
                          bool works) {
    evidence::Json list = evidence::Json::array();
    for (const Finding& finding : findings) {
      list.push_back({{"name", finding.name},
                      {"good", finding.good},
                      {"needed", finding.needed},
                      {"detail", finding.detail},
                      {"remedy", finding.remedy}});
    }
    const Result<std::string> text = evidence::Canonical({{"version", 1},
                                                          {"works", works},
                                                          {"kvm", can.CanKvm()},
                                                          {"emulation", can.CanEmulate()},
                                                          {"boundary", can.CanKvm()},
                                                          {"findings", std::move(list)}});
    return text ? *text + "\n" : std::string();
  }

  const Means& means_;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeDoctorVerb(const Means& means) {
  return std::make_unique<DoctorVerb>(means);
}

Verbs ClientVerbs(const Means& means) {
  Verbs verbs;
  verbs.push_back(MakeRunVerb(means));
  verbs.push_back(MakeReloadVerb(means));
  verbs.push_back(MakePsVerb(means));
  verbs.push_back(MakeAuditVerb(means));
  verbs.push_back(MakeReceiptVerb(means));
  verbs.push_back(MakeResidueVerb(means));
  verbs.push_back(MakeDoctorVerb(means));
  return verbs;
}

}  // namespace curfew::client
