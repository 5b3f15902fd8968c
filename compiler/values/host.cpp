#include "compiler/values/host.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/values/address.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace curfew::values {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

constexpr bool IsHostByte(char c) {
  return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-' || c == '_';
}

// Resolvers read a name whose last label is a number as an address, whatever stands before it.
bool EndsInNumber(std::string_view host) {
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.empty()) return false;
  if (std::all_of(last.begin(), last.end(), IsDigit)) return true;
  return last.starts_with("0x") &&
         std::all_of(last.begin() + 2, last.end(), [](char c) { return IsHexDigit(c); });
}

// RFC 3492 for one label; the caller has made sure that it holds letters beyond ASCII.
std::optional<std::string> Punycode(const std::vector<char32_t>& label) {
  std::string encoded;
  for (const char32_t c : label) {
    if (c < 0x80) encoded.push_back(static_cast<char>(c));
  }
  const std::size_t basic = encoded.size();
  std::size_t handled = basic;
  if (basic > 0) encoded.push_back('-');
  std::uint64_t n = 128;
  std::uint64_t delta = 0;
  std::uint64_t bias = 72;
  while (handled < label.size()) {
    std::uint64_t next = 0x110000;
    for (const char32_t c : label) {
      if (c >= n && c < next) next = c;
    }
    delta += (next - n) * (handled + 1);
    n = next;
    for (const char32_t c : label) {
      if (c < n) ++delta;
      if (c != n) continue;
      std::uint64_t q = delta;
      for (std::uint64_t k = 36;; k += 36) {
        const std::uint64_t t = k <= bias ? 1 : (k >= bias + 26 ? 26 : k - bias);
        if (q < t) break;
        const std::uint64_t digit = t + (q - t) % (36 - t);
        encoded.push_back(static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26)));
        q = (q - t) / (36 - t);
      }
      encoded.push_back(static_cast<char>(q < 26 ? 'a' + q : '0' + (q - 26)));
      std::uint64_t scaled = handled == basic ? delta / 700 : delta / 2;
      scaled += scaled / (handled + 1);
      std::uint64_t k = 0;
      for (; scaled > 455; k += 36) scaled /= 35;
      bias = k + 36 * scaled / (scaled + 38);
      delta = 0;
      ++handled;
    }
    ++delta;
    ++n;
  }
  if (encoded.size() + 4 > limits::LabelBytesMax) return std::nullopt;
  return "xn--" + encoded;
}

// The `xn--` form of a host with letters beyond ASCII, or empty where it is not plain.
std::string AsciiForm(std::string_view host) {
  std::string ascii;
  std::vector<char32_t> label;
  const auto finish = [&]() {
    const bool plain = std::all_of(label.begin(), label.end(), [](char32_t c) { return c < 0x80; });
    if (plain) {
      for (const char32_t c : label) ascii.push_back(static_cast<char>(c));
    } else if (const auto encoded = Punycode(label)) {
      ascii += *encoded;
    } else {
      return false;
    }
    label.clear();
    return true;
  };
  while (!host.empty()) {
    const auto point = DecodeUtf8(host);
    // Fold to ASCII in some resolvers: full stops of other scripts, and full-width forms.
    if (!point || (point->value >= 0x3000 && point->value <= 0x303f) || point->value >= 0xff00) {
      return {};
    }
    host.remove_prefix(point->bytes);
    if (point->value == '.') {
      if (!finish()) return {};
      ascii.push_back('.');
    } else {
      label.push_back(point->value);
    }
  }
  return finish() ? ascii : std::string();
}

}  // namespace

Parsed<std::string> ParseHost(std::string_view text) {
  if (text.empty()) return Error{ErrorKind::Malformed, "a host cannot be empty"};
  std::string host(text);
  for (char& c : host) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (host.size() > 1 && host.back() == '.') host.pop_back();
  if (std::any_of(host.begin(), host.end(),
                  [](char c) { return static_cast<signed char>(c) < 0; })) {
    return Error{ErrorKind::NotAscii, "a host has ASCII letters only; write its `xn--` form",
                 AsciiForm(host)};
  }
  if (host.find(':') != std::string::npos || host.starts_with('[')) {
    return Error{ErrorKind::IsAddress, "an address or a port is no part of a host name"};
  }
  if (host.size() > limits::HostBytesMax) {
    return Error{ErrorKind::TooLong, "a host has at most 253 bytes"};
  }
  std::size_t begin = 0;
  while (begin <= host.size()) {
    const std::size_t end = std::min(host.find('.', begin), host.size());
    if (end == begin) return Error{ErrorKind::Malformed, "a host has no empty label"};
    if (end - begin > limits::LabelBytesMax) {
      return Error{ErrorKind::TooLong, "a label of a host has at most 63 bytes"};
    }
    for (std::size_t i = begin; i < end; ++i) {
      if (!IsHostByte(host[i])) {
        return Error{ErrorKind::Malformed,
                     "a host is made of the letters a to z, digits, `-` and `_`, not `" +
                         Printable(host.substr(i, 1)) + "`"};
      }
    }
    begin = end + 1;
  }
  if (EndsInNumber(host)) {
    return Error{ErrorKind::IsAddress, "a host that ends in a number is an address"};
  }
  return host;
}

Parsed<HostPattern> ParseHostPattern(std::string_view text) {
  HostPattern pattern;
  if (text.starts_with("**.")) {
    pattern.reach = HostReach::AnyDepth;
    text.remove_prefix(3);
  } else if (text.starts_with("*.")) {
    pattern.reach = HostReach::OneLabel;
    text.remove_prefix(2);
  }
  if (text.find('*') != std::string_view::npos) {
    return Error{ErrorKind::Malformed,
                 "a wildcard of a host is `*.` or `**.` at its beginning and nothing else"};
  }
  auto host = ParseHost(text);
  if (!host) {
    Error error = host.error();
    if (!error.suggestion.empty()) {
      error.suggestion = ToString(HostPattern{pattern.reach, error.suggestion});
    }
    return error;
  }
  pattern.name = *std::move(host);
  return pattern;
}

std::string ToString(const HostPattern& pattern) {
  switch (pattern.reach) {
    case HostReach::Exact:
      return pattern.name;
    case HostReach::OneLabel:
      return "*." + pattern.name;
    case HostReach::AnyDepth:
      return "**." + pattern.name;
  }
  CURFEW_UNREACHABLE("the switch names every reach");
}

bool MatchesHost(HostReach reach, std::string_view name, std::string_view host) {
  if (reach == HostReach::Exact) return host == name;
  if (host.size() < name.size() + 2 || !host.ends_with(name)) return false;
  const std::string_view labels = host.substr(0, host.size() - name.size());
  if (labels.back() != '.') return false;
  return reach == HostReach::AnyDepth || labels.find('.') == labels.size() - 1;
}

bool Covers(const HostPattern& outer, const HostPattern& inner) {
  if (inner.reach == HostReach::Exact) return MatchesHost(outer.reach, outer.name, inner.name);
  if (outer.reach == HostReach::Exact) return false;
  if (outer.name == inner.name) {
    return outer.reach == HostReach::AnyDepth || inner.reach == HostReach::OneLabel;
  }
  return outer.reach == HostReach::AnyDepth &&
         MatchesHost(HostReach::AnyDepth, outer.name, inner.name);
}

bool Meet(const HostPattern& a, const HostPattern& b) {
  // Patterns are nested or disjoint, like the subtrees that they are.
  return Covers(a, b) || Covers(b, a);
}

}  // namespace curfew::values
