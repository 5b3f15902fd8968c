// The planes `image` and `identity`: what runs, and who it is.
#include "compiler/base/limits.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/variable.h"

#include <algorithm>

namespace curfew::check {

// ---- image --------------------------------------------------------------------------------------

void PlaneChecker::operator()(const syntax::AllowImages& statement) {
  if (!Once("image allow", statement.span)) return;
  class_.image.allow_none = statement.none;
  for (const syntax::Name& name : statement.images) {
    const auto found = context_.names.images.find(name.text);
    if (found == context_.names.images.end()) {
      if (!context_.partial) ReportUnknown(context_, "image", name, context_.names.ImageNames());
      continue;
    }
    const auto& allow = class_.image.allow;
    const bool again = std::any_of(allow.begin(), allow.end(), [&](const model::ImageGrant& grant) {
      return grant.image == found->second;
    });
    if (again) {
      context_.sink.Report(name.span, diag::StatedTwice, name.text);
      continue;
    }
    class_.image.allow.push_back({IdOf("image." + name.text), found->second, name.span});
  }
}

void PlaneChecker::operator()(const syntax::ExecStatement& statement) {
  if (!Once("exec", statement.span)) return;
  model::ExecGrant grant;
  grant.id = IdOf("image.exec");
  grant.span = statement.span;
  switch (statement.kind) {
    case syntax::ExecStatement::Kind::Any:
      grant.reach = model::ExecGrant::Reach::Any;
      break;
    case syntax::ExecStatement::Kind::None:
      grant.reach = model::ExecGrant::Reach::None;
      break;
    case syntax::ExecStatement::Kind::Patterns:
      grant.reach = model::ExecGrant::Reach::Patterns;
      for (const syntax::String& text : statement.patterns) {
        auto glob = values::ParseFileGlob(text.text);
        if (glob) {
          grant.patterns.push_back(*std::move(glob));
        } else {
          ReportWrong(context_, text.span, "a path pattern", glob.error(), Quoted);
        }
      }
      std::sort(grant.patterns.begin(), grant.patterns.end());
      break;
  }
  class_.image.exec = std::move(grant);
}

void PlaneChecker::operator()(const syntax::SizeStatement& statement) {
  if (!Once("size", statement.span)) return;
  constexpr std::string_view kItems[] = {"cpu", "memory", "disk"};
  for (const syntax::SizeItem& item : statement.items) {
    const std::string& what = item.what.text;
    std::optional<model::Bound>* place = nullptr;
    if (what == "cpu") place = &class_.image.cpu;
    if (what == "memory") place = &class_.image.memory;
    if (what == "disk") place = &class_.image.disk;
    if (place == nullptr) {
      ReportUnknown(context_, "size", item.what, kItems);
      continue;
    }
    if (!Once("size " + what, item.span)) continue;
    *place =
        ReadBound(item.bound, what == "cpu" ? Unit::Count : Unit::Size, what, "image.size." + what);
  }
}

void PlaneChecker::operator()(const syntax::IsolationStatement& statement) {
  if (!Once("isolation", statement.span)) return;
  constexpr std::string_view kLevels[] = {"kvm", "any"};
  if (statement.level.text == "kvm") {
    class_.image.isolation = module::Isolation::Kvm;
  } else if (statement.level.text == "any") {
    class_.image.isolation = module::Isolation::Any;
  } else {
    ReportUnknown(context_, "isolation", statement.level, kLevels);
  }
}

// ---- identity -----------------------------------------------------------------------------------

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
  RefuseYet(context_, statement.span, "secrets");
}

void PlaneChecker::operator()(const syntax::EnvStatement& statement) {
  bool is_fine = true;
  for (const syntax::String& name : statement.names) {
    const std::string_view entry = values::ReservedBy(name.text);
    if (!values::IsVariableName(name.text)) {
      context_.sink.Report(name.span, diag::WrongLiteral, "a variable",
                           "a name has letters, digits and `_`, and begins with no digit");
      is_fine = false;
    } else if (!entry.empty()) {
      context_.sink.Report(name.span, diag::ReservedVariable, name.text, std::string(entry));
      is_fine = false;
    }
  }
  if (is_fine) RefuseYet(context_, statement.span, "env");
}

void PlaneChecker::operator()(const syntax::AccessStatement& statement) {
  if (!Once("access", statement.span)) return;
  model::AccessGrant grant{IdOf("identity.access"), {}, statement.span};
  for (const syntax::Audience& audience : statement.audiences) {
    switch (audience.kind) {
      case syntax::Audience::Kind::Attribute:
        RefuseYet(context_, audience.span, "access " + audience.text);
        break;
      case syntax::Audience::Kind::Any:
        RefuseYet(context_, audience.span, "access any");
        break;
      case syntax::Audience::Kind::Principal: {
        auto principal = values::ParsePrincipal(audience.text);
        if (principal) {
          grant.principals.push_back(*std::move(principal));
        } else {
          ReportWrong(context_, audience.span, "a principal", principal.error(), Quoted);
        }
        break;
      }
    }
  }
  std::sort(grant.principals.begin(), grant.principals.end());
  grant.principals.erase(std::unique(grant.principals.begin(), grant.principals.end()),
                         grant.principals.end());
  class_.identity.access = std::move(grant);
}

}  // namespace curfew::check
