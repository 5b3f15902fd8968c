#include "compiler/values/url.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url_bytes.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace curfew::values {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// RFC 3986 pchar without escapes.
bool IsPathByte(char c) {
  return IsUnreserved(c) || std::string_view("!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

int EscapeAt(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at] != '%') return -1;
  const int high = HexValue(text[at + 1]);
  const int low = HexValue(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

UrlByte Refused(ErrorKind kind, std::string message, std::string suggestion = {}) {
  UrlByte byte;
  byte.error = Error{kind, std::move(message), std::move(suggestion)};
  return byte;
}

// `.`, `..`, and what servers that know path parameters take for them.
bool IsDotWithParameter(std::string_view segment) {
  return segment.starts_with(".;") || segment.starts_with("..;");
}

// The authority of a URL or the whole of a place: host or address, and a port where one may stand.
struct Authority {
  std::string_view place;
  std::optional<std::uint16_t> port;
  bool bracketed = false;
};

Parsed<Authority> SplitAuthority(std::string_view text) {
  Authority authority;
  if (text.find('@') != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "user information cannot stand before a host"};
  }
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return Error{ErrorKind::Malformed, "`[` is never closed"};
    authority.place = text.substr(1, close - 1);
    authority.bracketed = true;
    rest = text.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') {
      return Error{ErrorKind::Malformed, "only a port can follow `]`"};
    }
  } else {
    const std::size_t colon = text.find(':');
    authority.place = text.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (rest.empty()) return authority;
  auto port = ParsePort(rest.substr(1));
  if (!port) return port.error();
  authority.port = *port;
  return authority;
}

// A name that is really an address in a spelling that some resolvers know is no name and no
// address.
Parsed<Place> ReadPlace(std::string_view text, bool bracketed) {
  const bool ipv6 = text.find(':') != std::string_view::npos;
  if (bracketed != ipv6) {
    return Error{ErrorKind::Malformed, ipv6 ? "an IPv6 address stands in brackets here"
                                            : "only an IPv6 address stands in brackets"};
  }
  auto block = ParseCidr(text);
  if (block) return Place(*block);
  if (ipv6 || text.find('/') != std::string_view::npos) return block.error();
  auto host = ParseHostPattern(text);
  if (host) return Place(*std::move(host));
  if (host.error().kind == ErrorKind::IsAddress) {
    return Error{ErrorKind::IsAddress,
                 "this is an address in a doubtful spelling; write four numbers with dots"};
  }
  return host.error();
}

struct UrlParts {
  UrlScheme scheme = UrlScheme::Https;
  std::string_view authority;
  std::string_view rest;  // from the path on
};

Parsed<UrlParts> SplitUrl(std::string_view text) {
  UrlParts parts;
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    parts.scheme = UrlScheme::Http;
    text.remove_prefix(7);
  } else {
    return Error{ErrorKind::Malformed, "a URL begins with `https://` or `http://`"};
  }
  const std::size_t end = std::min(text.find_first_of("/?#\\"), text.size());
  parts.authority = text.substr(0, end);
  parts.rest = text.substr(end);
  if (parts.rest.starts_with('\\')) {
    return Error{ErrorKind::Ambiguous, "servers read a backslash in a URL in two ways"};
  }
  return parts;
}

}  // namespace

void UrlByte::AppendTo(std::string& text) const {
  if (escaped) {
    text += fmt::format("%{:02X}", static_cast<unsigned char>(value));
  } else {
    text.push_back(value);
  }
}

bool HidesSegment(std::string_view segment) {
  if (segment.find(EscapedSlash) == std::string_view::npos) return false;
  while (true) {
    const std::size_t end = segment.find(EscapedSlash);
    const std::string_view part = segment.substr(0, end);
    if (part.empty() || part == "." || part == ".." || IsDotWithParameter(part)) return true;
    if (end == std::string_view::npos) return false;
    segment.remove_prefix(end + EscapedSlash.size());
  }
}

Error HiddenSegment() {
  return Error{ErrorKind::Ambiguous,
               "a dot segment or an empty one beside `%2F` is read by servers in two ways"};
}

UrlByte ReadUrlByte(std::string_view text, std::size_t at, EscapedSlashes slashes) {
  UrlByte byte;
  const char c = text[at];
  if (c != '%') {
    if (static_cast<signed char>(c) < 0) {
      return Refused(ErrorKind::NotAscii, "a path has letters beyond ASCII as `%` escapes");
    }
    if (c == '\\') {
      return Refused(ErrorKind::Ambiguous, "servers read a backslash in a path in two ways");
    }
    if (!IsPathByte(c)) {
      return Refused(ErrorKind::Malformed,
                     "a path cannot hold `" + Printable(std::string_view(&c, 1)) + "`");
    }
    byte.value = c;
    return byte;
  }
  const int value = EscapeAt(text, at);
  if (value < 0) return Refused(ErrorKind::Ambiguous, "`%` is not followed by two hex digits");
  byte.size = 3;
  byte.value = static_cast<char>(value);
  if ((value == '/' && slashes == EscapedSlashes::Refused) || value == '\\' || value < 0x20 ||
      value == 0x7f) {
    return Refused(ErrorKind::Ambiguous,
                   "`" + std::string(text.substr(at, 3)) + "` is read by servers in two ways");
  }
  if (value == '%' && at + 4 < text.size() && HexValue(text[at + 3]) >= 0 &&
      HexValue(text[at + 4]) >= 0) {
    return Refused(ErrorKind::Ambiguous, "a doubly escaped byte is read by servers in two ways");
  }
  byte.escaped = !IsUnreserved(byte.value);
  return byte;
}

bool HasBadUtf8(std::string_view canonical_path) {
  std::string raw;
  for (std::size_t i = 0; i < canonical_path.size(); ++i) {
    const int value = EscapeAt(canonical_path, i);
    if (value < 0) {
      raw.push_back(canonical_path[i]);
    } else {
      raw.push_back(static_cast<char>(value));
      i += 2;
    }
  }
  std::string_view rest = raw;
  while (!rest.empty()) {
    const auto point = DecodeUtf8(rest);
    if (!point) return true;
    rest.remove_prefix(point->bytes);
  }
  return false;
}

std::uint16_t PortOf(UrlScheme scheme) { return scheme == UrlScheme::Http ? 80 : 443; }

Parsed<std::string> ParseUrlPath(std::string_view text, EscapedSlashes slashes) {
  if (text.empty()) return std::string("/");
  if (text.size() > limits::PathBytesMax) {
    return Error{ErrorKind::TooLong, "a path has at most 8192 bytes"};
  }
  if (!text.starts_with('/')) return Error{ErrorKind::Malformed, "a path begins with `/`"};
  std::string path;
  // Where each kept segment begins in `path`, at its slash.
  std::vector<std::size_t> begins;
  bool after_empty = false;
  bool ends_in_slash = false;
  for (std::size_t at = 0; at < text.size();) {
    ++at;  // the slash
    std::string segment;
    while (at < text.size() && text[at] != '/') {
      const UrlByte byte = ReadUrlByte(text, at, slashes);
      if (byte.error) return *byte.error;
      byte.AppendTo(segment);
      at += byte.size;
    }
    if (IsDotWithParameter(segment)) {
      return Error{ErrorKind::Ambiguous, "a dot segment with a parameter is read in two ways"};
    }
    if (HidesSegment(segment)) return HiddenSegment();
    ends_in_slash = segment.empty() || segment == "." || segment == "..";
    if (segment == "..") {
      if (after_empty) {
        return Error{ErrorKind::Ambiguous, "`..` behind an empty segment is read in two ways"};
      }
      if (!begins.empty()) {
        path.resize(begins.back());
        begins.pop_back();
      }
    } else if (!ends_in_slash) {
      begins.push_back(path.size());
      path += '/';
      path += segment;
    }
    // `.` hides an empty segment no better than nothing does.
    if (segment != ".") after_empty = segment.empty();
  }
  if (ends_in_slash) path += '/';
  if (HasBadUtf8(path)) {
    return Error{ErrorKind::Ambiguous, "escaped bytes beyond ASCII are UTF-8"};
  }
  return path;
}

Parsed<UrlPattern> ParseUrlPattern(std::string_view text, EscapedSlashes slashes) {
  auto parts = SplitUrl(text);
  if (!parts) return parts.error();
  if (parts->rest.find_first_of("?#") != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "a query or a fragment cannot stand in a URL pattern"};
  }
  auto authority = SplitAuthority(parts->authority);
  if (!authority) return authority.error();
  auto place = ReadPlace(authority->place, authority->bracketed);
  if (!place) return place.error();
  UrlPattern pattern{parts->scheme, *std::move(place), authority->port, std::nullopt};
  if (!parts->rest.empty()) {
    auto glob = ParseUrlGlob(parts->rest, slashes);
    if (!glob) return glob.error();
    pattern.path = *std::move(glob);
  }
  return pattern;
}

Parsed<PlacePattern> ParsePlacePattern(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "a host or `host:port` stands here, not a URL"};
  }
  // Without brackets, IPv6 stands alone.
  if (!text.starts_with('[') && std::count(text.begin(), text.end(), ':') > 1) {
    auto block = ParseCidr(text);
    if (!block) return block.error();
    return PlacePattern{*block, std::nullopt};
  }
  auto authority = SplitAuthority(text);
  if (!authority) return authority.error();
  auto place = ReadPlace(authority->place, authority->bracketed);
  if (!place) return place.error();
  return PlacePattern{*std::move(place), authority->port};
}

Parsed<Url> ParseUrl(std::string_view text) {
  auto parts = SplitUrl(text);
  if (!parts) return parts.error();
  auto authority = SplitAuthority(parts->authority);
  if (!authority) return authority.error();
  Url url;
  url.scheme = parts->scheme;
  url.port = authority->port.value_or(PortOf(url.scheme));
  auto address = ParseAddress(authority->place);
  if (address && (authority->place.find(':') != std::string_view::npos) == authority->bracketed) {
    url.place = *address;
  } else if (authority->bracketed) {
    return Error{ErrorKind::Malformed, "only an IPv6 address stands in brackets"};
  } else {
    auto host = ParseHost(authority->place);
    if (!host) return host.error();
    url.place = *std::move(host);
  }
  std::string_view path = parts->rest;
  if (path.find('#') != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "a request carries no fragment"};
  }
  if (const std::size_t mark = path.find('?'); mark != std::string_view::npos) {
    url.query = std::string(path.substr(mark + 1));
    path = path.substr(0, mark);
  }
  auto canonical = ParseUrlPath(path, EscapedSlashes::Kept);
  if (!canonical) return canonical.error();
  url.path = *std::move(canonical);
  return url;
}

}  // namespace curfew::values
