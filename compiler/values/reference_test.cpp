// Each canonicaliser against a second one that was written from its grammar alone: regular
// expressions, the C library, and words moved one by one, without care for speed. Texts are made
// from right ones by a few edits, so that both answers are common and edges are met; what both take
// must be one value, and taking it again must change nothing.
#include "compiler/base/crypto.h"
#include "compiler/base/text.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <arpa/inet.h>
#include <cctype>
#include <cstring>
#include <ctime>
#include <functional>
#include <iconv.h>
#include <optional>
#include <random>
#include <regex>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::values {
namespace {

using Canonical = std::optional<std::string>;
using Canonicaliser = std::function<Canonical(const std::string&)>;

template <typename T>
Canonicaliser Of(Parsed<T> (*parse)(std::string_view), std::string (*print)(const T&)) {
  return [=](const std::string& text) -> Canonical {
    const auto value = parse(text);
    return value ? Canonical(print(*value)) : std::nullopt;
  };
}
std::string Itself(const std::string& text) { return text; }
std::string Number(const std::int64_t& value) { return std::to_string(value); }

bool Is(const std::string& text, const char* expression) {
  return std::regex_match(text, std::regex(expression, std::regex::extended));
}
std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// ---- The second canonicalisers

Canonical ReferenceHost(const std::string& given) {
  std::string text = given;
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (text.size() > 1 && text.back() == '.') text.pop_back();
  if (text.size() > 253 || !Is(text, "[a-z0-9_-]{1,63}([.][a-z0-9_-]{1,63})*")) return {};
  const std::string last = Split(text, '.').back();
  if (Is(last, "[0-9]+") || Is(last, "0x[0-9a-f]*")) return {};
  return text;
}

Canonical ReferenceHostPattern(const std::string& text) {
  const std::string wildcard = text.rfind("**.", 0) == 0  ? "**."
                               : text.rfind("*.", 0) == 0 ? "*."
                                                          : "";
  const Canonical host = ReferenceHost(text.substr(wildcard.size()));
  return host ? Canonical(wildcard + *host) : std::nullopt;
}

// By the C library. IPv4 in another dress is told by the prefixes of RFC 4291, 6052, 3056 and 2765.
Canonical ReferenceAddress(const std::string& text) {
  if (text.find('\0') != std::string::npos) return {};
  unsigned char bytes[16];
  char printed[INET6_ADDRSTRLEN];
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) {
    return inet_ntop(AF_INET, bytes, printed, sizeof printed);
  }
  if (inet_pton(AF_INET6, text.c_str(), bytes) != 1) return {};
  const auto begins = [&](const std::string& hex) {
    std::string mine;
    for (const unsigned char byte : bytes) mine += fmt::format("{:02x}", byte);
    return mine.compare(0, hex.size(), hex) == 0;
  };
  const std::string zeros(16, '0');
  const bool is_one_of_the_first_two = begins(std::string(31, '0')) && bytes[15] <= 1;
  const unsigned char* ipv4 = nullptr;
  if (begins("2002")) ipv4 = bytes + 2;
  if (begins(zeros + "0000ffff") || begins(zeros + "ffff0000") ||
      begins("0064ff9b0000000000000000") ||
      (begins(zeros + "00000000") && !is_one_of_the_first_two)) {
    ipv4 = bytes + 12;
  }
  if (ipv4 != nullptr) return inet_ntop(AF_INET, ipv4, printed, sizeof printed);
  return inet_ntop(AF_INET6, bytes, printed, sizeof printed);
}

Canonical ReferencePort(const std::string& text) {
  if (!Is(text, "[1-9][0-9]{0,4}") || std::stol(text) > 65535) return {};
  return text;
}

Canonical ReferenceFilePath(const std::string& text) {
  if (text.find('\0') != std::string::npos || text.empty() || text[0] != '/') return {};
  if (text == "/") return text;
  for (const std::string& segment : Split(text.substr(1), '/')) {
    if (segment.empty() || segment == "." || segment == "..") return {};
  }
  return text;
}

// RFC 3986 appendix A.
bool IsUnreservedByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("-._~", c) != nullptr;
}
bool IsPathByte(char c) {
  return c != '\0' && (IsUnreservedByte(c) || std::strchr("!$&'()*+,;=:@", c) != nullptr);
}
bool AreHexDigits(const std::string& text, std::size_t at) {
  return at + 1 < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(text[at + 1])) != 0;
}

// The escapes of a path: decoded where the byte is unreserved, in upper case elsewhere.
Canonical ReferenceSegment(const std::string& given) {
  std::string text;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (IsPathByte(given[i])) {
      text += given[i];
      continue;
    }
    if (given[i] != '%' || !AreHexDigits(given, i + 1)) return {};
    const int value = std::stoi(given.substr(i + 1, 2), nullptr, 16);
    if (value < 32 || value == 127 || value == '/' || value == '\\') return {};
    if (value == '%' && AreHexDigits(given, i + 3)) return {};
    const auto byte = static_cast<char>(value);
    text += IsUnreservedByte(byte) ? std::string(1, byte) : fmt::format("%{:02X}", value);
    i += 2;
  }
  return text;
}

// By the C library's own decoder.
bool IsUtf8(const std::string& path) {
  std::string raw;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%') {
      raw += static_cast<char>(std::stoi(path.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      raw += path[i];
    }
  }
  const iconv_t decoder = iconv_open("UTF-32LE", "UTF-8");
  std::string points(raw.size() * 4 + 4, '\0');
  char* in = raw.data();
  char* out = points.data();
  std::size_t in_left = raw.size();
  std::size_t out_left = points.size();
  const std::size_t result = iconv(decoder, &in, &in_left, &out, &out_left);
  iconv_close(decoder);
  return result != static_cast<std::size_t>(-1);
}

// RFC 3986 section 5.2.4 on the segments; what its readers disagree on is refused first.
Canonical ReferenceUrlPath(const std::string& given) {
  if (given.empty()) return "/";
  if (given[0] != '/') return {};
  std::vector<std::string> segments;
  for (const std::string& segment : Split(given.substr(1), '/')) {
    const Canonical canonical = ReferenceSegment(segment);
    if (!canonical || canonical->rfind(".;", 0) == 0 || canonical->rfind("..;", 0) == 0) return {};
    if (*canonical != ".") segments.push_back(*canonical);
  }
  for (std::size_t i = 1; i < segments.size(); ++i) {
    if (segments[i] == ".." && segments[i - 1].empty()) return {};
  }
  std::vector<std::string> kept;
  for (const std::string& segment : segments) {
    if (segment == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (!segment.empty()) {
      kept.push_back(segment);
    }
  }
  std::string path;
  for (const std::string& segment : kept) path += "/" + segment;
  if (!IsUtf8(path)) return {};
  const std::string last = *ReferenceSegment(Split(given, '/').back());
  return last.empty() || last == "." || last == ".." ? path + "/" : path;
}

Canonical ReferenceUrl(const std::string& text) {
  std::smatch part;
  static const std::regex shape(
      R"(^(https?)://([^\]\[/?#\\:@]*|\[[^\]\[/?#\\@]*\])(:([^/?#\\]*))?(/[^?#]*)?(\?([^#]*))?$)");
  if (text.find('\n') != std::string::npos || !std::regex_match(text, part, shape)) return {};
  std::string place = part[2];
  const bool bracketed = place.rfind('[', 0) == 0;
  if (bracketed) place = place.substr(1, place.size() - 2);
  const Canonical address = ReferenceAddress(place);
  if (bracketed != (place.find(':') != std::string::npos) || (bracketed && !address)) return {};
  const Canonical named = address ? address : ReferenceHost(place);
  const Canonical port =
      part[3].matched ? ReferencePort(part[4]) : Canonical(part[1] == "http" ? "80" : "443");
  const Canonical path = ReferenceUrlPath(part[5]);
  if (!named || !port || !path) return {};
  return fmt::format("{} {} {} {} {}", std::string(part[1]), *named, *port, *path,
                     part[6].matched ? "?" + std::string(part[7]) : std::string());
}

Canonical ReferenceImageRef(const std::string& text) {
  if (text.empty() || text.size() > 255) return {};
  return Is(text, "[a-z0-9]|[a-z0-9][a-z0-9._/:-]*[a-z0-9]") && !Is(text, ".*(//|[.][.]).*")
             ? Canonical(text)
             : std::nullopt;
}

// In a wider number, so that what does not fit is seen.
__extension__ using Wide = __int128;
Canonical Sum(const std::string& text, const std::string& shape,
              const std::vector<std::pair<std::string, std::int64_t>>& units) {
  if (!Is(text, shape.c_str())) return {};
  Wide sum = 0;
  static const std::regex part_shape("([0-9]+)([A-Za-z]+)");
  for (std::sregex_iterator part(text.begin(), text.end(), part_shape), end; part != end; ++part) {
    const std::string digits = (*part)[1];
    if (digits.size() > 19) return {};
    Wide value = 0;
    for (const char digit : digits) value = value * 10 + (digit - '0');
    if (value > INT64_MAX) return {};
    for (const auto& [name, factor] : units) {
      if (name == std::string((*part)[2])) sum += value * factor;
    }
    if (sum > INT64_MAX) return {};
  }
  return std::to_string(static_cast<std::int64_t>(sum));
}
constexpr const char* kPart = "(0|[1-9][0-9]*)";
Canonical ReferenceDuration(const std::string& text) {
  const std::string n = kPart;
  const std::string shape = fmt::format("({0}d)?({0}h)?({0}m)?({0}s)?", n);
  if (text.empty()) return {};
  return Sum(text, shape, {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}});
}
Canonical ReferenceSize(const std::string& text) {
  std::vector<std::pair<std::string, std::int64_t>> units = {{"B", 1}};
  std::int64_t binary = 1;
  std::int64_t decimal = 1;
  for (const std::string prefix : {"k", "M", "G", "T"}) {
    binary *= 1024;
    decimal *= 1000;
    units.emplace_back((prefix == "k" ? "K" : prefix) + "iB", binary);
    units.emplace_back(prefix + "B", decimal);
  }
  return Sum(text, std::string(kPart) + "(B|[KMGT]iB|[kMGT]B)", units);
}

Canonical ReferenceTime(const std::string& text) {
  if (!Is(text, "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")) return {};
  std::tm parts{};
  if (strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return {};
  const std::time_t time = timegm(&parts);
  char again[32];
  std::strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (time < 0 || text != again) return {};  // a day or a second that rolled over
  return std::to_string(std::int64_t{time} * 1000);
}

Canonical ReferenceDigest(const std::string& text) {
  return Is(text, "sha256:[0-9a-f]{64}") ? Canonical(text) : std::nullopt;
}

Canonical ReferencePrincipal(const std::string& text) {
  return Is(text, "(user|group|service|agent):[A-Za-z0-9._@+/-]{1,256}") ? Canonical(text)
                                                                         : std::nullopt;
}

// ---- The two held together

struct Comparison {
  const char* what;
  Canonicaliser ours;
  Canonicaliser reference;
  std::vector<std::string> right;  // texts to start from
  std::string bytes;               // of which edits are made
};

std::string Edited(const Comparison& of, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  std::string text = of.right[below(of.right.size())];
  for (std::size_t edits = below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    const std::string& other = of.right[below(of.right.size())];
    switch (below(5)) {
      case 0:
        text.insert(at, 1, of.bytes[below(of.bytes.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        if (at < text.size()) text[at] = of.bytes[below(of.bytes.size())];
        break;
      case 3:
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      default:
        text.insert(at, text.substr(below(text.size() + 1), below(80)));
    }
  }
  if (below(50) == 0) text += static_cast<char>(random());
  return text;
}

std::string UrlText(const Url& url) {
  const std::string place = std::holds_alternative<Address>(url.place)
                                ? ToString(std::get<Address>(url.place))
                                : std::get<std::string>(url.place);
  return fmt::format("{} {} {} {} {}", url.scheme == UrlScheme::Http ? "http" : "https", place,
                     url.port, url.path, url.query ? "?" + *url.query : std::string());
}

std::vector<Comparison> Comparisons() {
  const std::string label(63, 'a');
  const std::string digest =
      "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  std::vector<Comparison> all;
  all.push_back({"host",
                 Of<std::string>(ParseHost, Itself),
                 ReferenceHost,
                 {"example.com", "A.Example.COM.", "_x.a-b.example", "1.2.3.a", "0x1f.example",
                  "a.0x", "127.0.0.1", "2130706433",
                  label + "." + label + "." + label + "." + label, label + ".example"},
                 "aZ09-_.x:* "});
  all.push_back({"host pattern",
                 Of<HostPattern>(ParseHostPattern, ToString),
                 ReferenceHostPattern,
                 {"*.example.com", "**.Example.com", "a.example", "*.1", "**.a."},
                 "aZ0-.*"});
  all.push_back({"address",
                 Of<Address>(ParseAddress, ToString),
                 ReferenceAddress,
                 {"10.0.0.1", "255.255.255.255", "::", "::1", "::2", "2001:db8::1:0:0:1",
                  "::ffff:10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::a00:1",
                  "2002:a00:1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "fe80::1%eth0",
                  "::10.0.0.1", "1:0:0:2:0:0:0:3", "01.2.3.4", "1.2.3", "64:ff9b:1::1"},
                 "0129afF:.%/"});
  all.push_back({"port",
                 [](const std::string& text) -> Canonical {
                   const auto port = ParsePort(text);
                   return port ? Canonical(std::to_string(*port)) : std::nullopt;
                 },
                 ReferencePort,
                 {"1", "80", "443", "65535", "65536", "0"},
                 "0123456789 -+"});
  all.push_back({"URL",
                 Of<Url>(ParseUrl, UrlText),
                 ReferenceUrl,
                 {"https://example.com", "http://A.example:8080/a/../b?x=1&y", "https://[::1]:443/",
                  "https://10.0.0.1/%41%2e/", "https://[10.0.0.1]/", "https://a.example:80?q",
                  "https://u@a.example/", "https://a.example/#f", "http://[fe80::1]"},
                 "a0:/.?#[]@%\\"});
  all.push_back({"URL path",
                 [](const std::string& text) -> Canonical {
                   const auto path = ParseUrlPath(text);
                   return path ? Canonical(*path) : std::nullopt;
                 },
                 ReferenceUrlPath,
                 {"/", "", "/a/b", "/a/../b/.", "/%41/%c3%a9", "/a//b", "/a;x/y", "/./a/", "/a/..",
                  "/%25/x", "/%2E%2e/a", "/a/%2f", "/%252e", "/x/;a/..", "/a%3Bb/*"},
                 "/.%;a2eE5f~\\:"});
  all.push_back({"file path",
                 Of<std::string>(ParseFilePath, Itself),
                 ReferenceFilePath,
                 {"/", "/a/b", "/a/./b", "/a/..", "/.a/..b", "/a/"},
                 "/.a\\* "});
  all.push_back({"image reference",
                 Of<std::string>(ParseImageRef, Itself),
                 ReferenceImageRef,
                 {"registry.example/agents/python:3.12", "a", "a/b-c_d:tag", "r.example:5000/x"},
                 "a0./:-_@A"});
  all.push_back({"duration",
                 Of<std::int64_t>(ParseDuration, Number),
                 ReferenceDuration,
                 {"1d2h3m4s", "90m", "0s", "106751991167d", "9223372036854775s", "1h1d", "5m5m"},
                 "0123dhms."});
  all.push_back({"size",
                 Of<std::int64_t>(ParseSize, Number),
                 ReferenceSize,
                 {"1B", "2KiB", "8388607TiB", "8388608TiB", "10GB", "9223372036854775807B", "0kB"},
                 "0129BKkiMGT"});
  all.push_back({"time",
                 Of<std::int64_t>(ParseTime, Number),
                 ReferenceTime,
                 {"2026-11-29T00:00:00Z", "2024-02-29T23:59:59Z", "1970-01-01T00:00:00Z",
                  "2100-02-28T12:30:00Z", "9999-12-31T23:59:59Z"},
                 "0123456789TZ:-"});
  all.push_back({"digest",
                 [](const std::string& text) -> Canonical {
                   const auto value = ParseDigest(text);
                   return value ? Canonical(ToString(*value)) : std::nullopt;
                 },
                 ReferenceDigest,
                 {digest, digest.substr(0, 70) + "0"},
                 "09afAFg:"});
  all.push_back({"principal",
                 Of<std::string>(ParsePrincipal, Itself),
                 ReferencePrincipal,
                 {"user:ana", "group:a.b_c-d@e+f/g", "service:X", "agent:" + std::string(256, 'n')},
                 "a:@/+ \n"});
  return all;
}

TEST_CASE("each canonicaliser agrees with a second one that was written from its grammar") {
  std::mt19937_64 random(20261130);
  for (const Comparison& of : Comparisons()) {
    int taken = 0;
    constexpr int kTexts = 1500;
    for (int i = 0; i < kTexts; ++i) {
      const std::string text = Edited(of, random);
      CAPTURE(of.what, Printable(text));
      const Canonical ours = of.ours(text);
      REQUIRE(ours.value_or("refused") == of.reference(text).value_or("refused"));
      taken += ours ? 1 : 0;
    }
    INFO(of.what << ": " << taken << " of " << kTexts << " taken");
    CHECK(taken * 10 > kTexts);
    CHECK(taken * 10 < kTexts * 9);
  }
}

TEST_CASE("what a canonicaliser makes it makes again") {
  std::mt19937_64 random(20261201);
  for (const Comparison& of : Comparisons()) {
    const std::string_view what = of.what;
    // These are printed as numbers or as several parts; the fuzz target prints them in their units.
    if (what == "URL" || what == "duration" || what == "size" || what == "time") continue;
    for (int i = 0; i < 1000; ++i) {
      const std::string text = Edited(of, random);
      const Canonical once = of.ours(text);
      if (!once) continue;
      CAPTURE(of.what, Printable(text));
      REQUIRE(of.ours(*once) == once);
    }
  }
}

}  // namespace
}  // namespace curfew::values
