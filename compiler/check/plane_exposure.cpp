// The plane `network`, but for its rules about requests out: who reads inside TLS, how much may
// leave, and what of the inside may be reached.
#include "compiler/base/limits.h"
#include "compiler/check/audience.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/rule.h"
#include "compiler/model/print.h"
#include "compiler/values/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {

void PlaneChecker::operator()(const syntax::TlsStatement& statement) {
  if (!Once("tls", statement.span)) return;
  constexpr std::string_view kModes[] = {"inspect", "names"};
  if (statement.mode.text == "inspect") {
    class_.network.tls = model::Tls::Inspect;
  } else if (statement.mode.text == "names") {
    class_.network.tls = model::Tls::Names;
  } else {
    context_.unread_tls.insert(class_.name);
    ReportUnknown(context_, "way to treat TLS", statement.mode, kModes);
  }
}

void PlaneChecker::operator()(const syntax::LimitStatement& statement) {
  model::NetworkPlane& plane = class_.network;
  const auto size = [&](const syntax::LimitItem& item, std::string_view name) {
    return ReadBound({std::nullopt, item.amount, item.span}, Unit::Size, "limit",
                     fmt::format("network.limit.{}", name));
  };
  for (const syntax::LimitItem& item : statement.items) {
    switch (item.kind) {
      case syntax::LimitItem::Kind::Requests: {
        if (!Once("limit … requests per …", item.span)) break;
        const auto most = ReadPositive(item.amount, Unit::Count, "limit");
        const auto per_ms = ReadPositive(*item.per, Unit::Duration, "per");
        if (!most || !per_ms) break;
        if (*per_ms > limits::RateWindowMsMax) {
          context_.sink.Report(item.per->span, diag::RateTooLong, item.per->text,
                               values::DurationText(limits::RateWindowMsMax));
          break;
        }
        plane.request_rate = {IdOf("network.limit.requests"), *most, *per_ms, item.span};
        break;
      }
      case syntax::LimitItem::Kind::PerRequest:
        if (Once("limit … per request", item.span)) plane.request_bytes = size(item, "request");
        break;
      case syntax::LimitItem::Kind::InAll:
        if (Once("limit … in all", item.span)) plane.total_bytes = size(item, "total");
        break;
    }
  }
}

void PlaneChecker::operator()(const syntax::ExposeStatement& statement) {
  model::NetworkPlane& plane = class_.network;
  if (statement.none) {
    if (Once("expose none", statement.span)) plane.expose_none = statement.span;
    return;
  }
  const auto ports = ReadPortRange(context_, *statement.ports);
  auto to = ReadAudience(context_, *statement.to);
  auto lasts = ReadBound(*statement.lasts, Unit::Duration, "for", "network.expose.lasts");
  const auto tail = CheckTail(context_, statement.tail, schema::Action::Expose);
  if (!ports || !to || !lasts || !tail) return;
  model::ExposeRule rule{{},
                         *ports,
                         *std::move(to),
                         *std::move(lasts),
                         tail->condition,
                         tail->message,
                         statement.span};
  auto id = ClaimId(context_, IdOf("network"), statement.label, "expose",
                    model::RuleText(context_.model, rule), statement.span);
  if (!id) return;
  rule.id = *std::move(id);
  plane.exposes.push_back(std::move(rule));
}

void PlaneChecker::FinishNetwork() {
  model::NetworkPlane& plane = class_.network;
  const bool some_allow =
      std::any_of(plane.rules.begin(), plane.rules.end(), [](const model::EgressRule& rule) {
        return rule.effect == model::EgressRule::Effect::Allow;
      });
  if (plane.allow_none && some_allow) {
    context_.sink.Report(*plane.allow_none, diag::NoneBesideGrant, "allow");
  }
  if (plane.expose_none && !plane.exposes.empty()) {
    context_.sink.Report(*plane.expose_none, diag::NoneBesideGrant, "expose");
  }
  std::sort(plane.exposes.begin(), plane.exposes.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
}

}  // namespace curfew::check
