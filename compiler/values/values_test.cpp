#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/path_meet.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/query.h"
#include "compiler/values/url.h"
#include "compiler/values/variable.h"

#include <functional>
#include <random>
#include <regex>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::values {
namespace {

std::string HostOr(std::string_view text) {
  auto host = ParseHost(text);
  return host ? *host : "error";
}

std::string PathOr(std::string_view text) {
  auto path = ParseUrlPath(text);
  return path ? *path : (path.error().kind == ErrorKind::Ambiguous ? "ambiguous" : "error");
}

TEST_CASE("a host has one canonical form") {
  CHECK(HostOr("API.Example.COM.") == "api.example.com");
  CHECK(HostOr("a_b-c.example") == "a_b-c.example");
  CHECK(HostOr(std::string(63, 'a') + ".example") == std::string(63, 'a') + ".example");
  for (const char* bad : {"",       ".",     "..",    "a..b", ".a",       "a.com..", "a b",
                          "a/b",    "a:80",  "[::1]", "::1",  "1.2.3.4",  "0x7f.1",  "2130706433",
                          "a.0x7f", "127.1", "a.1",   "0x",   "exa*mple", "a@b",     "a%2eb"}) {
    CAPTURE(bad);
    CHECK(HostOr(bad) == "error");
  }
  CHECK(HostOr(std::string(64, 'a') + ".example") == "error");
  std::string longest;
  while (longest.size() < 252) longest += "a.";
  longest += "a";
  CHECK(longest.size() == 253);
  CHECK(HostOr(longest) == longest);
  CHECK(HostOr("a" + longest) == "error");
}

TEST_CASE("no byte outside the alphabet of hosts passes, at any place") {
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
    CAPTURE(byte);
    CHECK((HostOr(std::string("a") + c + "b.example") != "error") == (fine || c == '.'));
    CHECK((HostOr(std::string(1, c) + "b.example") != "error") == fine);
  }
}

TEST_CASE("a host beyond ASCII is refused with its ASCII form") {
  CHECK(ParseHost("b\xc3\xbc"
                  "cher.example")
            .error()
            .suggestion == "xn--bcher-kva.example");
  CHECK(ParseHostPattern("*.m\xc3\xbcnchen.example").error().suggestion ==
        "*.xn--mnchen-3ya.example");
  CHECK(ParseHost("\xe4\xbe\x8b\xe3\x81\x88.example").error().suggestion == "xn--r8jz45g.example");
  // U+3002 and U+FF0E would fold to a dot behind our back.
  CHECK(ParseHost("a\xe3\x80\x82"
                  "b.example")
            .error()
            .suggestion.empty());
  CHECK(ParseHost("a\xef\xbc\x8e"
                  "b.example")
            .error()
            .suggestion.empty());
}

TEST_CASE("host patterns match by whole labels") {
  struct Row {
    const char* pattern;
    const char* host;
    bool match;
  };
  const Row rows[] = {{"github.com", "github.com", true},
                      {"github.com", "a.github.com", false},
                      {"github.com", "evilgithub.com", false},
                      {"*.github.com", "a.github.com", true},
                      {"*.github.com", "github.com", false},
                      {"*.github.com", "a.b.github.com", false},
                      {"*.github.com", "evilgithub.com", false},
                      {"**.github.com", "a.b.github.com", true},
                      {"**.github.com", "a.github.com", true},
                      {"**.github.com", "github.com", false},
                      {"**.github.com", ".github.com", false},
                      {"**.github.com", "agithub.com", false},
                      {"github.com", "github.com.evil.example", false}};
  for (const Row& row : rows) {
    auto pattern = ParseHostPattern(row.pattern);
    REQUIRE(pattern);
    CAPTURE(row.pattern, row.host);
    CHECK(MatchesHost(pattern->reach, pattern->name, row.host) == row.match);
    CHECK(ToString(*pattern) == row.pattern);
  }
  for (const char* bad : {"*", "**", "a.*.com", "*a.com", "***.a.com", "*.*.com", "*."}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseHostPattern(bad));
  }
}

TEST_CASE("host patterns are nested or disjoint, as their hosts say") {
  const char* patterns[] = {"c.d",     "b.c.d",   "*.c.d",    "**.c.d",
                            "a.b.c.d", "*.b.c.d", "**.b.c.d", "x.y"};
  const char* hosts[] = {"c.d",   "b.c.d",   "a.b.c.d", "z.a.b.c.d",
                         "q.c.d", "q.b.c.d", "x.y",     "w.x.y"};
  for (const char* a_text : patterns) {
    for (const char* b_text : patterns) {
      const HostPattern a = *ParseHostPattern(a_text);
      const HostPattern b = *ParseHostPattern(b_text);
      bool meet = false;
      bool covers = true;
      for (const char* host : hosts) {
        const bool in_a = MatchesHost(a.reach, a.name, host);
        const bool in_b = MatchesHost(b.reach, b.name, host);
        meet = meet || (in_a && in_b);
        covers = covers && (!in_b || in_a);
      }
      CAPTURE(a_text, b_text);
      CHECK(Meet(a, b) == meet);
      CHECK(Covers(a, b) == covers);
    }
  }
}

TEST_CASE("an address has one spelling, and hidden IPv4 is found") {
  const auto text = [](std::string_view spelling) {
    auto address = ParseAddress(spelling);
    return address ? ToString(*address) : std::string("error");
  };
  CHECK(text("10.0.0.1") == "10.0.0.1");
  CHECK(text("::ffff:10.0.0.1") == "10.0.0.1");
  CHECK(text("::FFFF:0a00:0001") == "10.0.0.1");
  CHECK(text("64:ff9b::10.0.0.1") == "10.0.0.1");
  CHECK(text("2002:0a00:0001::1") == "10.0.0.1");
  CHECK(text("::ffff:0:10.0.0.1") == "10.0.0.1");
  CHECK(text("::10.0.0.1") == "10.0.0.1");
  CHECK(text("2001:DB8:0:0:1:0:0:1") == "2001:db8::1:0:0:1");
  CHECK(text("::") == "::");
  CHECK(text("::1") == "::1");
  CHECK(text("1::") == "1::");
  CHECK(text("1:2:3:4:5:6:7:8") == "1:2:3:4:5:6:7:8");
  for (const char* bad : {"",           "1.2.3",         "1.2.3.4.5",
                          "256.1.1.1",  "01.2.3.4",      "0x7f.0.0.1",
                          "2130706433", "1.2.3.4 ",      "fe80::1%eth0",
                          "1::2::3",    "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
                          ":::",        "12345::",       "::1.2.3",
                          "1.2.3.4::",  "g::",           "1:2:3:4:5:6:7:8::",
                          "[::1]",      "::1/",          ":1:2:3:4:5:6:7:8"}) {
    CAPTURE(bad);
    CHECK(text(bad) == "error");
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    Address address;
    for (auto& byte : address.bytes)
      byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : 0);
    address = Unwrap(address);
    REQUIRE(ParseAddress(ToString(address)));
    CHECK(*ParseAddress(ToString(address)) == address);
    CHECK(Unwrap(address) == address);
  }
}

TEST_CASE("blocks contain what they should, and families do not mix") {
  const auto in = [](const char* block, const char* address) {
    return Contains(*ParseCidr(block), *ParseAddress(address));
  };
  CHECK(in("10.20.0.0/16", "10.20.255.255"));
  CHECK_FALSE(in("10.20.0.0/16", "10.21.0.0"));
  CHECK(in("10.0.0.0/8", "::ffff:10.1.2.3"));
  CHECK(in("0.0.0.0/0", "8.8.8.8"));
  CHECK_FALSE(in("0.0.0.0/0", "2001:db8::1"));
  CHECK(in("::/0", "2001:db8::1"));
  CHECK_FALSE(in("::/0", "8.8.8.8"));
  CHECK(in("1.2.3.4", "1.2.3.4"));
  CHECK(in("fc00::/7", "fdff::1"));
  CHECK_FALSE(in("fc00::/7", "fe00::1"));
  CHECK(ToString(*ParseCidr("::ffff:10.0.0.0/104")) == "10.0.0.0/8");
  CHECK(ToString(*ParseCidr("64:ff9b::10.0.0.0/104")) == "10.0.0.0/8");
  CHECK(ToString(*ParseCidr("2002:0a00::/24")) == "10.0.0.0/8");
  CHECK(ParseCidr("10.20.0.1/16").error().suggestion == "10.20.0.0/16");
  CHECK(ParseCidr("fd00::1/8").error().suggestion == "fd00::/8");
  for (const char* bad : {"10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/+8", "/8",
                          "10.0.0/8", "10.0.0.0/8/8", "2002:0a00:1::/56"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseCidr(bad));
  }
}

TEST_CASE("special addresses are barred in every dress") {
  struct Row {
    const char* address;
    Range range;
  };
  const Row rows[] = {{"127.0.0.1", Range::Loopback},
                      {"127.255.255.255", Range::Loopback},
                      {"::1", Range::Loopback},
                      {"10.0.0.0", Range::Private},
                      {"172.16.0.0", Range::Private},
                      {"172.31.255.255", Range::Private},
                      {"172.32.0.0", Range::Public},
                      {"172.15.255.255", Range::Public},
                      {"192.168.1.1", Range::Private},
                      {"100.64.0.0", Range::CarrierNat},
                      {"100.127.255.255", Range::CarrierNat},
                      {"100.128.0.0", Range::Public},
                      {"169.254.1.1", Range::LinkLocal},
                      {"169.254.169.254", Range::Metadata},
                      {"fd00:ec2::254", Range::Metadata},
                      {"168.63.129.16", Range::Metadata},
                      {"0.0.0.0", Range::Unspecified},
                      {"::", Range::Unspecified},
                      {"224.0.0.1", Range::Multicast},
                      {"ff02::1", Range::Multicast},
                      {"255.255.255.255", Range::Multicast},
                      {"fe80::1", Range::LinkLocal},
                      {"fd12::1", Range::Private},
                      {"8.8.8.8", Range::Public},
                      {"203.0.113.7", Range::Public},
                      {"2606:4700::1", Range::Public},
                      {"198.18.0.1", Range::Reserved},
                      {"2001::1", Range::Reserved}};
  for (const Row& row : rows) {
    CAPTURE(row.address);
    const Address address = *ParseAddress(row.address);
    CHECK(RangeOf(address) == row.range);
    if (!IsIpv4(address)) continue;
    for (const char* prefix : {"::ffff:", "64:ff9b::", "::ffff:0:"}) {
      CHECK(RangeOf(*ParseAddress(std::string(prefix) + row.address)) == row.range);
    }
  }
  CHECK_FALSE(UnpinnableIn(*ParseCidr("10.20.0.0/16")));
  CHECK_FALSE(UnpinnableIn(*ParseCidr("fd00::/8")));
  CHECK_FALSE(UnpinnableIn(*ParseCidr("100.64.0.0/10")));
  CHECK(UnpinnableIn(*ParseCidr("169.254.169.254")) == Range::Metadata);
  CHECK(UnpinnableIn(*ParseCidr("127.0.0.0/16")) == Range::Loopback);
  CHECK(UnpinnableIn(*ParseCidr("0.0.0.0/0")));
  CHECK(UnpinnableIn(*ParseCidr("::/0")));
}

TEST_CASE("a request path has one form, and doubt is refused") {
  CHECK(PathOr("") == "/");
  CHECK(PathOr("/") == "/");
  CHECK(PathOr("/a//b///c") == "/a/b/c");
  CHECK(PathOr("/a/./b/../c") == "/a/c");
  CHECK(PathOr("/a/.") == "/a/");
  CHECK(PathOr("/a/b/..") == "/a/");
  CHECK(PathOr("/..") == "/");
  CHECK(PathOr("/../../x") == "/x");
  CHECK(PathOr("/%7euser/%41") == "/~user/A");
  CHECK(PathOr("/%2e%2E/x") == "/x");
  CHECK(PathOr("/a%2ab%c3%a9") == "/a%2Ab%C3%A9");
  CHECK(PathOr("/a;v=1") == "/a;v=1");
  CHECK(PathOr("/100%25") == "/100%25");
  for (const char* doubt : {"/a%2fb", "/a%2Fb", "/a%00", "/a%5cb", "/a\\b", "/a%", "/a%4", "/a%zz",
                            "/a%0a", "/a%7f", "/%252e%252e/x", "/a/..;/b", "/.;/b", "/a//../b",
                            "/%c0%af", "/%ff", "/a//./../b", "/a%252fb"}) {
    CAPTURE(doubt);
    CHECK(PathOr(doubt) == "ambiguous");
  }
  for (const char* bad : {"a", "*", "/a b", "/a?b", "/a#b", "/a<b", "/\xc3\xa9", "/a\x01"}) {
    CAPTURE(bad);
    CHECK(PathOr(bad) == "error");
  }
}

TEST_CASE("an escaped slash is one letter of a path, and hides no segment") {
  const auto kept = [](std::string_view text) {
    const auto path = ParseUrlPath(text, EscapedSlashes::Kept);
    return path ? *path : "error";
  };
  CHECK(kept("/@acme%2fx/./y") == "/@acme%2Fx/y");
  CHECK(kept("/a%2Fb/../c") == "/c");
  for (const char* bad : {"/a%2f..%2fb", "/a%2f..", "/..%2fa", "/a%2f", "/%2fa", "/%2F",
                          "/a%2f%2fb", "/a%2f.", "/a%2f..;x", "/a%252fb", "/a%5cb", "/a%00"}) {
    CAPTURE(bad);
    CHECK(kept(bad) == "error");
  }
  const auto match = [](const char* glob, const char* path, Reading reading) {
    return MatchesPathGlob(ParseUrlGlob(glob, EscapedSlashes::Kept)->text, path, reading);
  };
  CHECK(match("/@acme%2f*", "/@acme%2Fx", Reading::Exact));
  CHECK(match("/*", "/a%2Fb", Reading::Exact));
  CHECK_FALSE(match("/a/*", "/a%2Fb", Reading::Exact));
  // A deny sees both.
  CHECK(match("/a/*", "/A%2Fb", Reading::Wide));
  CHECK(match("/*", "/a%2Fb", Reading::Wide));
  CHECK(match("/**/b", "/a%2Fx%2Fb", Reading::Wide));
  CHECK(match("/a/**/z", "/a%2Fx/y%2Fz", Reading::Wide));
  CHECK_FALSE(match("/a/*", "/a%2Fb/c", Reading::Wide));
}

TEST_CASE("a path that two globs meet is met by both, and none is missed") {
  const auto meeting = [](const char* a, const char* b) {
    const PathGlob first = *ParseUrlGlob(a);
    const PathGlob second = *ParseUrlGlob(b);
    const auto path = MeetingPath(first, second);
    if (path) {
      CAPTURE(a, b, *path);
      CHECK(MatchesPathGlob(first.text, *path));
      CHECK(MatchesPathGlob(second.text, *path));
    }
    CHECK(path.has_value() == MeetingPath(second, first).has_value());
    return path.value_or("none");
  };
  CHECK(meeting("/a", "/a") == "/a");
  CHECK(meeting("/a", "/b") == "none");
  CHECK(meeting("/a/*", "/*/b") == "/a/b");
  CHECK(meeting("/a*c", "/ab*") == "/abc");
  CHECK(meeting("/a*b", "/a*c") == "none");
  CHECK(meeting("/aa*", "/*aaa") == "/aaaaa");
  CHECK(meeting("/v1/**", "/**/items") == "/v1/items");
  CHECK(meeting("/a/**/z", "/a/b/c/z") == "/a/b/c/z");
  CHECK(meeting("/a/b/**/y/z", "/a/z") == "none");
  CHECK(meeting("/a/**/b", "/a/b") == "/a/b");
  CHECK(meeting("/**", "/**") == "/");
  CHECK(meeting("/a/", "/a/*") == "none");
  CHECK(meeting("/a/", "/a/**") == "/a/");
  CHECK(meeting("/*", "/*") == "/x");
  CHECK(meeting("/\\*", "/a") == "none");
  CHECK(meeting("/\\*", "/*") == "/*");
  // Against all short paths.
  std::mt19937_64 random(7);
  const char* segments[] = {"a", "b", "*", "a*", "*b", "**"};
  std::vector<std::string> paths = {"/"};
  for (std::size_t i = 0; i < paths.size() && paths.size() < 1500; ++i) {
    const std::string base = paths[i] == "/" ? "" : paths[i];
    for (const char* segment : {"a", "b", "ab", "x"}) paths.push_back(base + "/" + segment);
  }
  for (int i = 0; i < 2000; ++i) {
    const auto glob = [&] {
      std::string text;
      bool spans = false;
      for (std::size_t n = 1 + random() % 3; n > 0; --n) {
        std::string segment = segments[random() % std::size(segments)];
        if (segment == "**" && std::exchange(spans, true)) segment = "a";
        text += "/" + segment;
      }
      return text;
    };
    const std::string a = glob();
    const std::string b = glob();
    CAPTURE(a, b);
    const bool meets = meeting(a.c_str(), b.c_str()) != "none";
    if (meets) continue;
    for (const std::string& path : paths) {
      const bool both = MatchesPathGlob(a, path) && MatchesPathGlob(b, path);
      if (both) FAIL("both meet " << path);
    }
  }
}

TEST_CASE("a parameter of a query is read in every way that servers have") {
  const auto narrow = [](const char* query) {
    return QueryMeets("k=a b", query, QueryReading::Narrow);
  };
  const auto wide = [](const char* query) {
    return QueryMeets("k=a b", query, QueryReading::Wide);
  };
  for (const char* query :
       {"k=a%20b", "x=1&k=a%20b", "k=%61%20b&x", "kk=1&k=a%20b&", "%6B=a%20b"}) {
    CAPTURE(query);
    CHECK(narrow(query));
    CHECK(wide(query));
  }
  // Somebody may read another value, another parameter, or none.
  for (const char* query : {"k=a+b", "k=a%20b&k=c", "k=a%20b&K=c", "K=a%20b", "x=1;k=a%20b",
                            "k=a%20b;x=1", "k=a%20b&k=a%20b"}) {
    CAPTURE(query);
    CHECK_FALSE(narrow(query));
    CHECK(wide(query));
  }
  for (const char* query :
       {"", "k", "k=", "k=a", "k=a%20b%20", "k=A%20b", "j=a%20b", "k=a%2520b"}) {
    CAPTURE(query);
    CHECK_FALSE(narrow(query));
    CHECK_FALSE(wide(query));
  }
  CHECK(QueryMeets("k=", "k", QueryReading::Narrow));
  CHECK(QueryMeets("k=50%", "k=50%25", QueryReading::Narrow));
  CHECK_FALSE(QueryMeets("k=50%", "k=50%", QueryReading::Narrow));
  CHECK(QueryMeets("k=50%", "k=50%", QueryReading::Wide));
  for (const char* term : {"k=a b", "k=", "k=50%&x;+", "k=\xc3\xa9"}) {
    CAPTURE(term);
    CHECK(QueryMeets(term, QueryOf(term), QueryReading::Narrow));
  }
  CHECK(IsQueryTerm("k="));
  CHECK_FALSE(IsQueryTerm("=v"));
}

TEST_CASE("what is canonical stays so") {
  std::mt19937_64 random(20261129);
  const std::string_view bytes = "/./..%2e%41ab;*%2aAZ~%c3%a9%25-:@";
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = "/";
    const std::size_t size = random() % 24;
    for (std::size_t j = 0; j < size; ++j) text.push_back(bytes[random() % bytes.size()]);
    auto path = ParseUrlPath(text);
    if (!path) continue;
    ++accepted;
    CAPTURE(text, *path);
    auto again = ParseUrlPath(*path);
    REQUIRE(again);
    CHECK(*again == *path);
    CHECK(path->find("//") == std::string::npos);
    CHECK((*path + "/").find("/../") == std::string::npos);
    CHECK((*path + "/").find("/./") == std::string::npos);
  }
  CHECK(accepted > 2000);
}

// The contract in ten lines, without care for speed.
bool ReferenceSegment(std::string_view glob, std::string_view text) {
  if (glob.empty()) return text.empty();
  if (glob[0] == '*') {
    for (std::size_t n = 0; n <= text.size(); ++n) {
      if (ReferenceSegment(glob.substr(1), text.substr(n))) return true;
    }
    return false;
  }
  return !text.empty() && glob[0] == text[0] && ReferenceSegment(glob.substr(1), text.substr(1));
}
bool ReferenceGlob(const std::vector<std::string>& glob, std::size_t g,
                   const std::vector<std::string>& path, std::size_t p) {
  if (g == glob.size()) return p == path.size();
  if (glob[g] == "**") {
    for (std::size_t n = p; n <= path.size(); ++n) {
      if (ReferenceGlob(glob, g + 1, path, n)) return true;
    }
    return false;
  }
  if (p == path.size() || (glob[g] == "*" && path[p].empty())) return false;
  return ReferenceSegment(glob[g], path[p]) && ReferenceGlob(glob, g + 1, path, p + 1);
}

TEST_CASE("path globs agree with a naive matcher") {
  std::mt19937_64 random(42);
  const char* pieces[] = {"a", "b", "ab", "*", "a*", "*b", "a*b", "**"};
  const char* names[] = {"a", "b", "ab", "aab", "axb", "c"};
  int matched = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::string> glob;
    std::vector<std::string> path;
    std::string glob_text;
    std::string path_text;
    bool spanned = false;
    for (std::size_t n = random() % 4 + 1; n > 0; --n) {
      std::string piece = pieces[random() % std::size(pieces)];
      if (piece == "**" && spanned) continue;
      spanned = spanned || piece == "**";
      glob.push_back(piece);
      glob_text += "/" + piece;
    }
    for (std::size_t n = random() % 5 + 1; n > 0; --n) {
      path.emplace_back(names[random() % std::size(names)]);
      path_text += "/" + path.back();
    }
    auto parsed = ParseUrlGlob(glob_text);
    REQUIRE(parsed);
    CAPTURE(glob_text, path_text);
    const bool match = MatchesPathGlob(parsed->text, path_text);
    CHECK(match == ReferenceGlob(glob, 0, path, 0));
    matched += match ? 1 : 0;
  }
  CHECK(matched > 1000);
}

TEST_CASE(
    "a wide reading is the exact one in small letters, of a path with or without parameters") {
  std::mt19937 random(11);
  const char* globs[] = {"/a/b/**", "/a/*/c", "/**/c", "/A/**/b", "/a;p/b", "/*;p/**", "/a", "/"};
  const char* segments[] = {"a", "b", "C", "a;p", ";p", ";", "B;;x", "c;a/;b", ""};
  int matched = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string path;
    for (auto n = random() % 4 + 1; n > 0; --n) {
      path += "/";
      path += segments[random() % std::size(segments)];
    }
    const auto canonical = ParseUrlPath(path);
    REQUIRE(canonical);
    const auto glob = ParseUrlGlob(globs[random() % std::size(globs)]);
    REQUIRE(glob);
    const auto small = [](std::string text) {
      for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      return text;
    };
    const std::string bare = std::regex_replace(
        std::regex_replace(*canonical, std::regex("/;[^/]*(?=/)"), ""), std::regex(";[^/]*"), "");
    CAPTURE(glob->text, *canonical, bare);
    const bool expected = MatchesPathGlob(small(glob->text), small(*canonical)) ||
                          MatchesPathGlob(small(glob->text), small(bare));
    CHECK(MatchesPathGlob(glob->text, *canonical, Reading::Wide) == expected);
    matched += expected ? 1 : 0;
  }
  CHECK(matched > 1000);
}

// Every path of up to four segments from these names.
std::vector<std::string> SomePaths() {
  std::vector<std::string> paths{""};
  for (std::size_t begin = 0, depth = 0; depth < 4; ++depth) {
    const std::size_t end = paths.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const char* name : {"a", "b", "ab", "axb"}) paths.push_back(paths[i] + "/" + name);
    }
    begin = end;
  }
  paths.erase(paths.begin());
  return paths;
}

TEST_CASE("two path globs meet where some path meets both") {
  const std::vector<std::string> paths = SomePaths();
  std::vector<PathGlob> globs;
  const std::vector<std::string> pieces = {"a", "b", "*", "a*", "*b", "a*b", "**"};
  for (const std::string& first : pieces) {
    globs.push_back(*ParseFileGlob("/" + first));
    for (const std::string& second : pieces) {
      if (first == "**" && second == "**") continue;
      globs.push_back(*ParseFileGlob("/" + first + "/" + second));
    }
  }
  for (const PathGlob& a : globs) {
    for (const PathGlob& b : globs) {
      CAPTURE(a.text, b.text);
      const bool meet = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        return MatchesPathGlob(a.text, path) && MatchesPathGlob(b.text, path);
      });
      if (Meet(a, b) != meet) FAIL();
    }
  }
  const auto meet = [](const char* a, const char* b) {
    return Meet(*ParseUrlGlob(a), *ParseUrlGlob(b));
  };
  CHECK(meet("/a\\*", "/a*"));
  CHECK_FALSE(meet("/a\\*", "/ab"));
  CHECK(meet("/a\\*b", "/a\\**"));
  CHECK(meet("/v1/**", "/v1/"));
  CHECK(meet("/v1/**", "/v1"));
  CHECK_FALSE(meet("/v1/*", "/v1/"));
  CHECK_FALSE(meet("/v1/**/x", "/v1/**/y"));
  CHECK(meet("/v1/**/x", "/**/w/x"));
}

TEST_CASE("path globs at their edges") {
  const auto match = [](const char* glob, const char* path, Reading reading = Reading::Exact) {
    auto parsed = ParseUrlGlob(glob);
    REQUIRE(parsed);
    return MatchesPathGlob(parsed->text, path, reading);
  };
  CHECK(match("/a/**", "/a"));
  CHECK(match("/a/**", "/a/"));
  CHECK(match("/a/**", "/a/b/c"));
  CHECK_FALSE(match("/a/**", "/ab"));
  CHECK_FALSE(match("/a/**", "/"));
  CHECK(match("/**", "/"));
  CHECK(match("/", "/"));
  CHECK_FALSE(match("/a", "/a/"));
  CHECK(match("/a/", "/a/"));
  CHECK_FALSE(match("/a/*", "/a/"));
  CHECK(match("/a/**/z", "/a/z"));
  CHECK_FALSE(match("/a/**/a/z", "/a/z"));
  CHECK(match("/a\\*b", "/a*b"));
  CHECK_FALSE(match("/a\\*b", "/axb"));
  CHECK(match("/%7Euser/x%2a", "/~user/x%2A"));
  CHECK_FALSE(match("/Secret/**", "/secret/x"));
  CHECK(match("/Secret/**", "/sEcReT/x", Reading::Wide));
  // Parameters: as they stand, and as if they were not there.
  for (const char* path : {"/a/secret;x/y", "/a;/secret/y", "/a/;x/secret;y=1;z",
                           "/a;b/;/;c/SECRET", "/;x/a/secret/;y"}) {
    CAPTURE(path);
    CHECK(match("/a/secret/**", path, Reading::Wide));
    CHECK_FALSE(match("/a/secret/**", path));
  }
  CHECK(match("/a;b/c", "/a;b/c", Reading::Wide));
  CHECK(match("/a/", "/a/;x", Reading::Wide));
  CHECK(match("/", "/;x", Reading::Wide));
  CHECK(match("/**/*.key", "/a/b.key;c", Reading::Wide));
  // Escapes: as they stand, and as the bytes that they stand for.
  for (const char* path : {"/@Evil/x", "/%40evil/x", "/%40EVIL;a/x", "/%3B/%40evil"}) {
    CAPTURE(path);
    CHECK(match("/@evil/**", path, Reading::Wide));
    CHECK(match("/%40evil/**", path, Reading::Wide));
  }
  CHECK_FALSE(match("/@evil/**", "/%40evil/x"));
  CHECK(match("/k%2Cl", "/k,l", Reading::Wide));
  CHECK(match("/*%2Cl", "/k%2cl", Reading::Wide));
  CHECK(match("/a\\*b", "/a%2Ab", Reading::Wide));
  CHECK_FALSE(match("/%2Ab", "/ab", Reading::Wide));
  CHECK(match("/a/secret", "/a/%3Bx/secret", Reading::Wide));
  CHECK(match("/%C3%A9/**", "/%c3%a9/x", Reading::Wide));
  CHECK_FALSE(match("/@evil/**", "/%2540evil/x", Reading::Wide));
  for (const char* path : {"/a/secrets;x/y", "/a/x;secret/y", "/a/%2540secret", "/asecret;/y"}) {
    CAPTURE(path);
    CHECK_FALSE(match("/a/secret/**", path, Reading::Wide));
  }
  for (const char* bad : {"", "a", "/a/../b", "/./a", "/a//b", "/***", "/a**", "/**/a/**", "/a*b*",
                          "/a\\", "/a\\b", "/a\\\\b", "/\xc3\xa9", "/a%2fb", "/a?b", "/%2e%2e/a"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseUrlGlob(bad));
  }
  CHECK(ParseFileGlob("/usr/bin/**"));
  CHECK_FALSE(ParseFileGlob("/usr/bin/"));
  CHECK(MatchesPathGlob(ParseFileGlob("/a\\\\b")->text, "/a\\b"));
  CHECK(MatchesPathGlob(ParseFileGlob("/\xc3\xa9*")->text, "/\xc3\xa9t\xc3\xa9"));
}

TEST_CASE("file paths are absolute and plain") {
  for (const char* fine : {"/", "/work/out", "/a b/\xff", "/...", "/.a"}) {
    CAPTURE(fine);
    CHECK(*ParseFilePath(fine) == fine);
  }
  for (const std::string& bad :
       {std::string(), std::string("a"), std::string("/a/"), std::string("//"),
        std::string("/a//b"), std::string("/a/./b"), std::string("/.."), std::string("/a\0b", 4),
        "/" + std::string(9000, 'a')}) {
    CHECK_FALSE(ParseFilePath(bad));
  }
}

TEST_CASE("text globs are anchored") {
  const auto match = [](const char* glob, const char* text) {
    auto parsed = ParseTextGlob(glob);
    REQUIRE(parsed);
    return MatchesTextGlob(parsed->text, text);
  };
  CHECK(match("abc", "abc"));
  CHECK_FALSE(match("abc", "abcd"));
  CHECK(match("*", ""));
  CHECK(match("a*c", "ac"));
  CHECK(match("a*c", "abbc"));
  CHECK(match("a*ca", "aca"));
  CHECK_FALSE(match("ab*bc", "abc"));
  CHECK(match("*b*", "abc"));
  CHECK(match("a*b*c", "axbxc"));
  CHECK_FALSE(match("a*b*c", "axxc"));
  CHECK(match("**", "x"));
  CHECK(match("a\\*", "a*"));
  CHECK_FALSE(match("a\\*", "ab"));
  CHECK(match("*\\**", "x*y"));
  CHECK_FALSE(match("*\\**", "xy"));
  CHECK_FALSE(ParseTextGlob("a*b*c*"));
  CHECK_FALSE(ParseTextGlob("a\\n"));
  CHECK_FALSE(ParseTextGlob(std::string(257, 'a')));
  // Linear in the text: 64 KiB against the longest pattern.
  const std::string hard = "*" + std::string(200, 'a') + "b*";
  CHECK_FALSE(MatchesTextGlob(hard, std::string(65536, 'a')));
}

TEST_CASE("URL patterns and places") {
  auto url = ParseUrlPattern("https://*.Example.com:8443/a/**");
  REQUIRE(url);
  CHECK(url->scheme == UrlScheme::Https);
  CHECK(ToString(std::get<HostPattern>(url->place)) == "*.example.com");
  CHECK(url->port == 8443);
  CHECK(url->path->text == "/a/**");
  CHECK(std::get<Cidr>(ParseUrlPattern("http://[::1]/")->place) == *ParseCidr("::1"));
  CHECK_FALSE(ParseUrlPattern("http://h.example")->path);
  for (const char* bad : {"",
                          "h.example",
                          "ftp://h.example",
                          "HTTP://h.example",
                          "https://",
                          "https:///a",
                          "https://u@h.example/",
                          "https://h.example:0/",
                          "https://h.example:65536/",
                          "https://h.example:65979/",
                          "https://h.example:/",
                          "https://h.example:80a/",
                          "https://h.example/?q=1",
                          "https://h.example/#f",
                          "https://h.example\\a",
                          "https://2130706433/",
                          "https://0x7f.0.0.1/",
                          "https://[::1/",
                          "https://::1/",
                          "https://[1.2.3.4]/",
                          "https://h.example:+80/",
                          "https://h.example: 80/",
                          "https://[fe80::1%25eth0]/"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseUrlPattern(bad));
  }
  auto place = ParsePlacePattern("db.example:5432");
  REQUIRE(place);
  CHECK(place->port == 5432);
  CHECK(std::get<Cidr>(ParsePlacePattern("10.0.0.0/8")->place) == *ParseCidr("10.0.0.0/8"));
  CHECK(std::get<Cidr>(ParsePlacePattern("fd00::/8")->place) == *ParseCidr("fd00::/8"));
  CHECK(ParsePlacePattern("[fd00::1]:443")->port == 443);
  CHECK(ParsePlacePattern("10.0.0.0/8:5432")->port == 5432);
  CHECK_FALSE(ParsePlacePattern("https://a.example"));
  CHECK_FALSE(ParsePlacePattern("a.example:99999"));

  auto concrete = ParseUrl("https://A.example/x/../y%7e?q=%zz");
  REQUIRE(concrete);
  CHECK(std::get<std::string>(concrete->place) == "a.example");
  CHECK(concrete->path == "/y~");
  CHECK(concrete->query == "q=%zz");
  CHECK(concrete->port == 443);
  CHECK(std::get<Address>(ParseUrl("http://1.2.3.4:8080")->place) == *ParseAddress("1.2.3.4"));
  CHECK_FALSE(ParseUrl("https://*.example.com/"));
  CHECK_FALSE(ParseUrl("https://a.example/#x"));
  CHECK_FALSE(ParseUrl("http://[a.example]/"));
  CHECK_FALSE(ParseUrl("http://[1.2.3.4]/"));
}

TEST_CASE("quantities are exact and have their unit") {
  CHECK(*ParseDuration("1h30m") == 5'400'000);
  CHECK(*ParseDuration("1d2h3m4s") == 93'784'000);
  CHECK(*ParseDuration("0s") == 0);
  CHECK(ParseDuration("1.5h").error().suggestion == "1h30m");
  CHECK(ParseDuration("0.5h").error().suggestion == "30m");
  CHECK(ParseDuration("1w").error().suggestion == "7d");
  CHECK(ParseDuration("90M").error().suggestion == "90m");
  CHECK(ParseDuration("3000ms").error().suggestion == "3s");
  for (const char* bad : {"", "60", "1m1h", "1h1h", "h", "1 h", "-1h", "+1h", "01h", "1KiB", "1h30",
                          "9223372036854775807d", "106751991168d", "9223372036854776s"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseDuration(bad));
  }
  CHECK(*ParseDuration("106751991167d") == 106751991167 * 86'400'000);
  CHECK(*ParseSize("8GiB") == 8LL << 30);
  CHECK(*ParseSize("5kB") == 5000);
  CHECK(ParseSize("8gib").error().suggestion == "8GiB");
  CHECK(ParseSize("8G").error().suggestion == "8GiB");
  CHECK(ParseSize("8KB").error().suggestion == "8kB");
  for (const char* bad :
       {"", "8", "1.5GiB", "8m", "-8B", "17179869184GiB", "8388608TiB", "8GiB1MiB"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseSize(bad));
  }
  CHECK(*ParseSize("8388607TiB") == 8388607LL << 40);

  struct Row {
    const char* text;
    bool fits;
  };
  const Row rows[] = {{"2147483647", true},
                      {"2147483648", true},
                      {"2147483649", true},
                      {"4294967295", true},
                      {"4294967296", true},
                      {"9223372036854775807", true},
                      {"9223372036854775808", false},
                      {"18446744073709551615", false},
                      {"18446744073709551616", false},
                      {"99999999999999999999999", false}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(static_cast<bool>(ParseInteger(row.text)) == row.fits);
    CHECK(static_cast<bool>(ParseSize(std::string(row.text) + "B")) == row.fits);
  }
  CHECK(*ParsePort("65535") == 65535);
  for (const char* bad : {"0", "65536", "65979", "080", "8h", ""}) CHECK_FALSE(ParsePort(bad));
}

TEST_CASE("times are real") {
  CHECK(*ParseTime("1970-01-01T00:00:00Z") == 0);
  CHECK(*ParseTime("2024-02-29T12:34:56Z") == 1709210096000);
  CHECK(TimeText(*ParseTime("9999-12-31T23:59:59Z")) == "9999-12-31T23:59:59Z");
  for (const char* bad : {"2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
                          "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z",
                          "2024-01-01T00:00:00", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00z",
                          "2024-01-01T00:00:00+00:00", "1969-12-31T23:59:59Z", ""}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseTime(bad));
  }
}

TEST_CASE("canonical quantities are read back") {
  CHECK(DurationText(5'400'000) == "1h30m");
  CHECK(DurationText(-1000) == "-1s");
  CHECK(DurationText(1250) == "1s250ms");
  CHECK(SizeText(3LL << 29) == "1536MiB");
  CHECK(SizeText(1000) == "1000B");
  std::mt19937_64 random(11);
  for (int i = 0; i < 5000; ++i) {
    const auto bits = random() % 63;
    const auto bytes =
        static_cast<std::int64_t>(random() >> (64 - bits - 1)) & ~(std::int64_t{1} << 62);
    CHECK(*ParseSize(SizeText(bytes)) == bytes);
    const std::int64_t duration = bytes / 1000 * 1000;
    CHECK(*ParseDuration(DurationText(duration)) == duration);
    const std::int64_t time = bytes % 253'402'300'800 * 1000;
    CHECK(*ParseTime(TimeText(time)) == time);
  }
}

TEST_CASE("principals, references and methods") {
  CHECK(*ParsePrincipal("user:ana") == "user:ana");
  CHECK(ParsePrincipal("service:ci@acme.example"));
  for (const char* bad : {"", "ana", "user:", ":ana", "User:ana", "root:ana", "user:a b",
                          "user:a:b", "user:\xc3\xa1na", "user:a\nb"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParsePrincipal(bad));
  }
  CHECK(ParseImageRef("registry.acme.example:5000/agents/python:3.12"));
  for (const char* bad : {"", "/a", "a/", "a//b", "a b", "A/b", "a@sha256:00", "a/../b"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseImageRef(bad));
  }
  CHECK(*ParseMethod("GET") == "GET");
  for (const char* bad : {"get", "CONNECT", "TRACE", "PROPFIND", "GET ", ""})
    CHECK_FALSE(ParseMethod(bad));
}

// Nothing that a request can carry crashes a canonicaliser; the sanitizers of the asan preset look
// on.
TEST_CASE("random bytes never crash a canonicaliser") {
  std::mt19937_64 random(99);
  const std::string_view spice = "/*.:[]%@\\0123abcfx\0-_~?#\xc3\xa9\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text = i % 3 == 0 ? "https://" : (i % 3 == 1 ? "/" : "");
    for (std::size_t n = random() % 20; n > 0; --n) {
      text.push_back(random() % 3 == 0 ? static_cast<char>(random())
                                       : spice[random() % spice.size()]);
    }
    (void)ParseHostPattern(text);
    (void)ParseCidr(text);
    (void)ParseUrl(text);
    (void)ParseFilePath(text);
    (void)ParseDuration(text);
    (void)ParseSize(text);
    (void)ParseTime(text);
    (void)ParsePrincipal(text);
    (void)ParsePlacePattern(text);
    if (auto pattern = ParseUrlPattern(text); pattern && pattern->path) {
      auto again = ParseUrlGlob(pattern->path->text);
      CAPTURE(text);
      REQUIRE(again);
      CHECK(again->text == pattern->path->text);
    }
    if (auto glob = ParseFileGlob(text)) (void)MatchesPathGlob(glob->text, text);
    if (auto glob = ParseTextGlob(text)) (void)MatchesTextGlob(glob->text, text);
  }
}

TEST_CASE("reserved variables are found in any case, and their neighbours are free") {
  for (const char* name :
       {"LD_PRELOAD", "ld_library_path", "HTTPS_PROXY", "no_proxy", "PYTHONPATH", "GIT_SSH_COMMAND",
        "CURFEW_STATE", "NODE_OPTIONS", "SSL_CERT_FILE", "BASH_ENV", "ENV", "PERL5OPT", "RUBYOPT",
        "GLIBC_TUNABLES", "IFS", "_JAVA_OPTIONS", "npm_config_registry", "PIP_INDEX_URL"}) {
    CAPTURE(name);
    CHECK_FALSE(ReservedBy(name).empty());
  }
  for (const char* name : {"LANG", "TZ", "HOME", "PATH", "ENVIRONMENT", "MY_ENV", "OLD_LD", "PROXY",
                           "_LD_", "TERM", ""}) {
    CAPTURE(name);
    CHECK(ReservedBy(name).empty());
  }
  CHECK(ReservedBy("Pip_Extra_Index_Url") == "PIP_*");
}

TEST_CASE("a variable's name is letters, digits and underscores") {
  for (const char* name : {"A", "_", "LANG", "a1_B"}) CHECK(IsVariableName(name));
  for (const char* name : {"", "1A", "A-B", "A=B", "A B", "\xc3\xa9"})
    CHECK_FALSE(IsVariableName(name));
}

}  // namespace
}  // namespace curfew::values
