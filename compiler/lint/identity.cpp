#include "compiler/lint/rule.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace curfew::lint {
namespace {

constexpr std::int64_t kTokenMax = 3'600'000;

bool IsOf(const syntax::Rule& rule, syntax::Action action) {
  return std::any_of(rule.actions.begin(), rule.actions.end(),
                     [action](const syntax::ActionName& name) { return name.action == action; });
}

bool ReadsCaller(const std::optional<syntax::Expr>& expr) {
  return expr && Reads(*expr, "caller.");
}

// A rule that can refuse a create by who asks.
bool TiesToCaller(const syntax::Rule& rule) {
  const bool decides = !rule.trial && IsOf(rule, syntax::Action::Create);
  return decides && (ReadsCaller(rule.condition) || ReadsCaller(rule.tail.when));
}

void FindStatedFactsAlone(const Subject& subject, diagnostics::Sink& sink) {
  const auto ties = [](const syntax::Rule* rule) { return TiesToCaller(*rule); };
  if (std::any_of(subject.tree.rules.begin(), subject.tree.rules.end(), ties)) return;
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    bool is_tied = false;
    for (const syntax::SandboxDecl* link : subject.tree.ChainOf(*sandbox)) {
      is_tied = is_tied || ReadsCaller(link->when);
      for (const syntax::SandboxMember& member : link->members) {
        const auto* rule = std::get_if<syntax::Rule>(&member);
        is_tied = is_tied || (rule != nullptr && TiesToCaller(*rule));
      }
    }
    if (!is_tied) sink.Report(sandbox->name.span, diag::StatedFactsAlone, sandbox->name.text);
  }
}

void FindLongToken(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::TokenStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::TokenStatement& token) {
        const auto lives = DurationOf(token.lives);
        if (!lives || *lives <= kTokenMax) return;
        sink.Report(token.lives.span, diag::LongToken, values::DurationText(*lives));
      });
}

// Whether `_` parts the name so that one part is `word`, and not all of it.
bool HasWord(std::string_view name, std::string_view word) {
  if (name == word) return false;
  for (std::size_t at = name.find(word); at != std::string_view::npos;
       at = name.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || name[at - 1] == '_') && (end == name.size() || name[end] == '_')) return true;
  }
  return false;
}

bool LooksLikeSecret(std::string_view name) {
  constexpr std::array kParts = {
      std::string_view("TOKEN"),  std::string_view("SECRET"),     std::string_view("PASSWORD"),
      std::string_view("PASSWD"), std::string_view("CREDENTIAL"), std::string_view("API_KEY"),
      std::string_view("APIKEY"), std::string_view("ACCESS_KEY"), std::string_view("PRIVATE_KEY"),
      std::string_view("COOKIE"), std::string_view("PASSPHRASE"), std::string_view("BEARER")};
  // Short ones stand in other words too, and PWD alone is the folder.
  constexpr std::array kWords = {std::string_view("PWD"), std::string_view("PASS"),
                                 std::string_view("PAT"), std::string_view("KEY")};
  std::string upper(name);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  const bool has_part = std::any_of(kParts.begin(), kParts.end(), [&upper](std::string_view part) {
    return upper.find(part) != std::string::npos;
  });
  if (has_part) return true;
  if (HasWord(upper, "PUBLIC")) return false;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&upper](std::string_view word) { return HasWord(upper, word); });
}

void FindSecretInEnv(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::EnvStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::EnvStatement& env) {
        for (const syntax::String& name : env.names) {
          if (LooksLikeSecret(name.text)) sink.Report(name.span, diag::SecretInEnv, name.text);
        }
      });
}

void FindAccessForAny(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::AccessStatement>(
      subject.tree, [&sink](const syntax::SandboxDecl&, const syntax::AccessStatement& access) {
        for (const syntax::Audience& audience : access.audiences) {
          if (audience.kind != syntax::Audience::Kind::Any) continue;
          sink.Report(audience.span, diag::AccessForAny);
        }
      });
}

void FindNamedPerson(const Subject& subject, diagnostics::Sink& sink) {
  const auto judge = [&sink](const std::string& text, syntax::Span span) {
    if (text.starts_with("user:")) sink.Report(span, diag::NamedPerson, text);
  };
  ForEachIn<syntax::AccessStatement>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::AccessStatement& access) {
        for (const syntax::Audience& audience : access.audiences) {
          if (audience.kind == syntax::Audience::Kind::Principal) {
            judge(audience.text, audience.span);
          }
        }
      });
  ForEachIn<syntax::ExposeStatement>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::ExposeStatement& expose) {
        if (expose.to && expose.to->kind == syntax::Audience::Kind::Principal) {
          judge(expose.to->text, expose.to->span);
        }
      });
  ForEachIn<syntax::PersistStatement>(
      subject.tree, [&judge](const syntax::SandboxDecl&, const syntax::PersistStatement& persist) {
        for (const syntax::KeepItem& item : persist.items) {
          if (item.kind == syntax::KeepItem::Kind::Owner && item.text) {
            judge(item.text->text, item.text->span);
          }
        }
      });
  ForEachCondition(subject.tree, [&judge](const syntax::Expr& condition) {
    Walk(condition, [&judge](const syntax::Expr& expr) {
      if (expr.kind == syntax::ExprKind::String) judge(expr.text, expr.span);
    });
  });
}

void FindSecretNotAttached(const Subject& subject, diagnostics::Sink& sink) {
  std::set<std::string_view> attached;
  ForEachIn<syntax::AllowTraffic>(
      subject.tree, [&attached](const syntax::SandboxDecl&, const syntax::AllowTraffic& allow) {
        if (allow.secret) attached.insert(allow.secret->text);
      });
  ForEachIn<syntax::SecretsStatement>(
      subject.tree, [&](const syntax::SandboxDecl&, const syntax::SecretsStatement& secrets) {
        for (const syntax::Name& secret : secrets.secrets) {
          if (attached.contains(secret.text)) continue;
          sink.Report(secret.span, diag::SecretNotAttached, secret.text);
        }
      });
}

// `internet`, or a stream or request to every name below one.
std::optional<TargetText> OpenEgressOf(const Subject& subject, const syntax::SandboxDecl& sandbox) {
  std::optional<TargetText> open;
  ForEach<syntax::AllowTraffic>(sandbox, [&](const syntax::AllowTraffic& allow) {
    for (TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      if (!open && target.internet) open = std::move(target);
    }
  });
  return open;
}

void FindCredentialsToEverywhere(const Subject& subject, diagnostics::Sink& sink) {
  for (const syntax::SandboxDecl* sandbox : subject.tree.classes) {
    const auto open = OpenEgressOf(subject, *sandbox);
    if (!open) continue;
    const auto chain = subject.tree.ChainOf(*sandbox);
    const auto* secrets = First<syntax::SecretsStatement>(chain);
    const auto* token = First<syntax::TokenStatement>(chain);
    const bool has_secrets = secrets != nullptr && !secrets->none;
    if (!has_secrets && token == nullptr) continue;
    sink.Report(open->span, diag::CredentialsToEverywhere, sandbox->name.text, open->text)
        .Note(has_secrets ? secrets->span : token->span, diag::StatedHere);
  }
}

constexpr Rule kRules[] = {
    {diag::StatedFactsAlone.code, Category::Identity,
     "a class that anybody gets who states the right facts", FindStatedFactsAlone},
    {diag::LongToken.code, Category::Identity, "a token that lives for more than an hour",
     FindLongToken},
    {diag::SecretInEnv.code, Category::Identity, "a secret in the environment", FindSecretInEnv},
    {diag::AccessForAny.code, Category::Identity, "access for everybody", FindAccessForAny},
    {diag::NamedPerson.code, Category::Identity, "a person by name", FindNamedPerson},
    {diag::SecretNotAttached.code, Category::Identity,
     "a secret that is granted and never attached", FindSecretNotAttached},
    {diag::CredentialsToEverywhere.code, Category::Identity,
     "credentials in a machine that reaches every public name", FindCredentialsToEverywhere},
};

}  // namespace

std::span<const Rule> IdentityRules() { return kRules; }

}  // namespace curfew::lint
