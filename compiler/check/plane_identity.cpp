// The plane `identity`: who a task is, and what it carries.
#include "compiler/base/limits.h"
#include "compiler/check/audience.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/secret.h"
#include "compiler/values/quantity.h"
#include "compiler/values/variable.h"

#include <algorithm>

namespace curfew::check {

void PlaneChecker::operator()(const syntax::TokenStatement& statement) {
  if (!Once("token", statement.span)) return;
  if (statement.audience.text.empty()) {
    context_.sink.Report(statement.audience.span, diag::WrongLiteral, "an audience",
                         "it cannot be empty");
    return;
  }
  const auto lives = ReadPositive(statement.lives, Unit::Duration, "lives");
  if (!lives) return;
  if (*lives > limits::TokenLifeMsMax) {
    context_.sink.Report(statement.lives.span, diag::TokenLivesTooLong,
                         values::DurationText(*lives),
                         values::DurationText(limits::TokenLifeMsMax));
    return;
  }
  class_.identity.token = model::TokenGrant{
      IdOf("identity.token"), {statement.audience.text, *lives}, statement.lives.span};
}

void PlaneChecker::operator()(const syntax::SecretsStatement& statement) {
  if (!Once("secrets", statement.span)) return;
  model::SecretsGrant grant{{}, statement.span};
  for (const syntax::Name& name : statement.secrets) {
    const auto secret = FindSecret(context_, name);
    if (!secret) context_.unread_secrets.insert(class_.name);
    if (!secret || !Once("secrets " + name.text, name.span)) continue;
    grant.secrets.push_back({IdOf("identity.secrets." + name.text), *secret});
  }
  std::sort(grant.secrets.begin(), grant.secrets.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  class_.identity.secrets = std::move(grant);
}

void PlaneChecker::operator()(const syntax::EnvStatement& statement) {
  if (!Once("env", statement.span)) return;
  model::EnvGrant grant{IdOf("identity.env"), {}, statement.span};
  for (const syntax::String& name : statement.names) {
    const std::string_view entry = values::ReservedBy(name.text);
    if (!values::IsVariableName(name.text)) {
      context_.sink.Report(name.span, diag::WrongLiteral, "a variable",
                           "a name has letters, digits and `_`, and begins with no digit");
    } else if (!entry.empty()) {
      context_.sink.Report(name.span, diag::ReservedVariable, name.text, std::string(entry));
    } else if (Once("env \"" + name.text + "\"", name.span)) {
      grant.names.push_back(name.text);
    }
  }
  std::sort(grant.names.begin(), grant.names.end());
  class_.identity.env = std::move(grant);
}

void PlaneChecker::operator()(const syntax::AccessStatement& statement) {
  if (!Once("access", statement.span)) return;
  model::AccessGrant grant{IdOf("identity.access"), false, {}, statement.span};
  for (const syntax::Audience& text : statement.audiences) {
    auto audience = ReadAudience(context_, text);
    if (!audience) continue;
    switch (audience->kind) {
      case model::Audience::Kind::Any:
        grant.any = true;
        break;
      case model::Audience::Kind::TaskOwner:
        break;  // who has access whatever is written
      case model::Audience::Kind::Principal:
        grant.principals.push_back(std::move(audience->principal));
        break;
    }
  }
  std::sort(grant.principals.begin(), grant.principals.end());
  grant.principals.erase(std::unique(grant.principals.begin(), grant.principals.end()),
                         grant.principals.end());
  class_.identity.access = std::move(grant);
}

}  // namespace curfew::check
