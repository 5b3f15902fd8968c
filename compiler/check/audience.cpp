#include "compiler/check/audience.h"

#include "compiler/base/check.h"
#include "compiler/check/literal.h"
#include "compiler/values/principal.h"

namespace curfew::check {

std::optional<model::Audience> ReadAudience(Context& context, const syntax::Audience& audience) {
  switch (audience.kind) {
    case syntax::Audience::Kind::Any:
      return model::Audience{model::Audience::Kind::Any, {}};
    case syntax::Audience::Kind::Attribute: {
      constexpr std::string_view kAttributes[] = {"task.owner"};
      if (audience.text == kAttributes[0]) {
        return model::Audience{model::Audience::Kind::TaskOwner, {}};
      }
      ReportUnknown(context, "audience", {audience.text, audience.span}, kAttributes);
      return std::nullopt;
    }
    case syntax::Audience::Kind::Principal: {
      auto principal = values::ParsePrincipal(audience.text);
      if (principal) {
        return model::Audience{model::Audience::Kind::Principal, *std::move(principal)};
      }
      ReportWrong(context, audience.span, "a principal", principal.error(), Quoted);
      return std::nullopt;
    }
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace curfew::check
