#include "compiler/lint/condition.h"
#include "compiler/lint/rule.h"
#include "compiler/lint/scripts.h"
#include "compiler/lint/unfound_rules.h"
#include "compiler/syntax/token_list.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace curfew::lint {
namespace {

using Kind = syntax::ExprKind;

// ---- Reasons, names and docs --------------------------------------------------------------------

void FindNoReason(const Subject& subject, diagnostics::Sink& sink) {
  ForEachRule(subject.tree, [&sink](const syntax::Rule& rule) {
    if (!rule.tail.because) sink.Report(rule.span, diag::NoReason);
  });
  ForEachIn<syntax::DenyTraffic>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::DenyTraffic& deny) {
        if (!deny.tail.because) sink.Report(deny.span, diag::NoReason);
      });
}

std::string WordOf(syntax::Rule::Effect effect) {
  switch (effect) {
    case syntax::Rule::Effect::Deny:
      return "deny";
    case syntax::Rule::Effect::Require:
      return "require";
    case syntax::Rule::Effect::Never:
      return "never";
  }
  CURFEW_UNREACHABLE("the switch names every effect");
}

void FindNoLabel(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::AllowTraffic>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        if (!allow.label && !allow.none) sink.Report(allow.span, diag::NoLabel, "allow");
      });
  ForEachRule(subject.tree, [&sink](const syntax::Rule& rule) {
    if (rule.label) return;
    sink.Report(rule.span, diag::NoLabel, (rule.trial ? "trial " : "") + WordOf(rule.effect));
  });
}

void FindNoDoc(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    if (sandbox->doc.lines.empty()) {
      sink.Report(sandbox->name.span, diag::NoDoc, sandbox->name.text);
    }
  }
}

// ---- Tests --------------------------------------------------------------------------------------

struct Shown {
  bool allowed = false;  // some test creates a machine of it, or resumes one from a snapshot
  bool denied = false;   // and some test is refused something
};

// What the tests show of each class. A denial counts for the class of the test's last machine, and
// for that whose id it names.
std::map<std::string_view, Shown> ShownByTests(const PolicyTree& tree) {
  std::map<std::string_view, Shown> shown;
  const auto class_of = [&tree](const syntax::Ask& ask) {
    for (const syntax::Name& id : ask.answer.ids) {
      const std::string_view name = std::string_view(id.text).substr(0, id.text.find('.'));
      if (tree.class_of.contains(name)) return name;
    }
    const bool only_one = ask.answer.ids.empty() && tree.classes.size() == 1;
    return only_one ? std::string_view(tree.classes.front()->name.text) : std::string_view();
  };
  for (const syntax::TestDecl* test : tree.tests) {
    std::string_view created;
    for (const syntax::TestItem& item : test->items) {
      const auto* ask = std::get_if<syntax::Ask>(&item);
      if (ask == nullptr) continue;
      const std::string_view named = class_of(*ask);
      // A snapshot that runs again is a new machine.
      const bool creates = ask->action.action == syntax::Action::Create || ask->snapshot;
      if (creates && ask->answer.allow) {
        created = named;
        shown[named].allowed = true;
      }
      if (ask->answer.allow) continue;
      shown[created].denied = true;
      shown[named].denied = true;
    }
  }
  return shown;
}

// No test can show a class that no request is of, which another rule says.
bool MayBeTested(const Subject& subject, const syntax::SandboxDecl& sandbox) {
  if (subject.model == nullptr) return true;
  const auto& classes = subject.model->classes;  // by name
  const auto of = std::ranges::lower_bound(classes, sandbox.name.text, {}, &model::Class::name);
  return of == classes.end() || of->name != sandbox.name.text || MayBeChosen(*subject.model, *of);
}

void FindUntested(const Subject& subject, diagnostics::Sink& sink) {
  auto shown = ShownByTests(subject.tree);
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    if (shown[sandbox->name.text].allowed || !MayBeTested(subject, *sandbox)) continue;
    sink.Report(sandbox->name.span, diag::Untested, sandbox->name.text);
  }
}

void FindRepeatedTestName(const Subject& subject, diagnostics::Sink& sink) {
  // A report names the file as well.
  std::map<std::pair<source::FileId, std::string_view>, syntax::Span> seen;
  for (const syntax::TestDecl* test : subject.tree.tests) {
    const std::pair<source::FileId, std::string_view> name(test->name.span.file, test->name.text);
    const auto [first, fresh] = seen.emplace(name, test->name.span);
    if (fresh) continue;
    sink.Report(test->name.span, diag::RepeatedTestName, test->name.text)
        .Note(first->second, diag::FirstHere);
  }
}

void FindOneSidedTests(const Subject& subject, diagnostics::Sink& sink) {
  auto shown = ShownByTests(subject.tree);
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    const Shown of = shown[sandbox->name.text];
    if (!of.allowed || of.denied) continue;
    sink.Report(sandbox->name.span, diag::OneSidedTests, sandbox->name.text);
  }
}

void FindBareDeny(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::TestDecl* test : subject.tree.tests) {
    for (const syntax::TestItem& item : test->items) {
      const auto* ask = std::get_if<syntax::Ask>(&item);
      if (ask == nullptr || ask->answer.allow || !ask->answer.ids.empty()) continue;
      sink.Report(ask->answer.span, diag::BareDeny);
    }
  }
}

// ---- What nothing names -------------------------------------------------------------------------

void WalkFields(const std::vector<syntax::Field>& fields,
                const std::function<void(const syntax::Expr&)>& visit) {
  for (const syntax::Field& field : fields) {
    if (field.value) Walk(*field.value, visit);
    WalkFields(field.fields, visit);
  }
}

// Every expression of a test.
void WalkTest(const syntax::TestDecl& test, const std::function<void(const syntax::Expr&)>& visit) {
  for (const syntax::TestItem& item : test.items) {
    if (const auto* given = std::get_if<syntax::Given>(&item)) {
      for (const syntax::Fixture& fixture : given->fixtures) {
        WalkFields(fixture.facts.fields, visit);
      }
    }
    const auto* ask = std::get_if<syntax::Ask>(&item);
    if (ask == nullptr) continue;
    for (const syntax::Wish& wish : ask->wishes) Walk(wish.value, visit);
    if (ask->args) Walk(*ask->args, visit);
    if (ask->facts) WalkFields(ask->facts->fields, visit);
    if (ask->answer.plan) WalkFields(ask->answer.plan->fields, visit);
  }
}

// Every bare name and path in conditions, targets and statements that refer to declarations.
std::set<std::string_view> NamesUsed(const PolicyTree& tree) {
  std::set<std::string_view> used;
  const auto take = [&used](const syntax::Expr& expr) {
    if (expr.kind == Kind::Name || expr.kind == Kind::Path || expr.kind == Kind::Has) {
      used.insert(expr.text);
    }
  };
  ForEachCondition(tree, [&take](const syntax::Expr& condition) { Walk(condition, take); });
  for (const syntax::TestDecl* test : tree.tests) WalkTest(*test, take);
  const auto traffic = [&used](const syntax::Traffic& of) {
    for (const syntax::Target& target : of.targets) {
      if (target.kind == syntax::Target::Kind::List) used.insert(target.text);
    }
    for (const syntax::Place& place : of.at) {
      if (place.kind == syntax::Place::Kind::List) used.insert(place.text);
    }
  };
  ForEachIn<syntax::AllowTraffic>(
      tree, [&](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        traffic(allow.traffic);
        if (allow.secret) used.insert(allow.secret->text);
      });
  ForEachIn<syntax::DenyTraffic>(
      tree,
      [&](const syntax::SandboxDecl&, const syntax::DenyTraffic& deny) { traffic(deny.traffic); });
  ForEachIn<syntax::AllowImages>(tree,
                                 [&](const syntax::SandboxDecl&, const syntax::AllowImages& allow) {
                                   for (const syntax::Name& image : allow.images)
                                     used.insert(image.text);
                                 });
  ForEachIn<syntax::SecretsStatement>(
      tree, [&](const syntax::SandboxDecl&, const syntax::SecretsStatement& secrets) {
        for (const syntax::Name& secret : secrets.secrets) used.insert(secret.text);
      });
  return used;
}

// What stands in a part of this set may be for another one; a set without classes is such a part.
bool IsForOthers(const Subject& subject, source::Span declaration) {
  return subject.tree.classes.empty() || declaration.file >= subject.first_part;
}

void FindUnused(const Subject& subject, diagnostics::Sink& sink) {
  const auto used = NamesUsed(subject.tree);
  const auto judge = [&](std::string_view what, const auto& declaration) {
    const syntax::Name& name = declaration.name;
    if (used.contains(name.text) || IsForOthers(subject, name.span)) return;
    auto draft = sink.Report(name.span, diag::Unused, what, name.text);
    // Its documentation would become that of what follows.
    if (!declaration.doc.lines.empty()) return;
    OfferFix(draft, subject.sources, RemovalOf(subject.sources, declaration.span), "");
  };
  for (const auto& [name, image] : subject.tree.images) judge("image", *image);
  for (const auto& [name, secret] : subject.tree.secrets) judge("secret", *secret);
  for (const auto& [name, list] : subject.tree.lists) judge("list", *list);
}

void FindUnreadAttribute(const Subject& subject, diagnostics::Sink& sink) {
  const auto used = NamesUsed(subject.tree);
  for (const syntax::AttributesDecl* declaration : subject.tree.attributes) {
    for (const syntax::AttributeDecl& attribute : declaration->attributes) {
      const std::string path = declaration->subject.text + "." + attribute.name.text;
      if (used.contains(path) || IsForOthers(subject, attribute.name.span)) continue;
      sink.Report(attribute.name.span, diag::UnreadAttribute, path);
    }
  }
}

// ---- Spelling -----------------------------------------------------------------------------------

// Every text that is compared: of conditions, lists, targets, and places that secrets go to.
void ForEachText(const PolicyTree& tree,
                 const std::function<void(const std::string&, syntax::Span)>& visit) {
  ForEachCondition(tree, [&visit](const syntax::Expr& condition) {
    Walk(condition, [&visit](const syntax::Expr& expr) {
      if (expr.kind == Kind::String) visit(expr.text, expr.span);
    });
  });
  for (const auto& [name, list] : tree.lists) {
    for (const syntax::Expr& element : list->elements) visit(element.text, element.span);
  }
  for (const auto& [name, secret] : tree.secrets) {
    for (const syntax::SecretSend& send : secret->sends) {
      for (const syntax::String& target : send.targets) visit(target.text, target.span);
    }
  }
  const auto traffic = [&visit](const syntax::SandboxDecl&, const auto& statement) {
    for (const syntax::Target& target : statement.traffic.targets) {
      if (target.kind == syntax::Target::Kind::Pattern) visit(target.text, target.span);
    }
  };
  ForEachIn<syntax::AllowTraffic>(tree, traffic);
  ForEachIn<syntax::DenyTraffic>(tree, traffic);
}

void FindMixedScripts(const Subject& subject, diagnostics::Sink& sink) {
  ForEachText(subject.tree, [&sink](const std::string& text, syntax::Span span) {
    const std::string seen = AsShown(text);
    if (const auto mixed = MixedScripts(seen)) {
      sink.Report(span, diag::MixedScripts, seen, mixed->first, mixed->second);
    }
  });
}

void FindLookalike(const Subject& subject, diagnostics::Sink& sink) {
  ForEachText(subject.tree, [&sink](const std::string& text, syntax::Span span) {
    const std::string seen = AsShown(text);
    if (MixedScripts(seen)) return;
    if (const auto twin = LatinTwin(seen)) {
      sink.Report(span, diag::Lookalike, seen, twin->script, twin->text);
    }
  });
}

// `x == "a" or x == "b"`, of one attribute and literals only.
void FindEqualsForIn(const Subject& subject, diagnostics::Sink& sink) {
  ForEachCondition(subject.tree, [&](const syntax::Expr& condition) {
    Walk(condition, [&](const syntax::Expr& expr) {
      if (expr.kind != Kind::Or) return;
      std::string elements;
      const std::string& path = expr.operands.front().operands.empty()
                                    ? expr.text
                                    : expr.operands.front().operands.front().text;
      for (const syntax::Expr& part : expr.operands) {
        if (part.kind != Kind::Equal || part.operands.front().kind != Kind::Path) return;
        const syntax::Expr& literal = part.operands.back();
        const bool is_literal = literal.kind == Kind::String || literal.kind == Kind::Quantity ||
                                literal.kind == Kind::Name || literal.kind == Kind::Digest;
        if (!is_literal || part.operands.front().text != path) return;
        elements += (elements.empty() ? "" : ", ");
        elements += subject.sources.text(literal.span);
      }
      const std::string shorter = fmt::format("{} in [{}]", path, elements);
      OfferFix(sink.Report(expr.span, diag::EqualsForIn, path), subject.sources, expr.span,
               expr.parenthesised ? "(" + shorter + ")" : shorter);
    });
  });
}

std::optional<std::string_view> OppositeOf(Kind kind) {
  switch (kind) {
    case Kind::Equal:
      return "!=";
    case Kind::NotEqual:
      return "==";
    case Kind::Less:
      return ">=";
    case Kind::LessEqual:
      return ">";
    case Kind::Greater:
      return "<=";
    case Kind::GreaterEqual:
      return "<";
    case Kind::In:
      return "not in";
    case Kind::NotIn:
      return "in";
    case Kind::String:
    case Kind::Quantity:
    case Kind::Time:
    case Kind::Digest:
    case Kind::True:
    case Kind::False:
    case Kind::Name:
    case Kind::Path:
    case Kind::Has:
    case Kind::List:
    case Kind::Count:
    case Kind::Not:
    case Kind::And:
    case Kind::Or:
    case Kind::Matches:
    case Kind::Starts:
    case Kind::SubsetOf:
    case Kind::Intersects:
    case Kind::Plus:
    case Kind::Minus:
    case Kind::Any:
    case Kind::All:
    case Kind::None:
      return std::nullopt;
  }
  return std::nullopt;
}

void FindNegatedComparison(const Subject& subject, diagnostics::Sink& sink) {
  ForEachCondition(subject.tree, [&](const syntax::Expr& condition) {
    Walk(condition, [&](const syntax::Expr& expr) {
      if (expr.kind != Kind::Not) return;
      const syntax::Expr& inner = expr.operands.front();
      const auto opposite = OppositeOf(inner.kind);
      if (!opposite) return;
      const std::string shorter =
          fmt::format("{} {} {}", subject.sources.text(inner.operands.front().span), *opposite,
                      subject.sources.text(inner.operands.back().span));
      OfferFix(sink.Report(expr.span, diag::NegatedComparison, *opposite), subject.sources,
               expr.span, expr.parenthesised ? "(" + shorter + ")" : shorter);
    });
  });
}

// Calls `visit` for each target that stands in a rule as a string of its own.
template <typename Form>
void ForEachWrittenTarget(const Subject& subject,
                          const std::function<void(const syntax::Target&)>& visit) {
  ForEachIn<Form>(subject.tree, [&visit](const syntax::SandboxDecl&, const Form& form) {
    for (const syntax::Target& target : form.traffic.targets) {
      if (target.kind == syntax::Target::Kind::Pattern) visit(target);
    }
  });
}

// In a deny no port is every port.
void FindDefaultPort(const Subject& subject, diagnostics::Sink& sink) {
  ForEachWrittenTarget<syntax::AllowTraffic>(subject, [&](const syntax::Target& target) {
    const auto url = values::ParseUrlPattern(target.text);
    if (!url || !url->port || *url->port != values::PortOf(url->scheme)) return;
    std::string written(subject.sources.text(target.span));
    const std::string port = fmt::format(":{}", *url->port);
    const std::size_t at = written.find(port, written.find("://") + 3);
    auto draft = sink.Report(target.span, diag::DefaultPort, *url->port);
    if (at == std::string::npos) return;
    draft.Fix(target.span, written.erase(at, port.size()));
  });
}

void FindHostSpelling(const Subject& subject, diagnostics::Sink& sink) {
  const auto judge = [&](const syntax::Target& target) {
    const auto url = values::ParseUrlPattern(target.text);
    const auto at = values::ParsePlacePattern(target.text);
    if (!url && !at) return;
    const values::Place& place = url ? url->place : at->place;
    const auto* host = std::get_if<values::HostPattern>(&place);
    if (host == nullptr) return;
    const std::string canonical = values::ToString(*host);
    std::string written(subject.sources.text(target.span));
    const std::size_t scheme = written.find("://");
    const std::size_t begin = scheme == std::string::npos ? 1 : scheme + 3;
    const std::size_t end = std::min(written.find_first_of(":/\"", begin), written.size());
    const std::string spelt = written.substr(begin, end - begin);
    if (spelt == canonical) return;
    sink.Report(target.span, diag::HostSpelling, spelt, canonical)
        .Fix(target.span, written.replace(begin, spelt.size(), canonical));
  };
  ForEachWrittenTarget<syntax::AllowTraffic>(subject, judge);
  ForEachWrittenTarget<syntax::DenyTraffic>(subject, judge);
}

void FindLeftToDo(const Subject& subject, diagnostics::Sink& sink) {
  // In two parts: the house rules of this repository look for the words too.
  constexpr std::array kMarks = {std::string_view("TBD"),
                                 std::string_view("XX"
                                                  "X"),
                                 std::string_view("TO"
                                                  "DO"),
                                 std::string_view("FIX"
                                                  "ME")};
  for (const syntax::Ast& file : subject.tree.files) {
    const std::string_view text = subject.sources.text(file.file);
    const auto is_there = [&text](std::string_view mark) {
      return text.find(mark) != std::string_view::npos;
    };
    if (std::none_of(kMarks.begin(), kMarks.end(), is_there)) continue;
    diagnostics::Sink known;  // the parser has said it all
    const syntax::TokenList tokens = syntax::Lex(subject.sources, file.file, known);
    for (const syntax::Token& token : tokens.tokens) {
      if (token.kind != syntax::TokenKind::Comment && token.kind != syntax::TokenKind::Doc)
        continue;
      for (const std::string_view mark : kMarks) {
        if (tokens.TextOf(token).find(mark) == std::string_view::npos) continue;
        sink.Report(tokens.SpanOf(token), diag::LeftToDo, mark);
        break;
      }
    }
  }
}

// ---- Form ---------------------------------------------------------------------------------------

void FindEmptyPlane(const Subject& subject, diagnostics::Sink& sink) {
  for (const auto* group : {&subject.tree.classes, &subject.tree.floors}) {
    for (const syntax::SandboxDecl* sandbox : *group) {
      for (const syntax::SandboxMember& member : sandbox->members) {
        const auto* plane = std::get_if<syntax::Plane>(&member);
        if (plane == nullptr || !plane->statements.empty()) continue;
        OfferFix(sink.Report(plane->keyword, diag::EmptyPlane), subject.sources,
                 RemovalOf(subject.sources, plane->span), "");
      }
    }
  }
}

void FindNoLanguage(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::Ast& file : subject.tree.files) {
    if (file.declarations.empty()) continue;
    const auto is_language = [](const syntax::Declaration& declaration) {
      return std::holds_alternative<syntax::LanguageHeader>(declaration);
    };
    if (std::any_of(file.declarations.begin(), file.declarations.end(), is_language)) continue;
    const syntax::Span first =
        std::visit([](const auto& it) { return it.span; }, file.declarations.front());
    // Before what is said first; its comment goes with it.
    const std::string_view text = subject.sources.text(file.file);
    const std::uint32_t begin =
        text.substr(0, first.begin).find('#') == std::string_view::npos ? first.begin : 0;
    sink.Report(first, diag::NoLanguage)
        .Fix({file.file, begin, begin}, fmt::format("language {}\n", 1));
  }
}

void FindLargerUnit(const Subject& subject, diagnostics::Sink& sink) {
  const auto judge = [&sink](const syntax::Quantity& quantity) {
    std::string shorter;
    if (const auto duration = DurationOf(quantity)) shorter = values::DurationText(*duration);
    if (const auto size = SizeOf(quantity)) shorter = values::SizeText(*size);
    // `24h` says what `1d` says; it is as clear.
    if (shorter.empty() || shorter == quantity.text || shorter.ends_with('d')) return;
    if (shorter.size() > quantity.text.size()) return;
    sink.Report(quantity.span, diag::LargerUnit, quantity.text, shorter)
        .Fix(quantity.span, shorter);
  };
  const auto bound = [&judge](const syntax::Bound& of) {
    if (of.value) judge(*of.value);
    if (of.at_most) judge(*of.at_most);
  };
  ForEachIn<syntax::TtlStatement>(subject.tree,
                                  [&](const auto&, const auto& it) { bound(it.bound); });
  ForEachIn<syntax::IdleStatement>(subject.tree,
                                   [&](const auto&, const auto& it) { judge(it.after); });
  ForEachIn<syntax::GraceStatement>(subject.tree,
                                    [&](const auto&, const auto& it) { judge(it.duration); });
  ForEachIn<syntax::TokenStatement>(subject.tree,
                                    [&](const auto&, const auto& it) { judge(it.lives); });
  ForEachIn<syntax::ScratchStatement>(subject.tree,
                                      [&](const auto&, const auto& it) { judge(it.size); });
  ForEachIn<syntax::TransferStatement>(subject.tree, [&](const auto&, const auto& it) {
    if (it.at_most) judge(*it.at_most);
  });
  ForEachIn<syntax::SizeStatement>(subject.tree, [&](const auto&, const auto& it) {
    for (const syntax::SizeItem& item : it.items) bound(item.bound);
  });
}

// ---- Rules that every request is asked ----------------------------------------------------------

// By id: where it stands.
std::map<std::string_view, source::Span> SpansOf(const model::PolicyModel& model) {
  std::map<std::string_view, source::Span> spans;
  const auto add = [&](const auto& rules) {
    for (const auto& rule : rules) spans.try_emplace(rule.id, rule.span);
  };
  add(model.rules);
  for (const model::Class& of : model.classes) add(of.network.rules);
  if (model.floor) add(model.floor->network.rules);
  return spans;
}

// Once for an action, in the class where it costs most: other classes mostly inherit the rules.
void FindUnfound(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr || subject.code == nullptr) return;
  const auto spans = SpansOf(*subject.model);
  std::map<schema::Action, UnfoundRules> worst;
  for (UnfoundRules& found : FindUnfoundRules(*subject.code)) {
    std::erase_if(found.ids, [&](std::string_view id) { return !spans.contains(id); });
    UnfoundRules& most = worst.try_emplace(found.action).first->second;
    if (found.ids.size() > most.ids.size()) most = std::move(found);
  }
  for (const auto& [action, found] : worst) {
    if (found.ids.size() <= UnfoundRulesMax) continue;
    const auto count = static_cast<diagnostics::Number>(found.ids.size());
    sink.Report(spans.at(found.ids.front()), diag::RuleUnfound, count - 1,
                std::string(schema::WordOf(action)), std::string(found.class_name), count);
  }
}

constexpr Rule kRules[] = {
    {diag::NoReason.code, Category::Clarity, "a deny without a reason", FindNoReason},
    {diag::NoLabel.code, Category::Clarity, "a rule without a name", FindNoLabel},
    {diag::NoDoc.code, Category::Clarity, "a class that does not say what it is for", FindNoDoc},
    {diag::Untested.code, Category::Clarity, "a class without a test", FindUntested},
    {diag::BareDeny.code, Category::Clarity, "a test that takes any denial", FindBareDeny},
    {diag::OneSidedTests.code, Category::Clarity, "tests that show no denial", FindOneSidedTests},
    {diag::Unused.code, Category::Clarity, "an image, secret or list that nothing names",
     FindUnused},
    {diag::UnreadAttribute.code, Category::Clarity, "a declared fact that no rule reads",
     FindUnreadAttribute},
    {diag::MixedScripts.code, Category::Clarity, "letters of two scripts in one text",
     FindMixedScripts},
    {diag::EqualsForIn.code, Category::Clarity, "one attribute compared again and again",
     FindEqualsForIn},
    {diag::NegatedComparison.code, Category::Clarity, "a comparison that is negated as a whole",
     FindNegatedComparison},
    {diag::DefaultPort.code, Category::Clarity, "a port that the scheme means anyway",
     FindDefaultPort},
    {diag::HostSpelling.code, Category::Clarity, "a host that is not spelt as it is compared",
     FindHostSpelling},
    {diag::LeftToDo.code, Category::Clarity, "a comment of what is left to do", FindLeftToDo},
    {diag::EmptyPlane.code, Category::Clarity, "a plane without a statement", FindEmptyPlane},
    {diag::NoLanguage.code, Category::Clarity, "a file that does not say its language",
     FindNoLanguage},
    {diag::LargerUnit.code, Category::Clarity, "a quantity that a larger unit says shorter",
     FindLargerUnit},
    {diag::RepeatedTestName.code, Category::Clarity, "two tests of one name in a file",
     FindRepeatedTestName},
    {diag::Lookalike.code, Category::Clarity, "a text of letters that pass for others",
     FindLookalike},
    {diag::RuleUnfound.code, Category::Clarity, "many rules that every request is asked",
     FindUnfound},
};

}  // namespace

std::span<const Rule> ClarityRules() { return kRules; }

}  // namespace curfew::lint
