#include "compiler/testing/run_tests.h"

#include "compiler/explain/story.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request_axioms.h"
#include "compiler/testing/why.h"
#include "compiler/testing/world.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::testing {
namespace {

using schema::Action;

constexpr std::size_t kQuestionBytesMax = 160;

std::vector<std::string> IdsOf(const module::RuleList& list, const module::PolicyModule& policy) {
  std::vector<std::string> ids;
  for (const module::RuleIndex rule : list.written()) ids.emplace_back(policy.rule(rule).id);
  // Rules stand by id, and an id with several reasons is one id.
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::string> ExpectedIdsOf(const model::AskStep& ask) {
  std::vector<std::string> ids;
  for (const model::ExpectedId& id : ask.ids) ids.push_back(id.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string Say(bool allow, bool only, const std::vector<std::string>& ids) {
  return fmt::format("{}{}{}{}", allow ? "allow" : "deny", only ? " only" : "",
                     ids.empty() ? "" : " ", fmt::join(ids, ", "));
}

// A fact's value for people, in the form that policy text has.
std::string TextOf(const model::Constant& constant, const model::PolicyModel& model) {
  const auto one = [&](const model::Scalar& scalar) -> std::string {
    if (const auto* text = std::get_if<std::string>(&scalar)) return *text;
    if (const auto* digest = std::get_if<Digest>(&scalar)) return ToString(*digest);
    if (const auto* address = std::get_if<values::Address>(&scalar)) return ToString(*address);
    if (const auto* block = std::get_if<values::Cidr>(&scalar)) return ToString(*block);
    const std::int64_t integer = std::get<std::int64_t>(scalar);
    switch (constant.type.kind) {
      case schema::TypeKind::Duration:
        return values::DurationText(integer);
      case schema::TypeKind::Size:
        return values::SizeText(integer);
      case schema::TypeKind::Time:
        return values::TimeText(integer);
      case schema::TypeKind::Bool:
        return integer != 0 ? "true" : "false";
      case schema::TypeKind::Enum: {
        const auto& words = model.enums[static_cast<std::size_t>(constant.type.enumeration)].values;
        return words[static_cast<std::size_t>(integer)];
      }
      case schema::TypeKind::Int:
      case schema::TypeKind::Text:
      case schema::TypeKind::Principal:
      case schema::TypeKind::Ip:
      case schema::TypeKind::Cidr:
      case schema::TypeKind::Host:
      case schema::TypeKind::UrlPath:
      case schema::TypeKind::FilePath:
      case schema::TypeKind::Digest:
        break;
    }
    return std::to_string(integer);
  };
  if (const auto* scalar = std::get_if<model::Scalar>(&constant.value)) return one(*scalar);
  std::vector<std::string> items;
  for (const auto& item : std::get<std::vector<model::Scalar>>(constant.value)) {
    items.push_back(one(item));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

// What the plan says under one of the names that `with { … }` may use.
std::optional<std::string> PlanText(std::string_view name, const module::PlanTemplate& granted,
                                    const module::CreatePlan& plan) {
  if (name == "ttl") return values::DurationText(plan.ttl_ms);
  if (name == "idle") {
    return granted.idle_ms ? std::optional(values::DurationText(*granted.idle_ms)) : std::nullopt;
  }
  if (name == "frozen") {
    return granted.frozen_ms ? std::optional(values::DurationText(*granted.frozen_ms))
                             : std::nullopt;
  }
  if (name == "renewals") return std::to_string(granted.renewal ? granted.renewal->times : 0);
  if (name == "grace") return values::DurationText(granted.grace_ms);
  if (name == "cpu") return std::to_string(plan.cpu);
  if (name == "memory") return values::SizeText(plan.memory_bytes);
  if (name == "disk") {
    return plan.disk_bytes ? std::optional(values::SizeText(*plan.disk_bytes)) : std::nullopt;
  }
  if (name == "image") return ToString(plan.image.digest);
  if (name == "retain") return values::DurationText(granted.evidence.retain_ms);
  if (name == "isolation") return plan.isolation == module::Isolation::Kvm ? "kvm" : "any";
  return std::nullopt;
}

// "create image python312, ttl 2h" of "create image python312, ttl 2h   -> allow coding".
std::string QuestionOf(std::string_view written) {
  std::string question;
  bool in_string = false;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    if (c == '"' && (i == 0 || written[i - 1] != '\\')) in_string = !in_string;
    if (!in_string && written.substr(i).starts_with("->")) break;
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (is_blank && !in_string) {
      if (!question.empty() && question.back() != ' ') question += ' ';
    } else {
      question += c;
    }
  }
  while (question.ends_with(' ')) question.pop_back();
  if (question.size() > kQuestionBytesMax) {
    std::size_t end = kQuestionBytesMax;
    while ((static_cast<unsigned char>(question[end]) & 0xC0) == 0x80) --end;
    question.resize(end);
    question += "…";
  }
  return question;
}

class TestRun {
 public:
  TestRun(const model::PolicyModel& model, const source::SourceMap& sources,
          const module::DecisionEngine& engine, const Reloads& reloads,
          std::set<module::RuleIndex>& met, ClauseCoverage& clauses)
      : model_(model),
        sources_(sources),
        first_engine_(&engine),
        engine_(&engine),
        reloads_(reloads),
        met_(met),
        clauses_(clauses),
        world_(model) {}

  TestReport Run(const model::Test& test) {
    TestReport report{test.name, test.span, {}, false};
    for (const model::TestStep& step : test.steps) {
      if (const auto* given = std::get_if<model::GivenStep>(&step.what)) {
        world_.Give(*given);
      } else if (const auto* after = std::get_if<model::AfterStep>(&step.what)) {
        world_.PassTime(after->duration_ms);
      } else if (const auto* at = std::get_if<model::AtStep>(&step.what)) {
        world_.SetNow(at->time_ms);
      } else if (std::holds_alternative<model::CloseStep>(step.what)) {
        world_.Close();
      } else if (std::holds_alternative<model::FreezeStep>(step.what)) {
        world_.Freeze();
      } else if (const auto* reload = std::get_if<model::ReloadStep>(&step.what)) {
        if (!Reload(*reload, step.span)) {
          report.asks.push_back(NotReloaded(*reload, step.span));
          break;
        }
      } else {
        const auto& ask = std::get<model::AskStep>(step.what);
        report.asks.push_back(Ask(ask, step.span));
        if (ask.action == Action::Create && ask.allow && !world_.has_sandbox()) {
          report.cut_short = &step != &test.steps.back();
          break;
        }
      }
    }
    return report;
  }

 private:
  bool Reload(const model::ReloadStep& reload, source::Span span) {
    const auto found = reloads_.find({span.file, reload.file});
    if (found == reloads_.end()) return false;
    engine_ = found->second.engine;
    const std::string* class_name = world_.class_name();
    const auto index = class_name == nullptr ? std::nullopt : policy().FindClass(*class_name);
    world_.Reload(*found->second.model, index ? &policy().plan(*index) : nullptr);
    return true;
  }

  AskReport NotReloaded(const model::ReloadStep& reload, source::Span span) const {
    AskReport report;
    report.span = span;
    report.question = QuestionOf(sources_.text(span));
    report.expected = "another policy set";
    report.actual = "none";
    report.failure = fmt::format("the policy set `{}` was not loaded", reload.file);
    return report;
  }

  // What was decided, as the test's answer sees it.
  struct Decided {
    bool allowed = false;
    std::vector<std::string> ids;
    std::vector<std::string> trials;
    std::vector<std::string> why;
    std::string depends_on;    // a fact that the test leaves unknown, if the answer rests on one
    bool only_nevers = false;  // deny: what the proof of the set excludes
  };

  Decided Decide(const module::Request& request, module::Verdict& verdict) {
    engine_->Decide(request, verdict);
    const explain::Story story = explain::StoryOf(policy(), request, verdict);
    if (engine_ == first_engine_) {
      for (const auto rule : verdict.denials.written()) met_.insert(rule);
      for (const auto rule : verdict.allows.written()) met_.insert(rule);
      for (const auto rule : verdict.trials.written()) met_.insert(rule);
      clauses_.See(story.judged, verdict);
    }
    Decided decided;
    decided.allowed = verdict.effect == module::Effect::Allow;
    decided.ids = IdsOf(decided.allowed ? verdict.allows : verdict.denials, policy());
    decided.trials = IdsOf(verdict.trials, policy());
    decided.why = WhyOf(policy(), story, decided.allowed);
    decided.only_nevers = module::OnlyNeversDeny(policy(), verdict);
    if (verdict.undecided && !world_.HidesHttp(request)) {
      decided.depends_on = PathOf(request.action(), verdict.undecided_slot);
    }
    return decided;
  }

  AskReport Ask(const model::AskStep& ask, source::Span span) {
    if (ask.action == Action::Resume && ask.snapshot) return AskResume(ask, span);
    const module::Request request = world_.Ask(ask);
    if (const auto broken = module::BrokenAxioms(request); !broken.empty()) {
      return Invalid(ask, span, broken.front());
    }
    module::VerdictRoom room;
    const Decided decided = Decide(request, room.verdict);
    AskReport report = ReportOf(ask, span, decided);
    if (decided.allowed) Apply(ask, request, room.verdict, report);
    SayTrials(ask, decided.trials, report);
    return report;
  }

  // A resume from a snapshot is two decisions, of which the second is only asked after the first is
  // an allow; the answer is that of both.
  AskReport AskResume(const model::AskStep& ask, source::Span span) {
    const module::Request create = world_.AskCreateOf(ask);
    if (const auto broken = module::BrokenAxioms(create); !broken.empty()) {
      return Invalid(ask, span, broken.front());
    }
    module::VerdictRoom room;
    Decided decided = Decide(create, room.verdict);
    if (!decided.allowed) return WithTrials(ask, span, decided);
    const module::PlanTemplate& granted = policy().plan(room.verdict.class_index);
    const std::optional<module::CreatePlan> plan = module::PlanOf(granted, create);
    if (!plan) return Unfit(ask, span, decided);

    const module::Request resume = world_.AskResumeOf(ask, granted, *plan);
    if (const auto broken = module::BrokenAxioms(resume); !broken.empty()) {
      return Invalid(ask, span, broken.front());
    }
    module::VerdictRoom second;
    Decided resumed = Decide(resume, second.verdict);
    Add(resumed.trials, decided.trials);
    if (!resumed.allowed) return WithTrials(ask, span, resumed);
    Add(resumed.ids, decided.ids);
    resumed.why.insert(resumed.why.end(), decided.why.begin(), decided.why.end());
    AskReport report = ReportOf(ask, span, resumed);
    world_.Resumed(ask, granted, *plan);
    ComparePlan(ask, granted, *plan, report);
    SayTrials(ask, resumed.trials, report);
    return report;
  }

  // Sorted, each once.
  static void Add(std::vector<std::string>& ids, const std::vector<std::string>& more) {
    ids.insert(ids.end(), more.begin(), more.end());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }

  AskReport WithTrials(const model::AskStep& ask, source::Span span, const Decided& decided) const {
    AskReport report = ReportOf(ask, span, decided);
    SayTrials(ask, decided.trials, report);
    return report;
  }

  AskReport ReportOf(const model::AskStep& ask, source::Span span, const Decided& decided) const {
    const std::vector<std::string> expected_ids = ExpectedIdsOf(ask);
    AskReport report;
    report.span = span;
    report.question = QuestionOf(sources_.text(span));
    report.expected = Say(ask.allow, ask.only, expected_ids);
    report.actual = Say(decided.allowed, false, decided.ids);
    report.failure = FailureOf(ask, decided, expected_ids);
    if (!report.passed()) report.why = decided.why;
    return report;
  }

  AskReport Unfit(const model::AskStep& ask, source::Span span, const Decided& decided) const {
    AskReport report = ReportOf(ask, span, decided);
    report.failure = "internal fault: the plan does not fit the create that was allowed";
    return report;
  }

  // Facts that no request can have: denied as a whole, as the gate denies it.
  AskReport Invalid(const model::AskStep& ask, source::Span span,
                    const module::RequestProblem& why) const {
    constexpr std::string_view kInvalid = "request.invalid";
    const std::vector<std::string> expected_ids = ExpectedIdsOf(ask);
    const bool as_expected =
        !ask.allow && std::all_of(expected_ids.begin(), expected_ids.end(),
                                  [&](const std::string& id) { return id == kInvalid; });
    AskReport report;
    report.span = span;
    report.question = QuestionOf(sources_.text(span));
    report.expected = Say(ask.allow, ask.only, expected_ids);
    report.actual = Say(false, false, {std::string(kInvalid)});
    if (!as_expected) {
      report.failure =
          fmt::format("no request can have these facts: {}: {}", why.pointer, why.message);
    }
    return report;
  }

  static std::string FailureOf(const model::AskStep& ask, const Decided& decided,
                               const std::vector<std::string>& expected_ids) {
    const std::vector<std::string>& ids = decided.ids;
    if (!decided.depends_on.empty()) {
      return fmt::format("the answer depends on `{}`, which the test does not give",
                         decided.depends_on);
    }
    if (decided.only_nevers) return std::string(module::OnlyNeversDenySentence);
    if (decided.allowed != ask.allow) {
      return ask.allow ? "an allow was expected, and it is denied"
                       : "a denial was expected, and it is allowed";
    }
    for (const std::string& id : expected_ids) {
      if (!std::binary_search(ids.begin(), ids.end(), id)) {
        return fmt::format("`{}` is not among the reasons", id);
      }
    }
    if (ask.only && ids != expected_ids) return "there are other reasons as well";
    return "";
  }

  // What would have denied, as far as there is any or the test asks.
  static void SayTrials(const model::AskStep& ask, const std::vector<std::string>& trials,
                        AskReport& report) {
    std::vector<std::string> expected;
    for (const model::ExpectedId& id : ask.trial_ids) expected.push_back(id.id);
    const auto text = [](bool allow, const std::vector<std::string>& ids) {
      return fmt::format(", trial {} {}", allow ? "allow" : "deny", fmt::join(ids, ", "));
    };
    if (!expected.empty()) report.expected += text(ask.trial_allow, expected);
    if (!trials.empty()) report.actual += text(false, trials);
    for (const std::string& id : expected) {
      const bool denies = std::find(trials.begin(), trials.end(), id) != trials.end();
      if (denies == !ask.trial_allow || !report.failure.empty()) continue;
      report.failure = ask.trial_allow ? fmt::format("the trial `{}` would have denied", id)
                                       : fmt::format("the trial `{}` denies nothing", id);
    }
  }

  // What an allow changes in the world, and what its plan says.
  void Apply(const model::AskStep& ask, const module::Request& request,
             const module::Verdict& verdict, AskReport& report) {
    if (ask.action != Action::Create) {
      world_.Allowed(ask, request);
      return;
    }
    const module::PlanTemplate& granted = policy().plan(verdict.class_index);
    const std::optional<module::CreatePlan> plan = module::PlanOf(granted, request);
    if (!plan) {
      report.failure = "internal fault: the plan does not fit the create that was allowed";
      return;
    }
    world_.Created(granted, *plan);
    ComparePlan(ask, granted, *plan, report);
  }

  void ComparePlan(const model::AskStep& ask, const module::PlanTemplate& granted,
                   const module::CreatePlan& plan, AskReport& report) const {
    std::vector<std::string> wanted;
    std::vector<std::string> actual;
    for (const model::Fact& fact : ask.plan) {
      const std::string want = fact.value ? TextOf(*fact.value, model_) : "none";
      const std::string have = PlanText(fact.path, granted, plan).value_or("none");
      wanted.push_back(fmt::format("{}: {}", fact.path, want));
      actual.push_back(fmt::format("{}: {}", fact.path, have));
      if (have != want && report.failure.empty()) {
        report.failure = fmt::format("the plan says {} {}, not {}", fact.path, have, want);
      }
    }
    if (wanted.empty()) return;
    report.expected += fmt::format(" with {{ {} }}", fmt::join(wanted, ", "));
    report.actual += fmt::format(" with {{ {} }}", fmt::join(actual, ", "));
  }

  [[nodiscard]] std::string PathOf(Action action, schema::Slot slot) const {
    const auto attributes = schema::AttributesOf(action);
    if (slot < attributes.size()) return std::string(attributes[slot].path);
    return policy().declared()[slot - attributes.size()].path;
  }
  [[nodiscard]] const module::PolicyModule& policy() const { return engine_->module(); }

  const model::PolicyModel& model_;
  const source::SourceMap& sources_;
  const module::DecisionEngine* first_engine_;  // of the test's own set, whose coverage is counted
  const module::DecisionEngine* engine_;        // of the set that decides
  const Reloads& reloads_;
  std::set<module::RuleIndex>& met_;
  ClauseCoverage& clauses_;
  World world_;
};

CoverageReport CoverageOf(const model::PolicyModel& model, const module::PolicyModule& policy,
                          const std::set<module::RuleIndex>& met) {
  // What a class denies by being silent is no rule of the author, though a line stands behind it.
  std::set<std::string, std::less<>> silences;
  for (const model::Class& of : model.classes) {
    for (const schema::ActionInfo& info : schema::Actions()) {
      silences.insert(model::DefaultIdOf(of.name, info.action));
    }
  }
  // An id may have several rows: a bound and the deadline that follows from it. Rows are by id.
  CoverageReport coverage;
  std::string_view last;
  bool last_met = false;
  const auto close = [&] {
    if (!last.empty()) (last_met ? coverage.met : coverage.not_met).emplace_back(last);
  };
  for (module::RuleIndex rule = 0; rule < policy.rule_count(); ++rule) {
    const module::RuleInfo info = policy.rule(rule);
    if (info.file.empty()) continue;  // nobody wrote it
    if (info.never) continue;         // proven of every request, so that none has to show it
    if (info.effect == module::Effect::Deny && silences.contains(info.id)) continue;
    if (info.id != last) {
      close();
      last = info.id;
      last_met = false;
    }
    last_met = last_met || met.contains(rule);
  }
  close();
  return coverage;
}

}  // namespace

bool TestReport::passed() const {
  return std::all_of(asks.begin(), asks.end(), [](const AskReport& ask) { return ask.passed(); });
}

double CoverageReport::percent() const {
  const std::size_t all = met.size() + not_met.size();
  return all == 0 ? 100.0 : 100.0 * static_cast<double>(met.size()) / static_cast<double>(all);
}

std::size_t Report::passed() const {
  return static_cast<std::size_t>(std::count_if(
      tests.begin(), tests.end(), [](const TestReport& test) { return test.passed(); }));
}

std::size_t CoverageReport::clauses_met() const {
  return static_cast<std::size_t>(std::count_if(
      clauses.begin(), clauses.end(), [](const ClauseReport& clause) { return clause.both(); }));
}

double CoverageReport::clause_percent() const {
  if (clauses.empty()) return 100;
  return 100.0 * static_cast<double>(clauses_met()) / static_cast<double>(clauses.size());
}

Report RunTests(const model::PolicyModel& model, const source::SourceMap& sources,
                const module::DecisionEngine& engine,
                std::span<const module::WrittenClause> written,
                const std::function<bool(std::string_view)>& wanted, const Reloads& reloads) {
  Report report;
  std::set<module::RuleIndex> met;
  ClauseCoverage clauses(engine.module(), written);
  for (const model::Test& test : model.tests) {
    if (!wanted(test.name)) continue;
    report.tests.push_back(TestRun(model, sources, engine, reloads, met, clauses).Run(test));
  }
  report.coverage = CoverageOf(model, engine.module(), met);
  report.coverage.clauses = clauses.Report();
  return report;
}

}  // namespace curfew::testing
