// URLs as policy writes them and as requests carry them. A request's path is brought to one form
// once (RFC 3986: unreserved bytes decoded, other escapes in upper case, dot segments and repeated
// slashes removed); what could still be read in two ways is refused. What is judged is what is
// sent.
//
//   pattern := ("http" | "https") "://" (host pattern | address) [":" port] [glob]
//   stream  := (host pattern | address) ":" port
//
// No user information, query or fragment may stand in a pattern.
#pragma once

#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace curfew::values {

enum class UrlScheme : std::uint8_t { Http, Https };
// 80 and 443.
std::uint16_t PortOf(UrlScheme scheme);

// The canonical path of a request target without its query. `%2f`, `%00`, `%5c`, a backslash, an
// incomplete escape, a control byte or a byte beyond ASCII is Ambiguous. Idempotent. Where escaped
// slashes are kept, no dot segment and no empty one may hide between them.
Parsed<std::string> ParseUrlPath(std::string_view text,
                                 EscapedSlashes slashes = EscapedSlashes::Refused);

// A name or an address; an address in any spelling is an address.
using Place = std::variant<HostPattern, Cidr>;

struct UrlPattern {
  UrlScheme scheme = UrlScheme::Https;
  Place place;
  std::optional<std::uint16_t> port;  // as written
  std::optional<PathGlob> path;       // without one: every path
  friend bool operator==(const UrlPattern&, const UrlPattern&) = default;
};
Parsed<UrlPattern> ParseUrlPattern(std::string_view text,
                                   EscapedSlashes slashes = EscapedSlashes::Refused);

struct PlacePattern {
  Place place;
  std::optional<std::uint16_t> port;
  friend bool operator==(const PlacePattern&, const PlacePattern&) = default;
};
// `host`, `host:port`, `address`, `address/prefix`, `[ipv6]:port`.
Parsed<PlacePattern> ParsePlacePattern(std::string_view text);

// One concrete URL of a request: what `egress GET "https://…"` in a test means. Whether an escaped
// slash may stand in it is a question of rules.
struct Url {
  UrlScheme scheme = UrlScheme::Https;
  std::variant<std::string, Address> place;
  std::uint16_t port = 443;
  std::string path = "/";            // canonical
  std::optional<std::string> query;  // as sent, without its question mark
};
Parsed<Url> ParseUrl(std::string_view text);

}  // namespace curfew::values
