// Which destination is it? Every way of naming one place and meaning another, and what leaves
// before the answer is known. Numbers are those of the classes of threats in the design.
#include "runtime/egress/sample_hello.h"
#include "tests/egress/rig.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

bool Answers(const std::string& reply, const std::string& status) {
  return reply.starts_with("HTTP/1.1 " + status);
}

TEST_CASE("what is allowed passes, and the upstream sees the canonical form (1, 10)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const std::string reply = rig.Get("FILES.Example.", "/pub/./x/../%7Ea//b?q=1");
  CHECK(Answers(reply, "200 OK"));
  CHECK(reply.ends_with("\r\n\r\nhello"));
  CHECK(upstream.last() == "GET /pub/~a/b?q=1 HTTP/1.1\r\nHost: files.example\r\n\r\n");
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].answer.allowed);
  CHECK(flows[0].answer.reasons.at(0).id == "work.network.files");
  CHECK(flows[0].bytes_in == 5);
  CHECK(flows[0].status == 200);
  CHECK(flows[0].facts.path == "/pub/~a/b");
  CHECK(values::ToString(*flows[0].facts.ip) == "198.51.100.7");
}

TEST_CASE("a refusal names rule, reason and line, to the guest, the task and the records") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const std::string reply = rig.Get("files.example", "/pub/Secret/key");
  CHECK(Answers(reply, "403"));
  CHECK(reply.find("Curfew-Rule: work.network.secret\r\n") != std::string::npos);
  CHECK(reply.find("egress.curfew:") != std::string::npos);
  CHECK(upstream.connections() == 0);
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK_FALSE(flows[0].answer.allowed);
  CHECK(flows[0].status == 403);
  REQUIRE(rig.denials().size() == 1);
  CHECK(rig.denials()[0].find("GET http://files.example/pub/Secret/key") != std::string::npos);
  CHECK(rig.denials()[0].find("work.network.secret") != std::string::npos);
}

TEST_CASE("a deny is not passed by what a server takes off a path (10)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  for (const char* path : {"/pub/secret;x/y", "/pub;/secret/y", "/pub/;x/secret/y", "/pub/SECRET;/",
                           "/pub/x/..//secret;a=b;c", "/pub/;/;/secret"}) {
    const std::string reply = rig.Get("files.example", path);
    INFO(path);
    CHECK(Answers(reply, "403"));
    CHECK(reply.find("work.network.secret") != std::string::npos);
  }
  CHECK(upstream.connections() == 0);
  // An allow reads it as it stands, and it is sent so.
  CHECK(Answers(rig.Get("files.example", "/pub;x/y"), "403"));
  CHECK(Answers(rig.Get("files.example", "/pub/secrets;x/a;secret"), "200"));
  CHECK(upstream.last().starts_with("GET /pub/secrets;x/a;secret HTTP/1.1\r\n"));
}

TEST_CASE("no question leaves for what the rules refuse, by name, method or path (17)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  CHECK(Answers(rig.Get("c2VjcmV0.evil.example", "/"), "403"));
  CHECK(Answers(rig.Get("files.example", "/private"), "403"));
  CHECK(
      Answers(rig.Ask(rig.DialName("files.example"),
                      "DELETE /pub/x HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n\r\n"),
              "403"));
  CHECK(Answers(rig.Get("files.example.evil.example", "/pub/x"), "403"));
  rig.AskDns("exfiltrated-by-dns.evil.example");
  CHECK(rig.Ask(rig.DialName("db.example", 5433), "x\n").empty());
  CHECK(rig.resolver.asked().empty());
  CHECK(Answers(rig.Get("files.example", "/pub/x"), "200"));
  CHECK(rig.resolver.asked() == std::vector<std::string>{"files.example"});
}

TEST_CASE("one star is one label, and the bare domain is not covered (2, 11)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  CHECK(Answers(rig.Get("a.wild.example", "/x"), "200"));
  for (const char* host : {"wild.example", "a.b.wild.example", "awild.example",
                           "a.wild.example.evil", "a.wild.example.evil.example"}) {
    INFO(host);
    CHECK(Answers(rig.Get(host, "/x"), "403"));
  }
  CHECK(upstream.seen().size() == 1);
}

TEST_CASE("Host, target and connection name one place (6, 7)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const std::vector<std::string> names = {"files.example", "api.example"};
  for (const std::string& dialled : names) {
    for (const std::string& target : names) {
      for (const std::string& host : names) {
        const std::string reply = rig.Ask(
            rig.DialName(dialled),
            fmt::format("GET http://{}/pub/x HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
                        target, host));
        CHECK(Answers(reply, dialled == target && target == host ? "200" : "400"));
      }
    }
  }
  CHECK(upstream.seen().size() == 2);
  for (const char* host : {"u@files.example", "files.example:65616", "files.example:443",
                           "fi\xef\xbd\x8c"
                           "es.example"}) {
    CHECK(Answers(rig.Get("files.example", "/pub/x", fmt::format("X: y\r\nHost: {}\r\n", host)),
                  "400"));
  }
}

TEST_CASE("an address in any spelling is an address, and meets only addresses (5)") {
  HttpUpstream upstream("198.51.100.9");
  HttpUpstream metadata("10.20.0.1");
  Rig rig;
  const auto ask = [&](const std::string& host) {
    return rig.Ask(
        rig.DialProxy(),
        fmt::format("GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\nConnection: close\r\n\r\n", host));
  };
  CHECK(Answers(ask("198.51.100.9"), "200"));
  CHECK(Answers(ask("[::ffff:198.51.100.9]"), "200"));
  CHECK(Answers(ask("10.20.0.1"), "403"));
  CHECK(Answers(ask("[::ffff:10.20.0.1]"), "403"));
  CHECK(Answers(ask("[64:ff9b::a14:1]"), "403"));
  CHECK(Answers(ask("[2002:0a14:0001::1]"), "403"));
  CHECK(Answers(ask("169.254.169.254"), "403"));
  // The gateway itself, an address of a name's, and the host's own loopback.
  for (const char* host : {Rig::OwnAddress, "198.18.0.0", "198.18.0.0:443", "127.0.0.1", "0.0.0.0",
                           "[::1]", "[::]", "[::ffff:127.0.0.1]", "[fd00::1]", "[fe80::1]"}) {
    INFO(host);
    CHECK(Answers(ask(host), "403"));
    const std::string place =
        std::string_view(host).ends_with(":443") ? host : fmt::format("{}:443", host);
    CHECK(Answers(rig.Ask(rig.DialProxy(), fmt::format("CONNECT {} HTTP/1.1\r\n\r\n", place)),
                  "403"));
  }
  for (const char* host :
       {"3325256713", "0xc6.0x33.0x64.0x09", "0306.063.0144.011", "198.51.25609", "198.51.100.09",
        "017700000001", "0x7f000001", "0x7f.1", "127.1", "[fe80::1%25eth0]", "1.2.3", "[::1"}) {
    INFO(host);
    CHECK(Answers(ask(host), "400"));
  }
  CHECK(metadata.connections() == 0);
  // Dialled without a name.
  const std::string reply =
      rig.Ask(rig.Dial("198.51.100.9", 80),
              "GET / HTTP/1.1\r\nHost: 198.51.100.9\r\nConnection: close\r\n\r\n");
  CHECK(Answers(reply, "200"));
}

TEST_CASE("an address of the gateway's own without a name leads nowhere") {
  Rig rig;
  Stream stream = rig.Dial("198.18.77.77", 80);
  stream.Send("GET / HTTP/1.1\r\n\r\n");
  CHECK(stream.ReadAll().empty());
  const std::vector<Flow> flows = rig.Flows(1);
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].answer.reasons.at(0).id == "request.invalid");
}

TEST_CASE("every address that a name has is judged, and nothing that is private is reached (16)") {
  HttpUpstream upstream("198.51.100.7");
  HttpUpstream inside("10.20.0.7");
  Rig rig;
  const auto says = [&](const std::vector<std::string>& addresses) {
    rig.resolver.Say("api.example", {.addresses = addresses});
    return rig.Get("api.example", "/");
  };
  CHECK(Answers(says({"198.51.100.7"}), "200"));
  for (const std::vector<std::string>& addresses :
       std::vector<std::vector<std::string>>{{"10.20.0.7"},
                                             {"198.51.100.7", "10.20.0.7"},
                                             {"198.51.100.7", "127.0.0.1"},
                                             {"169.254.169.254"},
                                             {"0.0.0.0"},
                                             {"198.51.100.7", "fd00::1"},
                                             {"::ffff:10.20.0.7"},
                                             {"64:ff9b::a14:7"},
                                             {"100.64.0.1"},
                                             {"224.0.0.1"}}) {
    const std::string reply = says(addresses);
    CHECK(Answers(reply, "403"));
    CHECK(reply.find("builtin.address") != std::string::npos);
  }
  CHECK(inside.connections() == 0);
  rig.resolver.Say("inside.example", {.addresses = {"10.20.0.7"}});
  CHECK(Answers(rig.Get("inside.example", "/"), "200"));
  rig.resolver.Say("inside.example", {.addresses = {"10.20.0.7", "198.51.100.7"}});
  CHECK(Answers(rig.Get("inside.example", "/"), "403"));
}

TEST_CASE("a name that changes its address is resolved once, and what was judged is dialled (16)") {
  HttpUpstream upstream("198.51.100.7");
  HttpUpstream inside("10.20.0.7");
  Rig rig;
  rig.resolver.Say("api.example", {.addresses = {"198.51.100.7"}, .then = {"10.20.0.7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(rig.resolver.asked().size() == 1);
  CHECK(Answers(rig.Get("api.example", "/"), "403"));
  CHECK(rig.resolver.asked().size() == 2);
  CHECK(inside.connections() == 0);
}

TEST_CASE("a deny judges every alias of a name, an allow need not cover one (18)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  rig.resolver.Say("api.example",
                   {.addresses = {"198.51.100.7"}, .alias = "cdn.elsewhere.example"});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  rig.resolver.Say("api.example", {.addresses = {"198.51.100.7"}, .alias = "x.forbidden.example"});
  const std::string reply = rig.Get("api.example", "/");
  CHECK(Answers(reply, "403"));
  CHECK(reply.find("work.network.alias") != std::string::npos);
  CHECK(upstream.seen().size() == 1);
}

TEST_CASE("a resolver of the guest's own choice is a host like any other (18)") {
  Sink upstream(853);
  HttpUpstream web("198.51.100.7");
  const std::string query =
      "GET /dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB HTTP/1.1\r\n"
      "Host: dns.example\r\nAccept: application/dns-message\r\nConnection: close\r\n\r\n";
  {
    Rig rig;
    rig.resolver.Say("dns.example", {.addresses = {"198.51.100.7"}});
    CHECK(Answers(rig.Ask(rig.DialName("dns.example"), query), "403"));
    for (const std::uint16_t port : {std::uint16_t{443}, std::uint16_t{853}}) {
      CHECK(rig.Ask(rig.DialName("dns.example", port), HelloFor("dns.example")).size() == 7);
      CHECK(rig.Ask(rig.Dial(PlayedResolver::Address, port), HelloFor("dns.example")).size() == 7);
      CHECK(Answers(
          rig.Ask(rig.DialProxy(), fmt::format("CONNECT dns.example:{} HTTP/1.1\r\n\r\n", port)),
          "403"));
    }
    // Nor is DNS by itself let past: not to the world's resolver, not by a name.
    CHECK(rig.Ask(rig.Dial(PlayedResolver::Address, 53), WithLength(2, "question")).empty());
    CHECK(rig.Ask(rig.DialName("dns.example", 53), WithLength(2, "question")).empty());
    CHECK(rig.resolver.asked().empty());
  }
  CHECK(upstream.server.connections() + web.connections() == 0);
  // What a rule allows is allowed, and nothing but that.
  Rig rig({}, "dot: allow connect \"dns.example:853\"");
  rig.resolver.Say("dns.example", {.addresses = {"198.51.100.7"}});
  Stream stream = rig.DialName("dns.example", 853);
  stream.Send(HelloFor("dns.example"));
  stream.Shut();
  CHECK(stream.ReadAll() == "done");
  CHECK(Answers(rig.Ask(rig.DialName("dns.example"), query), "403"));
  CHECK(web.connections() == 0);
}

TEST_CASE("IPv6 upstreams are dialled, and judged as any address (5, 16)") {
  HttpUpstream world("2001:db8::7");
  HttpUpstream private_one("fd00::7");
  HttpUpstream v4("198.51.100.7");
  Rig rig({},
          "six: allow GET \"http://six.example/**\" at \"fd00::/8\"\n"
          "at_last: allow GET \"http://[2001:db8::7]/**\"");
  rig.resolver.Say("api.example", {.addresses = {"2001:db8::7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(world.last() == "GET / HTTP/1.1\r\nHost: api.example\r\n\r\n");
  CHECK(values::ToString(*rig.Flows(1).at(0).facts.ip) == "2001:db8::7");
  // Written as an address, in any spelling.
  for (const char* host : {"[2001:db8::7]", "[2001:DB8:0:0::0007]"}) {
    CHECK(Answers(rig.Ask(rig.DialProxy(), fmt::format("GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\n"
                                                       "Connection: close\r\n\r\n",
                                                       host)),
                  "200"));
    CHECK(world.last() == "GET / HTTP/1.1\r\nHost: [2001:db8::7]\r\n\r\n");
  }
  CHECK(world.connections() == 3);
  // Private ones are reached where a rule pins them, and there only.
  rig.resolver.Say("six.example", {.addresses = {"fd00::7"}});
  CHECK(Answers(rig.Get("six.example", "/"), "200"));
  CHECK(private_one.connections() == 1);
  rig.resolver.Say("api.example", {.addresses = {"fd00::7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "403"));
  rig.resolver.Say("six.example", {.addresses = {"fd00::7", "2001:db8::7"}});
  CHECK(Answers(rig.Get("six.example", "/"), "403"));
  CHECK(private_one.connections() == 1);
  // Of both kinds IPv4 is tried first, and the other where that is dead.
  rig.resolver.Say("api.example", {.addresses = {"2001:db8::7", "198.51.100.7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(v4.connections() == 1);
  rig.resolver.Say("api.example", {.addresses = {"198.51.100.8", "2001:db8::7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(world.connections() == 4);
}

TEST_CASE("two names on one address are two names (18)") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  rig.resolver.Say("other.example", {.addresses = {"198.51.100.7"}});
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
  CHECK(Answers(rig.Get("other.example", "/"), "403"));
}

TEST_CASE(
    "a resolver that lies, fails or is silent gives a reason, and costs only its own request") {
  HttpUpstream upstream("198.51.100.7");
  Limits limits;
  limits.resolve_ms = 400;
  Rig rig(limits);
  const auto says = [&](PlayedResolver::Records records) {
    rig.resolver.Say("api.example", std::move(records));
    return rig.Get("api.example", "/");
  };
  CHECK(Answers(says({.silent = true}), "504"));
  CHECK(Answers(says({.raw = "garbage"}), "50"));
  CHECK(Answers(says({.raw = std::string("\x81\x80\0\1\xff\xff\0\0\0\0\xc0\x0c", 12)}), "50"));
  CHECK(Answers(says({.addresses = {}}), "502"));
  CHECK(Answers(says({.code = 2}), "50"));
  CHECK(Answers(says({.addresses = {"198.51.100.7"}, .cut = true}), "200"));  // by TCP
  CHECK(Answers(rig.Get("files.example", "/pub/x"), "200"));
  rig.resolver.Say("files.example", {.silent = true});
  Stream slow = rig.DialName("files.example");
  slow.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
  CHECK(Answers(rig.Get("api.example", "/"), "200"));
}

TEST_CASE("the gateway's name server answers over both transports, and no address is shared") {
  Rig rig;
  const std::string one = rig.AskDns("one.example");
  const std::string two = rig.AskDns("two.example");
  CHECK(one.substr(one.size() - 4) != two.substr(two.size() - 4));
  const std::string query = BigEndian(9, 2) + BigEndian(0x0100, 2) + BigEndian(1, 2) +
                            BigEndian(0, 6) + WithLength(1, "one") + WithLength(1, "example") +
                            std::string(1, '\0') + BigEndian(1, 2) + BigEndian(1, 2);
  const std::string tcp = rig.AskDnsRaw(query, true);
  CHECK(tcp.substr(2) == one.substr(2));
  CHECK(rig.AskDnsRaw(std::string(5000, 'x'), true).substr(0, 2) == "xx");
  CHECK(rig.gateway().Names() == std::vector<std::string>{"one.example", "two.example"});
  CHECK(rig.resolver.asked().empty());
}

TEST_CASE(
    "what a request holds is only ever a value: no field, line or record is made of it (26)") {
  Rig rig;
  const std::string reply = rig.Get("files.example", "/private/%22%0d%0aSet-Cookie:x'$(id)`{}%3c");
  CHECK(Answers(reply, "400"));
  CHECK(reply.find("\nSet-Cookie") == std::string::npos);
  const std::string quoted = rig.Get("files.example", "/private/%22;drop'$(id)*%3cb%3e");
  CHECK(Answers(quoted, "403"));
  for (const std::string& line : rig.denials()) {
    CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c != '\x7f'; }));
  }
}

TEST_CASE("a set that is tightened cuts what it now denies, and nothing else (31)") {
  Upstream silent("198.51.100.7", 5432, [](Stream& stream) {
    stream.Send("ready\n");
    stream.ReadAll();
  });
  Upstream endless("198.51.100.7", 80, [](Stream& stream) {
    stream.ReadUntil("\r\n\r\n");
    stream.Send("HTTP/1.1 200 OK\r\n\r\nbegun\n");
    stream.ReadAll();
  });
  Rig rig;
  Stream database = rig.DialName("db.example", 5432);
  CHECK(database.ReadUntil("\n") == "ready\n");
  Stream download = rig.DialName("files.example");
  download.Send("GET /pub/x HTTP/1.1\r\nHost: files.example\r\n\r\n");
  CHECK(download.ReadUntil("begun").ends_with("begun"));
  CHECK(rig.gateway().Rejudge() == 0);
  CHECK(rig.Reload("nodb: deny any \"db.example:5432\"") == 1);
  CHECK(database.ReadAll().empty());
  CHECK(database.was_reset());
  CHECK(rig.Reload("late: deny any \"http://files.example\"") == 1);
  download.ReadAll();
  CHECK(download.was_reset());
  const std::vector<Flow> flows = rig.Flows(2);
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].answer.reasons.at(0).id == "work.network.nodb");
  CHECK(flows[1].answer.reasons.at(0).id == "work.network.late");
  CHECK(rig.denials().size() == 2);
}

}  // namespace
}  // namespace curfew::egress
