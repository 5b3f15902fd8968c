#include "compiler/inspect/plan_changes.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/prove/differ.h"
#include "compiler/prove/prover.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/told_request.h"
#include "compiler/tool/verbs.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;
using prove::Differs;
using prove::Direction;

std::string_view WordFor(Differs tightens, Differs relaxes) {
  const bool tighter = tightens == Differs::Yes;
  const bool looser = relaxes == Differs::Yes;
  if (tighter && looser) return "both";
  if (tightens == Differs::Undecided || relaxes == Differs::Undecided) return "undecided";
  if (tighter) return "tightens";
  return looser ? "relaxes" : "same";
}

Differs Worse(Differs a, Differs b) {
  if (a == Differs::Yes || b == Differs::Yes) return Differs::Yes;
  return a == Differs::Undecided ? a : b;
}

// One of the two sets.
struct OneSet {
  Bytes bytes;
  std::optional<interpret::Interpreter> engine;
};

// What is told of a comparison, as lines and as JSON.
class Telling {
 public:
  Telling(const OneSet& before, const OneSet& after, const prove::SetDifference& difference)
      : before_(before), after_(after), difference_(difference) {
    for (const prove::Difference& one : difference.actions) {
      tightens_ = Worse(tightens_, one.tightens.differs);
      relaxes_ = Worse(relaxes_, one.relaxes.differs);
    }
  }

  [[nodiscard]] std::string_view word() const { return WordFor(tightens_, relaxes_); }
  [[nodiscard]] int status() const {
    const auto some_plan = [&](Differs differs) {
      return std::ranges::any_of(difference_.plans, [&](const prove::PlanDifference& plan) {
        return plan.example.differs == differs;
      });
    };
    const bool is_same = tightens_ != Differs::Yes && relaxes_ != Differs::Yes;
    if (!is_same || some_plan(Differs::Yes)) return exit_status::No;
    const bool is_undecided = word() == "undecided" || some_plan(Differs::Undecided);
    return is_undecided ? exit_status::Undecided : exit_status::Fine;
  }

  [[nodiscard]] std::string AsText() const {
    std::string text;
    for (const prove::Difference& one : difference_.actions) {
      text += fmt::format("{}{}{}: {}\n", one.class_name, one.class_name.empty() ? "" : " ",
                          schema::WordOf(one.action),
                          WordFor(one.tightens.differs, one.relaxes.differs));
      Append(text, "allowed before", before_, "denied now", after_, one.tightens);
      Append(text, "allowed now", after_, "denied before", before_, one.relaxes);
    }
    for (const prove::PlanDifference& plan : difference_.plans) text += TextOf(plan);
    const bool has_plans = word() == "same" && !difference_.plans.empty();
    return text + fmt::format("the set as a whole: {}{}\n", word(),
                              has_plans ? " answers, with other plans" : "");
  }

  [[nodiscard]] std::string AsJson() const {
    Json json = {
        {"version", 1}, {"change", word()}, {"actions", Json::array()}, {"plans", Json::array()}};
    for (const prove::Difference& one : difference_.actions) {
      json["actions"].push_back({{"action", schema::WordOf(one.action)},
                                 {"class", one.class_name},
                                 {"change", WordFor(one.tightens.differs, one.relaxes.differs)},
                                 {"tightens", JsonOf(one.tightens)},
                                 {"relaxes", JsonOf(one.relaxes)}});
    }
    for (const prove::PlanDifference& plan : difference_.plans) {
      Json differs = Json::array();
      for (const inspect::PlanChange& change : ChangesOf(plan)) {
        differs.push_back(
            {{"what", change.what}, {"before", change.before}, {"after", change.after}});
      }
      json["plans"].push_back({{"class", plan.class_name},
                               {"now_class", plan.now_class},
                               {"differs", std::move(differs)},
                               {"example", JsonOf(plan.example)}});
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  [[nodiscard]] std::vector<inspect::PlanChange> ChangesOf(
      const prove::PlanDifference& plan) const {
    const module::PolicyModule& before = before_.engine->module();
    const module::PolicyModule& after = after_.engine->module();
    const auto old = before.FindClass(plan.class_name);
    const auto now = after.FindClass(plan.now_class);
    if (!old || !now) return {};
    return inspect::ChangesBetween(before.plan(*old), after.plan(*now));
  }

  [[nodiscard]] std::string TextOf(const prove::PlanDifference& plan) const {
    const bool is_moved = plan.class_name != plan.now_class;
    const std::string what =
        is_moved ? fmt::format("now of class {}", plan.now_class) : "another plan";
    if (plan.example.differs == Differs::Undecided) {
      return fmt::format("{} create: whether some are {} is undecided: {}\n", plan.class_name, what,
                         Printable(plan.example.why));
    }
    std::string text =
        fmt::format("{} create: {}{}\n", plan.class_name, is_moved ? "some are " : "", what);
    for (const inspect::PlanChange& change : ChangesOf(plan)) {
      text += fmt::format("  {:<10} {} → {}\n", change.what, Printable(change.before, 400),
                          Printable(change.after, 400));
    }
    return text;
  }

  static std::string Ids(const std::vector<Reason>& reasons) {
    std::string text;
    for (const Reason& reason : reasons) text.append(text.empty() ? "" : ", ").append(reason.id);
    return text;
  }

  static void Append(std::string& text, std::string_view allowed, const OneSet& allows,
                     std::string_view denied, const OneSet& denies, const Direction& direction) {
    if (direction.differs == Differs::Undecided) {
      text += fmt::format("  whether anything is {} and {} is undecided: {}\n", allowed, denied,
                          Printable(direction.why));
    }
    if (direction.differs != Differs::Yes) return;
    const auto one = Tell(*allows.engine, direction.request);
    const auto other = Tell(*denies.engine, direction.other);
    if (!one) return;
    text += fmt::format("  {} by {}, {} by {}\n", allowed, Ids(one->answer.allows), denied,
                        other ? Ids(other->answer.denials) : "request.invalid");
    // What the denial reads tells more than what the allow does, and both are told.
    ToldRequest told = *one;
    if (other) {
      for (const std::string& fact : other->facts) {
        if (std::ranges::find(told.facts, fact) == told.facts.end()) told.facts.push_back(fact);
      }
    }
    text += FactLines(told, "    ");
  }

  static Json JsonOf(const Direction& direction) {
    switch (direction.differs) {
      case Differs::No:
        return {{"found", false}};
      case Differs::Yes:
        return {{"found", true}, {"request", Json::parse(direction.request)}};
      case Differs::Undecided:
        return {{"found", nullptr}, {"why", direction.why}};
    }
    CURFEW_UNREACHABLE("the switch names every answer");
  }

  const OneSet& before_;
  const OneSet& after_;
  const prove::SetDifference& difference_;
  Differs tightens_ = Differs::No;
  Differs relaxes_ = Differs::No;
};

class DiffVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "diff"; }
  [[nodiscard]] std::string_view summary() const override {
    return "say whether a change of a policy set tightens, relaxes or both, with requests that "
           "show it";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Of each action and class: a request that the old set allows and the new one denies "
           "(it tightens),\nand one the other way (it relaxes); where neither is there, that is "
           "proven. Creates that get\nanother plan are named, with what differs. With --format "
           "json the requests are "
           "those of `eval`.\n"
           "exit status: 0 the same, 2 they differ, 4 undecided, 3 a policy is invalid, 1 could "
           "not run\n\n"
           "example:\n  curfew diff deployed.bundle policies/";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    app.add_option("OLD", old_, "a file, a folder or a bundle")->required();
    app.add_option("NEW", new_, "the same")->required();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--steps", steps_,
                   "how much work is spent on each action of a class, the same on every machine")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000}));
    trust_.Configure(app);
    root_.Configure(app);
  }

  Result<int> TryRun(Console& console) override {
    OneSet before;
    OneSet after;
    for (const auto& [path, set] : {std::pair(&old_, &before), std::pair(&new_, &after)}) {
      CURFEW_TRY(const int status, Open(*path, *set, console));
      if (status != 0) return status;
    }
    CURFEW_TRY(const prove::SetDifference difference,
               prove::DiffSets(prove::LibraryBesideProgram(), before.bytes, after.bytes, steps_));
    const Telling telling(before, after, difference);
    console.Out(format_ == "json" ? telling.AsJson() : telling.AsText());
    return telling.status();
  }

  // Nevers are denials here; whether they are proven is a question of its own.
  Result<int> Open(const std::string& path, OneSet& set, Console& console) const {
    const std::vector<std::string> paths{path};
    CURFEW_TRY(std::optional<module::Bundle> bundle, OpenBundle(paths, trust_.keys()));
    if (bundle) {
      set.bytes = std::move(bundle->content.module);
    } else {
      CURFEW_TRY(Compilation made,
                 CompileSet(paths, {.root = root_.folder(), .proofs = Proofs::LeftToCaller}));
      if (const int status = PrintDiagnostics(made, console); status != 0) return status;
      set.bytes = std::move(made.module);
    }
    CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(set.bytes, 1));
    set.engine.emplace(std::move(policy));
    return exit_status::Fine;
  }

  std::string old_;
  std::string new_;
  std::string format_ = "text";
  std::uint64_t steps_ = prove::DiffStepsMax;
  TrustOption trust_;
  RootOption root_;
};

}  // namespace

std::unique_ptr<Verb> MakeDiffVerb() { return std::make_unique<DiffVerb>(); }

}  // namespace curfew::tool
