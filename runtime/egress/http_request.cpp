#include "runtime/egress/http_request.h"

#include "compiler/base/text.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::egress {
namespace {

using Reading = std::variant<HttpRequest, HttpRefusal>;

// Fields of one hop (RFC 9110 section 7.6.1), and what would tell the upstream of another route.
constexpr std::array<std::string_view, 17> OneHop = {"connection",
                                                     "keep-alive",
                                                     "te",
                                                     "trailer",
                                                     "transfer-encoding",
                                                     "upgrade",
                                                     "forwarded",
                                                     "proxy-connection",
                                                     "proxy-authorization",
                                                     "proxy-authenticate",
                                                     "via",
                                                     "http2-settings",
                                                     "x-forwarded-host",
                                                     "x-forwarded-server",
                                                     "x-host",
                                                     "x-original-host",
                                                     "x-http-host-override"};
// What must not be taken out of a request by naming it in Connection.
constexpr std::array<std::string_view, 8> EndToEnd = {
    "host", "content-length", "content-type", "authorization", "cookie", "expect", "range", "date"};
constexpr std::array<std::string_view, 3> MethodOverrides = {"x-http-method-override",
                                                             "x-http-method", "x-method-override"};
constexpr std::array<std::string_view, 3> PathOverrides = {"x-original-url", "x-rewrite-url",
                                                           "x-original-uri"};

constexpr std::string_view HttpPrefix = "http://";

template <std::size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view other) { return SameName(name, other); });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <typename F>
void ForEachInList(std::string_view list, const F& each) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = Trimmed(list.substr(0, comma));
    if (!item.empty()) each(item);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

HttpRefusal Invalid(std::string message, unsigned status = 400) {
  return {status, std::move(message)};
}

// `authority` without user information; a host, or an address as a URL spells it.
std::variant<Place, HttpRefusal> ReadAuthority(std::string_view authority,
                                               std::optional<std::uint16_t> usual_port) {
  // One reader for every authority: that of URLs. What could end one early is refused before.
  if (authority.find_first_of("/?#\\") != std::string_view::npos) {
    return Invalid("a host cannot hold `/`, `?`, `#` or a backslash");
  }
  std::string text;
  text.reserve(authority.size() + 8);
  text.append(HttpPrefix).append(authority).append("/");
  const auto url = values::ParseUrl(text);
  if (!url) return Invalid("the host is malformed: " + url.error().message);
  const bool has_port = authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
  if (!has_port && !usual_port) return Invalid("CONNECT names a host and a port");
  Place place;
  place.port = has_port ? url->port : *usual_port;
  if (const auto* host = std::get_if<std::string>(&url->place)) {
    place.host = *host;
  } else {
    place.address = values::Unwrap(std::get<values::Address>(url->place));
  }
  return place;
}

struct Target {
  std::optional<Place> place;  // of absolute form
  std::string_view authority;  // then, as it is spelt
  std::string path;
  std::optional<std::string> query;
};

std::variant<Target, HttpRefusal> ReadTarget(std::string_view text) {
  if (std::any_of(text.begin(), text.end(), [](char c) { return c <= 0x20 || c >= 0x7f; })) {
    return Invalid("a target holds visible ASCII only; the rest is escaped");
  }
  Target target;
  if (text.starts_with('/')) {
    if (text.find('#') != std::string_view::npos) return Invalid("a target carries no fragment");
    const std::size_t mark = text.find('?');
    // Whether an escaped slash may stand is the rules' to say.
    auto path = values::ParseUrlPath(text.substr(0, mark), values::EscapedSlashes::Kept);
    if (!path) return Invalid("the path is refused: " + path.error().message);
    target.path = *std::move(path);
    if (mark != std::string_view::npos) target.query = std::string(text.substr(mark + 1));
    return target;
  }
  if (text.starts_with("https://")) {
    return Invalid("`https` is asked for through CONNECT, or by a connection of its own");
  }
  auto parsed = values::ParseUrl(text);
  if (!parsed) return Invalid("the target is malformed: " + parsed.error().message);
  values::Url url = *std::move(parsed);
  Place place{.host = {}, .address = {}, .port = url.port};
  if (auto* host = std::get_if<std::string>(&url.place)) {
    place.host = std::move(*host);
  } else {
    place.address = values::Unwrap(std::get<values::Address>(url.place));
  }
  target.place = std::move(place);
  target.authority = text.substr(HttpPrefix.size());
  target.authority = target.authority.substr(0, target.authority.find_first_of("/?"));
  target.path = std::move(url.path);
  target.query = std::move(url.query);
  return target;
}

// Host, read once where it is spelt as the place was that is known already: its canonical name, or
// the target's authority.
std::variant<Place, HttpRefusal> ReadHost(std::string_view host, const Target& target,
                                          const std::optional<Place>& direct) {
  if (target.place && target.authority == host) return *target.place;
  if (direct && direct->port == 80 && !host.empty() && direct->host == host) return *direct;
  return ReadAuthority(host, std::uint16_t{80});
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

// What the fields say beside the target. Nothing where they are fine.
struct FieldsRead {
  std::optional<std::string_view> host;
  bool upgrades = false;
};

std::optional<HttpRefusal> ReadFields(const MessageHead& head, HttpRequest& request,
                                      FieldsRead& read) {
  for (const Field& field : head.fields) {
    if (SameName(field.name, "host")) {
      if (read.host) return Invalid("there are two Host");
      read.host = field.value;
    } else if (SameName(field.name, "upgrade")) {
      read.upgrades = true;
    } else if (SameName(field.name, "expect")) {
      if (!SameName(field.value, "100-continue")) {
        return Invalid("the only expectation is 100-continue", 417);
      }
    } else if (SameName(field.name, "connection")) {
      std::optional<HttpRefusal> refusal;
      ForEachInList(field.value, [&](std::string_view name) {
        if (IsOneOf(name, EndToEnd)) {
          refusal = Invalid(fmt::format("Connection takes `{}` out of the request", name));
        }
      });
      if (refusal) return refusal;
    } else if (IsOneOf(field.name, PathOverrides)) {
      return Invalid(fmt::format("`{}` names another path than the target", field.name));
    } else if (IsOneOf(field.name, MethodOverrides)) {
      auto method = values::ParseMethod(Upper(field.value));
      if (!method) {
        return Invalid(fmt::format("`{}` names no method: {}", field.name, method.error().message));
      }
      request.overrides.push_back(*std::move(method));
    }
  }
  return std::nullopt;
}

Reading ReadConnect(const MessageHead& head, const std::optional<Place>& direct) {
  if (direct) return Invalid("CONNECT is for the gateway itself, not for a server behind it");
  if (head.framing != Framing::None) return Invalid("CONNECT has no body");
  auto authority = ReadAuthority(head.target, std::nullopt);
  if (auto* refusal = std::get_if<HttpRefusal>(&authority)) return std::move(*refusal);
  HttpRequest request;
  FieldsRead read;
  if (auto refusal = ReadFields(head, request, read)) return *std::move(refusal);
  request.is_connect = true;
  request.place = std::get<Place>(std::move(authority));
  if (read.host) {
    const auto host = ReadAuthority(*read.host, request.place.port);
    if (const auto* refusal = std::get_if<HttpRefusal>(&host)) return *refusal;
    if (std::get<Place>(host) != request.place) {
      return Invalid("Host names another place than CONNECT");
    }
  }
  return request;
}

// Fields that Connection names, besides those of one hop.
std::vector<std::string_view> NamedByConnection(const MessageHead& head) {
  std::vector<std::string_view> names;
  for (const Field& field : head.fields) {
    if (!SameName(field.name, "connection") && !SameName(field.name, "proxy-connection")) continue;
    ForEachInList(field.value, [&](std::string_view name) { names.push_back(name); });
  }
  return names;
}

void AppendField(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\r\n");
}

// Every field that goes on, but for Host and what says the length.
void AppendEndToEnd(std::string& text, const MessageHead& head) {
  const std::vector<std::string_view> named = NamedByConnection(head);
  for (const Field& field : head.fields) {
    if (SameName(field.name, "host") || SameName(field.name, "content-length") ||
        IsOneOf(field.name, OneHop) ||
        std::any_of(named.begin(), named.end(),
                    [&](std::string_view name) { return SameName(name, field.name); })) {
      continue;
    }
    AppendField(text, field.name, field.value);
  }
}

void AppendFraming(std::string& text, Framing framing, std::uint64_t length) {
  if (framing == Framing::Chunked) text += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::Length) AppendField(text, "Content-Length", std::to_string(length));
}

}  // namespace

std::string AuthorityOf(const Place& place, std::uint16_t usual_port) {
  std::string text = place.host;
  if (text.empty()) {
    text = values::ToString(place.address);
    if (!values::IsIpv4(place.address)) text = "[" + text + "]";
  }
  if (place.port != usual_port) text += ":" + std::to_string(place.port);
  return text;
}

std::variant<HttpRequest, HttpRefusal> ReadRequest(const MessageHead& head,
                                                   const std::optional<Place>& direct) {
  if (head.method == "CONNECT") return ReadConnect(head, direct);
  HttpRequest request;
  auto method = values::ParseMethod(head.method);
  if (!method) return Invalid("the method is refused: " + method.error().message, 501);
  request.method = *std::move(method);

  auto target_read = ReadTarget(head.target);
  if (auto* refusal = std::get_if<HttpRefusal>(&target_read)) return std::move(*refusal);
  Target& target = std::get<Target>(target_read);
  if (!target.place && !direct) {
    return Invalid("a request to the gateway names its server: `GET http://server/path`");
  }

  FieldsRead read;
  if (auto refusal = ReadFields(head, request, read)) return *std::move(refusal);
  if (read.upgrades) {
    return Invalid("`Upgrade` would end the protocol that can be judged; leave it out", 403);
  }
  if (!read.host) return Invalid("there is no Host");
  auto host_read = ReadHost(*read.host, target, direct);
  if (auto* refusal = std::get_if<HttpRefusal>(&host_read)) return std::move(*refusal);
  request.place = std::get<Place>(std::move(host_read));
  if (target.place && *target.place != request.place) {
    return Invalid("the target and Host name two places");
  }
  if (direct && *direct != request.place) {
    return Invalid(fmt::format("Host names {}, and the connection is to {}",
                               AuthorityOf(request.place, 80), AuthorityOf(*direct, 80)));
  }
  request.path = std::move(target.path);
  request.query = std::move(target.query);
  return request;
}

std::string HeadForUpstream(const MessageHead& head, const HttpRequest& request) {
  std::string text = request.method + " " + request.path;
  if (request.query) text.append("?").append(*request.query);
  text += " HTTP/1.1\r\n";
  AppendField(text, "Host", AuthorityOf(request.place, 80));
  AppendEndToEnd(text, head);
  AppendFraming(text, head.framing, head.length);
  text += "\r\n";
  return text;
}

std::string HeadForGuest(const MessageHead& head, Framing framing, bool keep_alive) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", head.status, head.reason);
  AppendEndToEnd(text, head);
  // The length stays also where no body follows it: that of an answer to HEAD, and of a 304. An
  // interim answer and a 204 have none (RFC 9110 section 8.6), and a guest might wait for its
  // bytes.
  const bool has_no_length = head.status < 200 || head.status == 204;
  if (has_no_length) framing = Framing::None;
  if (framing == Framing::None) {
    for (const Field& field : head.fields) {
      if (has_no_length || !SameName(field.name, "content-length")) continue;
      AppendField(text, field.name, field.value);
    }
  } else {
    AppendFraming(text, framing, head.length);
  }
  if (!keep_alive) text += "Connection: close\r\n";
  text += "\r\n";
  return text;
}

}  // namespace curfew::egress
