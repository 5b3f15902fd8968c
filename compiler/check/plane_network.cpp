// The plane `network`: which requests may leave. An allow reads narrowly, a deny widely
// (language.md section 6).
#include "compiler/check/list.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/rule.h"
#include "compiler/model/print.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using model::EgressRule;
using model::EgressTarget;
using Stream = syntax::Traffic::Stream;

template <typename T>
void SortUnique(std::vector<T>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

// What an allow must not name: a whole registry of names, or addresses that nothing opens.
bool IsTooWide(Context& context, const values::Place& place, Span span) {
  if (const auto* host = std::get_if<values::HostPattern>(&place)) {
    const bool wide =
        host->reach != values::HostReach::Exact && host->name.find('.') == std::string::npos;
    if (wide) {
      context.sink.Report(span, diag::WildcardTooBroad, values::ToString(*host));
    }
    return wide;
  }
  const auto& block = std::get<values::Cidr>(place);
  const auto range = values::UnpinnableIn(block);
  if (range) {
    context.sink.Report(span, diag::CannotReach, values::ToString(block), values::WordOf(*range));
  }
  return range.has_value();
}

// `https://…` as a target. The port is the URL's, the clause's, or for an allow the scheme's own.
std::optional<EgressTarget> ReadUrlTarget(Context& context, const syntax::Target& text,
                                          const std::vector<model::PortRange>& ports, bool allow) {
  auto url = values::ParseUrlPattern(text.text);
  if (!url) {
    ReportWrong(context, text.span, "a URL pattern", url.error(), {});
    return std::nullopt;
  }
  EgressTarget target;
  target.http = url->scheme == values::UrlScheme::Http;
  target.https = url->scheme == values::UrlScheme::Https;
  target.place = url->place;
  target.path = url->path;
  target.ports = ports;
  if (url->port) {
    if (!ports.empty()) {
      context.sink.Report(text.span, diag::PortStatedTwice, text.text);
      return std::nullopt;
    }
    target.ports = {{*url->port, *url->port}};
  } else if (allow && ports.empty()) {
    const std::uint16_t port = values::PortOf(url->scheme);
    target.ports = {{port, port}};
  }
  return target;
}

// `host`, `host:port`, an address or a block. Which schemes it covers, the statement says.
std::optional<EgressTarget> ReadPlaceTarget(Context& context, const syntax::Target& text,
                                            const std::vector<model::PortRange>& ports) {
  auto place = values::ParsePlacePattern(text.text);
  if (!place) {
    ReportWrong(context, text.span, "a host or an address", place.error(), Quoted);
    return std::nullopt;
  }
  EgressTarget target;
  target.place = place->place;
  target.ports = ports;
  if (place->port) {
    if (!ports.empty()) {
      context.sink.Report(text.span, diag::PortStatedTwice, text.text);
      return std::nullopt;
    }
    target.ports = {{*place->port, *place->port}};
  }
  return target;
}

bool ReadPorts(Context& context, const std::vector<syntax::PortRange>& texts,
               std::vector<model::PortRange>& ports) {
  bool whole = true;
  const auto read = [&](const syntax::Quantity& text) -> std::uint16_t {
    const auto port = values::ParsePort(text.text);
    if (port) return *port;
    ReportWrong(context, text.span, "a port", port.error());
    whole = false;
    return 0;
  };
  for (const syntax::PortRange& text : texts) {
    model::PortRange range;
    range.first = read(text.first);
    range.last = text.last ? read(*text.last) : range.first;
    if (whole && range.last < range.first) {
      context.sink.Report(text.span, diag::EmptyPortRange);
      whole = false;
    }
    ports.push_back(range);
  }
  SortUnique(ports);
  return whole;
}

}  // namespace

bool PlaneChecker::RefuseLaterTraffic(const syntax::Traffic& traffic) {
  bool later = false;
  const auto refuse = [&](Span span, std::string_view construct) {
    RefuseYet(context_, span, construct);
    later = true;
  };
  for (const syntax::Target& target : traffic.targets) {
    if (target.kind == syntax::Target::Kind::Internet) refuse(target.span, "internet");
  }
  if (!traffic.query.empty()) refuse(traffic.query.front().span, "query");
  return later;
}

// The targets with the elements of lists in their place. Where an allow of methods wants a URL, a
// host of a list is its `https` one: what goes in the clear is written out.
std::optional<std::vector<syntax::Target>> PlaneChecker::WithoutLists(
    const syntax::Traffic& traffic, EgressRule::Effect effect) {
  using Kind = syntax::ListDecl::Kind;
  const bool connect = traffic.stream == Stream::Connect;
  const bool as_url = !connect && effect == EgressRule::Effect::Allow;
  std::vector<syntax::Target> targets;
  bool whole = true;
  for (const syntax::Target& target : traffic.targets) {
    if (target.kind == syntax::Target::Kind::Pattern) targets.push_back(target);
    if (target.kind != syntax::Target::Kind::List) continue;
    const syntax::Name name{target.text, target.span};
    const auto* list = as_url ? FindList(context_, name, {Kind::Hosts})
                              : FindList(context_, name, {Kind::Hosts, Kind::Addresses});
    if (list != nullptr && connect && effect == EgressRule::Effect::Allow &&
        traffic.ports.empty()) {
      context_.sink.Report(target.span, diag::ListWithoutPort, target.text);
      list = nullptr;
    }
    if (list == nullptr) {
      whole = false;
      continue;
    }
    for (const syntax::Expr& element : list->elements) {
      targets.push_back({.kind = syntax::Target::Kind::Pattern,
                         .text = (as_url ? "https://" : "") + element.text,
                         .span = target.span});
    }
  }
  if (!whole) return std::nullopt;
  return targets;
}

bool PlaneChecker::ReadPins(const std::vector<syntax::Place>& at, EgressRule::Effect effect,
                            std::vector<values::Cidr>& pins) {
  if (!at.empty() && effect == EgressRule::Effect::Deny) {
    context_.sink.Report(at.front().span, diag::PinOfDeny);
    return false;
  }
  bool whole = true;
  const auto pin = [&](const std::string& text, Span span) {
    const auto block = values::ParseCidr(text);
    if (!block) {
      ReportWrong(context_, span, "an address block", block.error(), Quoted);
      whole = false;
    } else if (const auto range = values::UnpinnableIn(*block)) {
      context_.sink.Report(span, diag::CannotReach, text, values::WordOf(*range));
      whole = false;
    } else {
      pins.push_back(*block);
    }
  };
  for (const syntax::Place& place : at) {
    if (place.kind == syntax::Place::Kind::Block) {
      pin(place.text, place.span);
      continue;
    }
    const auto* list =
        FindList(context_, {place.text, place.span}, {syntax::ListDecl::Kind::Addresses});
    whole = whole && list != nullptr;
    if (list == nullptr) continue;
    for (const syntax::Expr& element : list->elements) pin(element.text, place.span);
  }
  return whole;
}

std::optional<EgressRule> PlaneChecker::ReadTraffic(const syntax::Traffic& traffic,
                                                    EgressRule::Effect effect) {
  const bool allow = effect == EgressRule::Effect::Allow;
  EgressRule rule;
  rule.effect = effect;
  bool whole = !RefuseLaterTraffic(traffic);
  for (const syntax::Name& name : traffic.methods) {
    auto method = values::ParseMethod(name.text);
    if (method) {
      rule.methods.push_back(*std::move(method));
    } else {
      ReportWrong(context_, name.span, "a method", method.error());
      whole = false;
    }
  }
  SortUnique(rule.methods);
  std::vector<model::PortRange> ports;
  whole = ReadPorts(context_, traffic.ports, ports) && whole;

  const bool connect = traffic.stream == Stream::Connect;
  // What a place without a scheme covers; a deny of methods is about HTTP alone.
  const bool of_http = !connect;
  const bool of_tcp = connect || (!allow && traffic.methods.empty());
  const auto cover = [&](EgressTarget target) {
    target.http = target.https = of_http;
    target.tcp = of_tcp;
    rule.targets.push_back(std::move(target));
  };
  const auto targets = WithoutLists(traffic, effect);
  whole = whole && targets.has_value();
  for (const syntax::Target& text : targets.value_or(std::vector<syntax::Target>())) {
    // An allow of methods names URLs, and a stream never is one.
    const bool url = !connect && (allow || text.text.find("://") != std::string::npos);
    auto target =
        url ? ReadUrlTarget(context_, text, ports, allow) : ReadPlaceTarget(context_, text, ports);
    if (!target) {
      whole = false;
      continue;
    }
    if (allow && IsTooWide(context_, *target->place, text.span)) {
      whole = false;
    } else if (allow && connect && target->ports.empty()) {
      context_.sink.Report(text.span, diag::StreamWithoutPort, text.text);
      whole = false;
    } else if (url) {
      rule.targets.push_back(*std::move(target));
    } else {
      cover(*std::move(target));
    }
  }
  if (traffic.targets.empty()) {
    EgressTarget every;
    every.ports = ports;
    cover(std::move(every));
  }
  whole = ReadPins(traffic.at, effect, rule.pins) && whole;
  if (!whole) return std::nullopt;
  SortUnique(rule.targets);
  SortUnique(rule.pins);
  return rule;
}

void PlaneChecker::AddEgressRule(EgressRule rule, const std::optional<syntax::Name>& label,
                                 const syntax::Tail& tail, Span span) {
  const auto checked = CheckTail(context_, tail, schema::Action::Egress);
  if (!checked) return;
  rule.condition = checked->condition;
  rule.message = checked->message;
  rule.span = span;
  const bool allow = rule.effect == EgressRule::Effect::Allow;
  const std::string_view effect = rule.trial ? "trial" : allow ? "allow" : "deny";
  auto id = ClaimId(context_, IdOf("network"), label, effect, model::RuleText(context_.model, rule),
                    span);
  if (!id) return;
  rule.id = *std::move(id);
  auto& rules = rule.trial ? class_.network.trials : class_.network.rules;
  rules.push_back(std::move(rule));
}

void PlaneChecker::operator()(const syntax::AllowTraffic& statement) {
  if (statement.none) {
    if (Once("allow none", statement.span)) class_.network.allow_none = statement.span;
    return;
  }
  bool later = false;
  if (statement.traffic.stream == Stream::Websocket) {
    RefuseYet(context_, statement.span, "allow websocket");
    return;
  }
  if (statement.encoded_slash) {
    RefuseYet(context_, *statement.encoded_slash, "with encoded slash");
    later = true;
  }
  if (statement.secret) {
    RefuseYet(context_, statement.secret->span, "using");
    later = true;
  }
  auto rule = ReadTraffic(statement.traffic, EgressRule::Effect::Allow);
  if (!rule || later) return;
  AddEgressRule(*std::move(rule), statement.label, statement.tail, statement.span);
}

void PlaneChecker::operator()(const syntax::DenyTraffic& statement) {
  if (statement.traffic.stream == Stream::Websocket) {
    return RefuseYet(context_, statement.span, "deny websocket");
  }
  auto rule = ReadTraffic(statement.traffic, EgressRule::Effect::Deny);
  if (!rule) return;
  if (statement.trial) {
    rule->trial = CheckTrial(context_, *statement.trial);
    if (!rule->trial) return;
  }
  AddEgressRule(*std::move(rule), statement.label, statement.tail, statement.span);
}

void PlaneChecker::CheckAllowNone() {
  const auto& rules = class_.network.rules;
  const bool some_allow = std::any_of(rules.begin(), rules.end(), [](const EgressRule& rule) {
    return rule.effect == EgressRule::Effect::Allow;
  });
  if (class_.network.allow_none && some_allow) {
    context_.sink.Report(*class_.network.allow_none, diag::NoneBesideGrant, "allow");
  }
}

void PlaneChecker::operator()(const syntax::TlsStatement& statement) {
  RefuseYet(context_, statement.span, "tls");
}

void PlaneChecker::operator()(const syntax::LimitStatement& statement) {
  RefuseYet(context_, statement.span, "limit");
}

void PlaneChecker::operator()(const syntax::ExposeStatement& statement) {
  RefuseYet(context_, statement.span, "expose");
}

}  // namespace curfew::check
