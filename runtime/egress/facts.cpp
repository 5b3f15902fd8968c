#include "runtime/egress/facts.h"

#include <fmt/format.h>

namespace curfew::egress {

namespace slot = schema::slot;

std::string_view WordOf(Scheme scheme) {
  switch (scheme) {
    case Scheme::Http:
      return "http";
    case Scheme::Https:
      return "https";
    case Scheme::Tcp:
      return "tcp";
  }
  return "";
}

std::string Describe(const EgressFacts& facts) {
  std::string place = facts.host;
  if (place.empty() && facts.ip) {
    place = values::ToString(*facts.ip);
    if (!values::IsIpv4(*facts.ip)) place = "[" + place + "]";
  }
  if (facts.http != Visible::Seen) {
    const std::string_view word = facts.scheme ? WordOf(*facts.scheme) : "connect";
    return fmt::format("{} {}:{}", word, place, facts.port);
  }
  std::string text;
  text.reserve(facts.method.size() + place.size() + facts.path.size() + 16);
  text.append(facts.method).append(" http://").append(place);
  if (facts.port != 80) text.append(":").append(std::to_string(facts.port));
  return text.append(facts.path);
}

void State(const EgressFacts& facts, module::Request& request) {
  if (facts.scheme) {
    request.SetInteger(slot::EgressScheme, static_cast<std::int64_t>(*facts.scheme));
  }
  if (facts.host.empty()) {
    request.SetAbsent(slot::EgressHost);
  } else {
    request.SetText(slot::EgressHost, facts.host);
  }
  if (facts.ip) {
    const auto* bytes = reinterpret_cast<const char*>(facts.ip->bytes.data());
    request.SetText(slot::EgressIp, {bytes, facts.ip->bytes.size()});
  }
  request.SetInteger(slot::EgressPort, facts.port);
  switch (facts.http) {
    case Visible::NotYet:
      break;
    case Visible::Hidden:
      request.SetAbsent(slot::EgressMethod);
      request.SetAbsent(slot::EgressPath);
      request.SetAbsent(slot::EgressQuery);
      request.SetAbsent(slot::EgressUpgrade);
      break;
    case Visible::Seen:
      request.SetAbsent(slot::EgressUpgrade);  // one that asks for it never comes so far
      request.SetText(slot::EgressMethod, facts.method);
      request.SetText(slot::EgressPath, facts.path);
      if (facts.query) {
        request.SetText(slot::EgressQuery, *facts.query);
      } else {
        request.SetAbsent(slot::EgressQuery);
      }
      break;
  }
  request.SetInteger(slot::EgressBytes, facts.bytes);
  request.SetInteger(slot::EgressRequests, facts.requests);
  request.SetInteger(slot::EgressTotal, facts.total);
}

}  // namespace curfew::egress
