#include "compiler/lint/condition.h"
#include "compiler/lint/egress_reach.h"
#include "compiler/lint/rule.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <set>

namespace curfew::lint {
namespace {

using model::EgressRule;
using model::ExprId;
using model::ExprKind;

// ---- Conditions ---------------------------------------------------------------------------------

bool IsBool(const model::Expr& expr) {
  return expr.type.kind == schema::TypeKind::Bool &&
         expr.type.collection == schema::Collection::One;
}

// What a `require X when W` became, `W and not X`: nobody wrote it so.
bool IsRequire(const model::Expressions& all, ExprId id) {
  if (all.at(id).kind != ExprKind::And) return false;
  const model::Expr& last = all.at(all.OperandsOf(id).back());
  return last.kind == ExprKind::Not && last.span == all.at(id).span;
}

// The largest parts of a condition that hold never, or always. A `not` is read as what it negates.
void FindTruth(const model::PolicyModel& model, ExprId id, Truth wanted,
               const std::function<void(source::Span)>& report) {
  const model::Expressions& all = model.expressions;
  const model::Expr& expr = all.at(id);
  if (expr.kind != ExprKind::Not && !IsRequire(all, id)) {
    const Truth truth = TruthOf(model, id);
    if (truth == wanted) return report(expr.span);
    if (truth != Truth::Open) return;
  }
  for (const ExprId operand : all.OperandsOf(id)) {
    if (IsBool(all.at(operand))) FindTruth(model, operand, wanted, report);
  }
}

void FindNeverHolds(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  for (const ExprId condition : Conditions(*subject.model)) {
    FindTruth(*subject.model, condition, Truth::Never,
              [&sink](source::Span span) { sink.Report(span, diag::NeverHolds); });
  }
}

void FindAlwaysHolds(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  for (const ExprId condition : Conditions(*subject.model)) {
    FindTruth(*subject.model, condition, Truth::Always,
              [&sink](source::Span span) { sink.Report(span, diag::AlwaysHolds); });
  }
}

// Said of the first link that excludes the others; what holds never by itself is said of the
// condition.
void FindNeverChosen(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  const model::PolicyModel& model = *subject.model;
  for (const model::Class& of : model.classes) {
    if (of.chain.size() < 2 || MayBeChosen(model, of)) continue;
    const model::Class& above = model::At(model, *(of.chain.end() - 2));
    const bool is_of_when = of.when != model::NoExpr && TruthOf(model, of.when) != Truth::Never;
    if (is_of_when && MayBeChosen(model, above)) {
      sink.Report(of.span, diag::NeverChosen, of.name);
    }
  }
}

// Whether it can only hold by something that is there; `negated` under an odd number of `not`.
bool RestsOnSomething(const syntax::Expr& expr, bool negated) {
  using Kind = syntax::ExprKind;
  const auto of = [negated](const syntax::Expr& operand) {
    return RestsOnSomething(operand, negated);
  };
  if (expr.kind == Kind::Not) return RestsOnSomething(expr.operands.front(), !negated);
  if (expr.kind == Kind::And || expr.kind == Kind::Or) {
    const bool all_at_once = (expr.kind == Kind::And) != negated;
    return all_at_once ? std::any_of(expr.operands.begin(), expr.operands.end(), of)
                       : std::all_of(expr.operands.begin(), expr.operands.end(), of);
  }
  const bool is_negation = expr.kind == Kind::NotEqual || expr.kind == Kind::NotIn ||
                           expr.kind == Kind::None || expr.kind == Kind::All;
  return is_negation == negated && expr.kind != Kind::Has;
}

void FindRestsOnNegation(const Subject& subject, diagnostics::Sink& sink) {
  const auto judge = [&sink](const std::optional<syntax::Expr>& when) {
    if (when && !RestsOnSomething(*when, false)) sink.Report(when->span, diag::RestsOnNegation);
  };
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    if (!sandbox->narrows) judge(sandbox->when);
    ForEach<syntax::AllowTraffic>(
        *sandbox, [&judge](const syntax::AllowTraffic& allow) { judge(allow.tail.when); });
    ForEach<syntax::TransferStatement>(
        *sandbox,
        [&judge](const syntax::TransferStatement& transfer) { judge(transfer.tail.when); });
    ForEach<syntax::ExposeStatement>(
        *sandbox, [&judge](const syntax::ExposeStatement& expose) { judge(expose.tail.when); });
  }
}

void FindPastDate(const Subject& subject, diagnostics::Sink& sink) {
  using Kind = syntax::ExprKind;
  ForEachCondition(subject.tree, [&](const syntax::Expr& condition) {
    Walk(condition, [&](const syntax::Expr& expr) {
      if (expr.kind < Kind::Less || expr.kind > Kind::GreaterEqual) return;
      const syntax::Expr& left = expr.operands.front();
      const syntax::Expr& right = expr.operands.back();
      const bool now_first = left.kind == Kind::Path && left.text == "now";
      const bool now_last = right.kind == Kind::Path && right.text == "now";
      // `now` alone is a bare name to the parser.
      const bool bare_first = left.kind == Kind::Name && left.text == "now";
      const bool bare_last = right.kind == Kind::Name && right.text == "now";
      const bool first = now_first || bare_first;
      if (!first && !now_last && !bare_last) return;
      const syntax::Expr& date = first ? right : left;
      if (date.kind != Kind::Time) return;
      const auto at = values::ParseTime(date.text);
      if (!at || *at > subject.now_ms) return;
      const bool is_until = (expr.kind == Kind::Less || expr.kind == Kind::LessEqual) == first;
      sink.Report(expr.span, diag::PastDate, date.text, is_until ? "no longer" : "always");
    });
  });
}

void FindRepeatedClause(const Subject& subject, diagnostics::Sink& sink) {
  using Kind = syntax::ExprKind;
  ForEachCondition(subject.tree, [&](const syntax::Expr& condition) {
    Walk(condition, [&](const syntax::Expr& expr) {
      if (expr.kind != Kind::And && expr.kind != Kind::Or) return;
      std::set<std::string_view> seen;
      for (std::size_t i = 0; i < expr.operands.size(); ++i) {
        const syntax::Span span = expr.operands[i].span;
        const std::string_view text = subject.sources.text(span);
        if (seen.insert(text).second) continue;
        // With the operator before it.
        OfferFix(sink.Report(span, diag::RepeatedClause, text), subject.sources,
                 {span.file, expr.operands[i - 1].span.end, span.end}, "");
      }
    });
  });
}

// ---- Elements and rules that are there twice
// -----------------------------------------------------

template <typename Item, typename TextOf>
void FindTwice(const std::vector<Item>& items, const TextOf& text_of,
               const source::SourceMap& sources, diagnostics::Sink& sink) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view text = text_of(items[i]);
    if (seen.insert(text).second) continue;
    // With the comma before it.
    OfferFix(sink.Report(items[i].span, diag::RepeatedElement, text), sources,
             {items[i].span.file, items[i - 1].span.end, items[i].span.end}, "");
  }
}

void FindRepeatedElement(const Subject& subject, diagnostics::Sink& sink) {
  // As written: a list and a pattern may have one text.
  const auto source_of = [&subject](const auto& item) { return subject.sources.text(item.span); };
  const auto judge = [&](const syntax::Traffic& traffic) {
    FindTwice(traffic.methods, source_of, subject.sources, sink);
    FindTwice(traffic.targets, source_of, subject.sources, sink);
  };
  ForEachIn<syntax::AllowTraffic>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        judge(allow.traffic);
      });
  ForEachIn<syntax::DenyTraffic>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::DenyTraffic& deny) {
        judge(deny.traffic);
      });
  ForEachIn<syntax::AllowImages>(subject.tree,
                                 [&](const syntax::SandboxDecl&, const syntax::AllowImages& allow) {
                                   FindTwice(allow.images, source_of, subject.sources, sink);
                                 });
  ForEachIn<syntax::ExecStatement>(
      subject.tree, [&](const syntax::SandboxDecl&, const syntax::ExecStatement& exec) {
        FindTwice(exec.patterns, source_of, subject.sources, sink);
      });
  ForEachCondition(subject.tree, [&](const syntax::Expr& condition) {
    Walk(condition, [&](const syntax::Expr& expr) {
      const bool is_literal =
          expr.kind == syntax::ExprKind::In || expr.kind == syntax::ExprKind::NotIn;
      if (!is_literal || expr.operands.back().kind != syntax::ExprKind::List) return;
      FindTwice(expr.operands.back().operands, source_of, subject.sources, sink);
    });
  });
}

// The words of a statement, whatever stands between them; strings as they are.
std::string WordsOf(std::string_view text) {
  std::string words;
  bool blank = false;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (is_blank && !in_string) {
      blank = true;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (blank && !words.empty()) words += ' ';
    blank = false;
    words += c;
    if (in_string && c == '\\' && i + 1 < text.size()) words += text[++i];
  }
  return words;
}

void FindRepeatedRule(const Subject& subject, diagnostics::Sink& sink) {
  std::map<std::string, syntax::Span> seen;
  const auto judge = [&](const std::string& scope, const auto& rule) {
    std::string_view text = subject.sources.text(rule.span);
    // A comment among its words hides what is one.
    if (text.find('#') != std::string_view::npos) return;
    // What it is called is not what it says.
    if (rule.label) text.remove_prefix(text.find(':') + 1);
    const auto [first, fresh] = seen.emplace(scope + WordsOf(text), rule.span);
    if (fresh) return;
    auto draft = sink.Report(rule.span, diag::RepeatedRule).Note(first->second, diag::FirstHere);
    // A test may name it by its label.
    if (rule.label) return;
    OfferFix(draft, subject.sources, RemovalOf(subject.sources, rule.span), "");
  };
  for (const syntax::Rule* rule : subject.tree.rules) judge("", *rule);
  const auto of_class = [&judge](const syntax::SandboxDecl& sandbox, const auto& statement) {
    judge(sandbox.name.text + " ", statement);
  };
  ForEachIn<syntax::AllowTraffic>(subject.tree, of_class);
  ForEachIn<syntax::DenyTraffic>(subject.tree, of_class);
  ForEachIn<syntax::TransferStatement>(subject.tree, of_class);
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    for (const syntax::SandboxMember& member : sandbox->members) {
      if (const auto* rule = std::get_if<syntax::Rule>(&member)) of_class(*sandbox, *rule);
    }
  }
}

// ---- Traffic ------------------------------------------------------------------------------------

bool CoversAll(const EgressRule& outer, const EgressRule& inner) {
  return std::all_of(inner.targets.begin(), inner.targets.end(), [&outer](const auto& target) {
    return std::any_of(outer.targets.begin(), outer.targets.end(),
                       [&target](const auto& wide) { return Covers(wide, target); });
  });
}

// A rule without a condition that covers all of `inner`; of two that cover each other the first.
const EgressRule* CoverOf(const CoverIndex& index, const EgressRule& inner) {
  for (const EgressRule* outer : index.Covering(inner.targets.front())) {
    if (outer == &inner || outer->condition != model::NoExpr) continue;
    if (!MethodsCover(*outer, inner) || !CoversAll(*outer, inner)) continue;
    if (outer->effect != inner.effect) return outer;
    // What an allow pins lifts a bar, and only for itself.
    if (outer->pins != inner.pins) continue;
    const bool both =
        inner.condition == model::NoExpr && MethodsCover(inner, *outer) && CoversAll(inner, *outer);
    if (!both || outer->span < inner.span) return outer;
  }
  return nullptr;
}

enum class Shadow { Allow, Deny, DeniedAllow };

void FindShadows(const Subject& subject, Shadow shadow,
                 const std::function<void(const EgressRule&, const EgressRule&)>& report) {
  if (subject.model == nullptr) return;
  const auto outer = shadow == Shadow::Allow ? EgressRule::Effect::Allow : EgressRule::Effect::Deny;
  const auto inner = shadow == Shadow::Deny ? EgressRule::Effect::Deny : EgressRule::Effect::Allow;
  for (const model::Class& of : subject.model->classes) {
    CoverIndex index;
    if (shadow == Shadow::DeniedAllow) {
      for (const EgressRule* deny : TrafficOf(*subject.model, of).denies) index.Add(*deny);
    } else {
      for (const EgressRule& rule : of.network.rules) {
        if (rule.effect == outer) index.Add(rule);
      }
    }
    for (const EgressRule& rule : of.network.rules) {
      if (rule.effect != inner) continue;
      if (const EgressRule* cover = CoverOf(index, rule)) report(rule, *cover);
    }
  }
}

void FindShadowedAllow(const Subject& subject, diagnostics::Sink& sink) {
  FindShadows(subject, Shadow::Allow, [&](const EgressRule& rule, const EgressRule& cover) {
    sink.Report(rule.span, diag::ShadowedAllow).Note(cover.span, diag::AllowedHere);
  });
}

void FindShadowedDeny(const Subject& subject, diagnostics::Sink& sink) {
  FindShadows(subject, Shadow::Deny, [&](const EgressRule& rule, const EgressRule& cover) {
    sink.Report(rule.span, diag::ShadowedDeny).Note(cover.span, diag::DeniedHere);
  });
}

void FindDeniedAllow(const Subject& subject, diagnostics::Sink& sink) {
  FindShadows(subject, Shadow::DeniedAllow, [&](const EgressRule& rule, const EgressRule& cover) {
    sink.Report(rule.span, diag::DeniedAllow).Note(cover.span, diag::DeniedHere);
  });
}

bool RulesMayMeet(const EgressRule& a, const EgressRule& b, ComparisonBudget& budget) {
  if (!MethodsMeet(a, b)) return false;
  for (const model::EgressTarget& one : a.targets) {
    for (const model::EgressTarget& other : b.targets) {
      // Undecided is as good as met.
      if (!budget.Take() || MayMeet(one, other)) return true;
    }
  }
  return false;
}

void FindDenyOfNothing(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  for (const model::Class& of : subject.model->classes) {
    const ClassTraffic traffic = TrafficOf(*subject.model, of);
    ComparisonBudget budget;
    for (const EgressRule& deny : of.network.rules) {
      if (deny.effect != EgressRule::Effect::Deny) continue;
      const bool meets =
          std::any_of(traffic.allows.begin(), traffic.allows.end(),
                      [&](const EgressRule* allow) { return RulesMayMeet(*allow, deny, budget); });
      if (!meets) sink.Report(deny.span, diag::DenyOfNothing, of.name);
    }
  }
}

void FindBarredAlready(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::DenyTraffic>(subject.tree, [&](const syntax::SandboxDecl&,
                                                   const syntax::DenyTraffic& deny) {
    for (const TargetText& target : TargetsOf(subject.tree, deny.traffic)) {
      const values::Place* place = target.place();
      const auto* block = place == nullptr ? nullptr : std::get_if<values::Cidr>(place);
      if (block == nullptr) continue;
      for (const values::SpecialBlock& special : values::SpecialBlocks()) {
        if (!values::Covers(special.block, *block)) continue;
        if (!values::CanBePinned(special.range)) {
          sink.Report(target.span, diag::BarredAlready, target.text, values::WordOf(special.range));
        }
        break;
      }
    }
  });
}

// A path that ends in `*` behind a letter: `/v1*` is `/v1` and `/v10`, and `/v1-evil`.
void FindOpenPrefix(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::AllowTraffic>(
      subject.tree, [&](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
          if (!target.url || !target.url->path) continue;
          const std::string& path = target.url->path->text;
          if (path.size() < 3 || !path.ends_with('*')) continue;
          const char before = path[path.size() - 2];
          if (before == '/' || before == '*' || before == '\\') continue;
          if (before == '-' || before == '_' || before == '.') continue;  // a boundary of names
          sink.Report(target.span, diag::OpenPrefix, target.text,
                      path.substr(0, path.size() - 1) + "-other");
        }
      });
}

void FindOnlyTheFolder(const Subject& subject, diagnostics::Sink& sink) {
  const auto judge = [&](const syntax::Traffic& traffic, bool widen) {
    for (const TargetText& target : TargetsOf(subject.tree, traffic)) {
      if (!target.url || !target.url->path) continue;
      const std::string& path = target.url->path->text;
      if (path.size() < 2 || !path.ends_with('/')) continue;
      auto draft = sink.Report(target.span, diag::OnlyTheFolder, path);
      // A deny may be made wider by a tool, an allow by its author only.
      const std::string_view written = subject.sources.text(target.span);
      if (!widen || !written.ends_with("/\"")) continue;
      draft.Fix(target.span, std::string(written.substr(0, written.size() - 1)) + "**\"");
    }
  };
  ForEachIn<syntax::AllowTraffic>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        judge(allow.traffic, false);
      });
  ForEachIn<syntax::DenyTraffic>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::DenyTraffic& deny) {
        judge(deny.traffic, true);
      });
}

// ---- Grants and bounds --------------------------------------------------------------------------

// Whether some class lets the action happen at all.
bool IsGranted(const PolicyTree& tree, syntax::Action action) {
  bool granted = false;
  const auto yes = [&granted](const syntax::SandboxDecl&, const auto& statement) {
    granted = granted || !statement.none;
  };
  const auto transfers = [&](syntax::TransferStatement::Direction direction) {
    ForEachIn<syntax::TransferStatement>(
        tree, [&](const syntax::SandboxDecl&, const syntax::TransferStatement& transfer) {
          granted = granted || (transfer.direction == direction && !transfer.none);
        });
  };
  switch (action) {
    case syntax::Action::Create:
    case syntax::Action::Observe:
    case syntax::Action::Exec:  // the image's entry point runs without a grant
      return true;
    case syntax::Action::Egress:
      ForEachIn<syntax::AllowTraffic>(tree, yes);
      break;
    case syntax::Action::Expose:
      ForEachIn<syntax::ExposeStatement>(tree, yes);
      break;
    case syntax::Action::Resume:
      ForEachIn<syntax::FrozenStatement>(tree,
                                         [&granted](const auto&, const auto&) { granted = true; });
      ForEachIn<syntax::IdleStatement>(
          tree, [&granted](const syntax::SandboxDecl&, const syntax::IdleStatement& idle) {
            granted = granted || idle.then.text == "freeze";
          });
      ForEachIn<syntax::SnapshotStatement>(tree, yes);
      break;
    case syntax::Action::Snapshot:
      ForEachIn<syntax::SnapshotStatement>(tree, yes);
      break;
    case syntax::Action::Import:
      transfers(syntax::TransferStatement::Direction::Import);
      break;
    case syntax::Action::Export:
      transfers(syntax::TransferStatement::Direction::Export);
      break;
    case syntax::Action::Extend:
      ForEachIn<syntax::RenewStatement>(
          tree, [&granted](const auto&, const auto& renew) { granted = granted || !renew.none; });
      break;
  }
  return granted;
}

void FindRuleOfNoGrant(const Subject& subject, diagnostics::Sink& sink) {
  // A set of rules alone, such as a floor, is for the classes of others.
  if (subject.tree.classes.empty()) return;
  std::map<syntax::Action, bool> granted;
  ForEachRule(subject.tree, [&](const syntax::Rule& rule) {
    // That nobody grants it is what a never says.
    if (rule.effect == syntax::Rule::Effect::Never) return;
    for (const syntax::ActionName& name : rule.actions) {
      const auto [known, fresh] = granted.try_emplace(name.action, true);
      if (fresh) known->second = IsGranted(subject.tree, name.action);
      if (!known->second) {
        sink.Report(name.span, diag::RuleOfNoGrant, syntax::NameOf(name.action));
      }
    }
  });
}

// One bound of a class against the same of a base.
void CompareBound(const std::optional<std::int64_t>& own, const std::optional<std::int64_t>& base,
                  std::string_view what, syntax::Span span, const syntax::SandboxDecl& of_base,
                  std::string (*text)(std::int64_t), diagnostics::Sink& sink) {
  if (!own || !base || *own <= *base) return;
  sink.Report(span, diag::LooserThanBase, what, text(*base))
      .Note(of_base.name.span, diag::DeclaredHere, of_base.name.text);
}

void FindLooserThanBase(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    if (!sandbox->narrows) continue;
    const auto chain = subject.tree.ChainOf(*sandbox);
    const std::span bases = std::span(chain).subspan(1);
    for (const syntax::SandboxDecl* base : bases) {
      const std::span only(&base, 1);
      const auto* ttl = First<syntax::TtlStatement>(only);
      const auto* idle = First<syntax::IdleStatement>(only);
      const auto* grace = First<syntax::GraceStatement>(only);
      ForEach<syntax::TtlStatement>(*sandbox, [&](const syntax::TtlStatement& own) {
        if (ttl == nullptr) return;
        CompareBound(DurationOf(MaximumOf(own.bound)), DurationOf(MaximumOf(ttl->bound)), "ttl",
                     own.span, *base, values::DurationText, sink);
      });
      ForEach<syntax::IdleStatement>(*sandbox, [&](const syntax::IdleStatement& own) {
        if (idle == nullptr) return;
        CompareBound(DurationOf(own.after), DurationOf(idle->after), "idle", own.span, *base,
                     values::DurationText, sink);
      });
      ForEach<syntax::GraceStatement>(*sandbox, [&](const syntax::GraceStatement& own) {
        if (grace == nullptr) return;
        CompareBound(DurationOf(own.duration), DurationOf(grace->duration), "grace", own.span,
                     *base, values::DurationText, sink);
      });
    }
  }
}

constexpr Rule kRules[] = {
    {diag::NeverHolds.code, Category::Correctness, "a condition that no request meets",
     FindNeverHolds},
    {diag::AlwaysHolds.code, Category::Correctness, "a condition that every request meets",
     FindAlwaysHolds},
    {diag::ShadowedAllow.code, Category::Correctness, "an allow within another one",
     FindShadowedAllow},
    {diag::ShadowedDeny.code, Category::Correctness, "a deny within another one", FindShadowedDeny},
    {diag::DeniedAllow.code, Category::Correctness, "an allow within a deny", FindDeniedAllow},
    {diag::DenyOfNothing.code, Category::Correctness, "a deny of what no allow opens",
     FindDenyOfNothing},
    {diag::RuleOfNoGrant.code, Category::Correctness, "a rule about an action that no class grants",
     FindRuleOfNoGrant},
    {diag::RestsOnNegation.code, Category::Correctness, "what opens by what is not",
     FindRestsOnNegation},
    {diag::OpenPrefix.code, Category::Correctness, "a path that ends within a segment",
     FindOpenPrefix},
    {diag::OnlyTheFolder.code, Category::Correctness,
     "a path that ends in a slash and has nothing below it", FindOnlyTheFolder},
    {diag::PastDate.code, Category::Correctness, "a date in a condition that is over",
     FindPastDate},
    {diag::LooserThanBase.code, Category::Correctness, "a limit that is looser than that of a base",
     FindLooserThanBase},
    {diag::BarredAlready.code, Category::Correctness, "a deny of addresses that nothing can open",
     FindBarredAlready},
    {diag::RepeatedElement.code, Category::Correctness, "an element that is named twice",
     FindRepeatedElement},
    {diag::RepeatedClause.code, Category::Correctness, "a clause that stands in a condition twice",
     FindRepeatedClause},
    {diag::RepeatedRule.code, Category::Correctness, "a rule that is stated twice",
     FindRepeatedRule},
    {diag::IdleDeny.code, Category::Correctness, "a deny of what is not let through anyway",
     nullptr},
    {diag::DeadAllow.code, Category::Correctness, "an allow that opens nothing", nullptr},
    {diag::CoveredAllow.code, Category::Correctness, "an allow within several others", nullptr},
    {diag::NeverChosen.code, Category::Correctness, "a class that no request can be of",
     FindNeverChosen},
};

}  // namespace

std::span<const Rule> CorrectnessRules() { return kRules; }

}  // namespace curfew::lint
