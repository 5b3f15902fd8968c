// The plane `network`: which requests may leave. An allow reads narrowly, a deny widely
// (language.md section 6).
#include "compiler/check/list.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/public_suffix.h"
#include "compiler/check/rule.h"
#include "compiler/check/secret.h"
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
    return host->reach != values::HostReach::Exact && IsWildcardTooBroad(context, *host, span);
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
                                          const std::vector<model::PortRange>& ports, bool allow,
                                          values::EscapedSlashes slashes) {
  auto url = values::ParseUrlPattern(text.text, slashes);
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

// Every public name. An allow of methods asks them by `https`, as it does the hosts of a list.
EgressTarget EveryName(const std::vector<model::PortRange>& ports, bool as_url) {
  EgressTarget target;
  target.internet = true;
  target.ports = ports;
  if (!as_url) return target;
  target.https = true;
  const std::uint16_t port = values::PortOf(values::UrlScheme::Https);
  if (ports.empty()) target.ports = {{port, port}};
  return target;
}

// `deny egress when …` stands beside the planes, not in one; a list may still be called so.
bool IsRuleOfAction(Context& context, const syntax::Traffic& traffic) {
  for (const syntax::Target& target : traffic.targets) {
    if (target.kind != syntax::Target::Kind::List) continue;
    const auto action = schema::ActionOf(target.text);
    if (!action || context.names.lists.contains(target.text)) continue;
    auto draft = context.sink.Report(target.span, diag::RuleInPlane, target.text);
    // Nothing but egress is judged here, so that all of it is the same as the action.
    const bool is_alone = traffic.targets.size() == 1 && traffic.ports.empty();
    if (is_alone && *action == schema::Action::Egress) draft.Fix(target.span, "any");
    return true;
  }
  return false;
}

bool ReadPorts(Context& context, const std::vector<syntax::PortRange>& texts,
               std::vector<model::PortRange>& ports) {
  bool whole = true;
  for (const syntax::PortRange& text : texts) {
    const auto range = ReadPortRange(context, text);
    whole = whole && range;
    if (range) ports.push_back(*range);
  }
  SortUnique(ports);
  return whole;
}

}  // namespace

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
    if (target.kind != syntax::Target::Kind::List) targets.push_back(target);
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
                                                    EgressRule::Effect effect,
                                                    values::EscapedSlashes slashes) {
  EgressRule rule;
  rule.effect = effect;
  rule.websocket = traffic.stream == Stream::Websocket;
  bool whole = true;
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
  for (const syntax::QueryTerm& term : traffic.query) {
    rule.query.push_back({term.key.text, term.value.text});
  }
  SortUnique(rule.query);
  std::vector<model::PortRange> ports;
  whole = ReadPorts(context_, traffic.ports, ports) && whole;
  whole = ReadTargets(traffic, ports, slashes, rule) && whole;
  whole = ReadPins(traffic.at, effect, rule.pins) && whole;
  for (const syntax::Target& target : traffic.targets) {
    if (target.kind != syntax::Target::Kind::Internet || rule.pins.empty()) continue;
    context_.sink.Report(target.span, diag::InternetPinned);
    whole = false;
  }
  if (!whole) return std::nullopt;
  SortUnique(rule.targets);
  SortUnique(rule.pins);
  return rule;
}

bool PlaneChecker::ReadTargets(const syntax::Traffic& traffic,
                               const std::vector<model::PortRange>& ports,
                               values::EscapedSlashes slashes, EgressRule& rule) {
  const bool allow = rule.effect == EgressRule::Effect::Allow;
  const bool connect = traffic.stream == Stream::Connect;
  // What a place without a scheme covers; a deny of methods, of a WebSocket or of a query is about
  // HTTP alone.
  const bool of_tcp =
      connect || (!allow && !rule.websocket && traffic.methods.empty() && traffic.query.empty());
  const auto cover = [&](EgressTarget target) {
    target.http = target.https = !connect;
    target.tcp = of_tcp;
    rule.targets.push_back(std::move(target));
  };
  const auto targets = WithoutLists(traffic, rule.effect);
  bool whole = targets.has_value();
  for (const syntax::Target& text : targets.value_or(std::vector<syntax::Target>())) {
    const bool internet = text.kind == syntax::Target::Kind::Internet;
    // An allow of methods names URLs, and a stream never is one.
    const bool url = !connect && (allow || text.text.find("://") != std::string::npos);
    auto target = internet ? EveryName(ports, url && allow)
                  : url    ? ReadUrlTarget(context_, text, ports, allow, slashes)
                           : ReadPlaceTarget(context_, text, ports);
    if (!target) {
      whole = false;
      continue;
    }
    if (allow && target->place && IsTooWide(context_, *target->place, text.span)) {
      whole = false;
    } else if (allow && connect && target->ports.empty() && traffic.ports.empty()) {
      context_.sink.Report(text.span, diag::StreamWithoutPort,
                           internet ? "internet port PORT" : text.text + ":PORT");
      whole = false;
    } else if (target->http || target->https) {
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
  return whole;
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
  bool whole = true;
  const bool connect = statement.traffic.stream == Stream::Connect;
  if (statement.encoded_slash && connect) {
    context_.sink.Report(*statement.encoded_slash, diag::NotOfStreams, "with encoded slash");
    whole = false;
  }
  for (const syntax::Target& target : statement.traffic.targets) {
    if (target.kind != syntax::Target::Kind::Internet || statement.tail.because) continue;
    context_.sink.Report(target.span, diag::InternetWithoutReason);
    whole = false;
  }
  if (statement.secret && connect) {
    context_.sink.Report(statement.secret->span, diag::NotOfStreams, "using");
    whole = false;
  }
  const auto secret = statement.secret ? FindSecret(context_, *statement.secret) : std::nullopt;
  auto rule = ReadTraffic(
      statement.traffic, EgressRule::Effect::Allow,
      statement.encoded_slash ? values::EscapedSlashes::Kept : values::EscapedSlashes::Refused);
  if (!rule || !whole) return;
  rule->encoded_slash = statement.encoded_slash.has_value();
  if (statement.secret) {
    if (!secret || !MaySend(context_, *rule, *secret, statement.secret->span)) return;
    rule->secret = secret;
  }
  AddEgressRule(*std::move(rule), statement.label, statement.tail, statement.span);
}

void PlaneChecker::operator()(const syntax::DenyTraffic& statement) {
  if (IsRuleOfAction(context_, statement.traffic)) return;
  auto rule =
      ReadTraffic(statement.traffic, EgressRule::Effect::Deny, values::EscapedSlashes::Refused);
  if (!rule) return;
  if (statement.trial) {
    rule->trial = CheckTrial(context_, *statement.trial);
    if (!rule->trial) return;
  }
  AddEgressRule(*std::move(rule), statement.label, statement.tail, statement.span);
}

}  // namespace curfew::check
