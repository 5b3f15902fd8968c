// The gateway's name server as a guest that means harm asks it: every question gets an answer of
// its own, and none leaves.
#include "runtime/egress/sample_hello.h"
#include "tests/egress/rig.h"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

std::string Wire(const std::vector<std::string>& labels) {
  std::string wire;
  for (const std::string& label : labels) wire += WithLength(1, label);
  return wire + std::string(1, '\0');
}

std::string Question(const std::string& name, unsigned type = 1, unsigned class_of = 1) {
  return BigEndian(7, 2) + BigEndian(0x0100, 2) + BigEndian(1, 2) + BigEndian(0, 6) + name +
         BigEndian(type, 2) + BigEndian(class_of, 2);
}

struct Reply {
  int code = -1;  // none came
  int answers = 0;
  std::string data;  // of an address
};

Reply Read(const std::string& bytes) {
  if (bytes.size() < 12) return {};
  return {.code = bytes[3] & 15,
          .answers = bytes[7],
          .data = bytes[7] == 0 ? std::string() : bytes.substr(bytes.size() - 4)};
}

TEST_CASE("questions of every type and shape are answered, and none leaves (17)") {
  Rig rig;
  const std::string name = Wire({"files", "example"});
  const std::string address = Read(rig.AskDnsRaw(Question(name))).data;
  CHECK(address.size() == 4);
  // AAAA, TXT, MX, SVCB, HTTPS, PTR, SRV, NULL: no data, and no address is taken.
  for (const unsigned type : {28u, 16u, 15u, 64u, 65u, 12u, 33u, 10u, 65280u}) {
    const Reply reply = Read(rig.AskDnsRaw(Question(Wire({"new", "example"}), type)));
    CHECK(reply.code == 0);
    CHECK(reply.answers == 0);
  }
  CHECK(rig.gateway().Names() == std::vector<std::string>{"files.example"});
  CHECK(Read(rig.AskDnsRaw(Question(name, 252))).code == 4);
  CHECK(Read(rig.AskDnsRaw(Question(name, 1, 3))).code == 5);
  CHECK(Read(rig.AskDnsRaw(Question(Wire({"FILES", "eXample"})))).data == address);
  // What is no host does not exist: longer than a name may be, or made of other bytes.
  const std::string longest(63, 'a');
  CHECK(
      Read(rig.AskDnsRaw(Question(Wire({longest, longest, longest, std::string(61, 'b')})))).code ==
      0);
  for (const std::vector<std::string>& labels :
       std::vector<std::vector<std::string>>{{"files\xe3\x80\x82"
                                              "example"},
                                             {"b\xc3\xbc"
                                              "cher",
                                              "example"},
                                             {std::string("files\0", 6), "example"},
                                             {"files.example"},
                                             {"a b", "example"},
                                             {"10", "0", "2", "2"},
                                             {"0x7f", "1"}}) {
    CHECK(Read(rig.AskDnsRaw(Question(Wire(labels)))).code == 3);
  }
  // What is malformed is called so: a loop, a label or a name too long, more than one question.
  const std::string loop("\xc0\x0c", 2);
  for (const std::string& query :
       {Question(loop), Question("\1a" + loop),
        Question(WithLength(1, std::string(64, 'a')) + "\0"),
        Question(Wire({longest, longest, longest, std::string(62, 'b')})), Question(name) + "x",
        Question(name).substr(0, 20), Question(name + name),
        Question(name) + std::string(5000, 'x')}) {
    CHECK(Read(rig.AskDnsRaw(query)).code == 1);
  }
  CHECK(rig.resolver.asked().empty());
}

TEST_CASE("clients are told to keep to the name server that they have (18)") {
  Rig rig;
  for (const unsigned type : {1u, 28u, 65u, 255u}) {
    for (const std::vector<std::string>& canary : std::vector<std::vector<std::string>>{
             {"use-application-dns", "net"}, {"USE-Application-DNS", "Net"}}) {
      CHECK(Read(rig.AskDnsRaw(Question(Wire(canary), type))).code == 3);
    }
  }
  // Nothing is known of a resolver over TLS or HTTPS, by itself or below a name.
  for (const std::vector<std::string>& designated : std::vector<std::vector<std::string>>{
           {"_dns", "resolver", "arpa"}, {"_dns", "dns", "example"}, {"resolver", "arpa"}}) {
    for (const unsigned type : {64u, 65u}) {
      const Reply reply = Read(rig.AskDnsRaw(Question(Wire(designated), type)));
      CHECK((reply.code == 0 && reply.answers == 0));
    }
  }
  CHECK(rig.gateway().Names().empty());
  // Not its neighbours.
  CHECK(Read(rig.AskDns("www.use-application-dns.net")).answers == 1);
  CHECK(rig.resolver.asked().empty());
}

TEST_CASE("questions on a connection come in any pieces, and one that never ends ends itself") {
  Limits limits;
  limits.dns_ms = 300;
  limits.dns_connections = 4;
  Rig rig(limits);
  const std::string query = WithLength(2, Question(Wire({"files", "example"})));
  Stream stream = rig.DialDns();
  for (const char byte : query) stream.Send(std::string_view(&byte, 1));
  const std::string one = stream.ReadBytes(2 + 31 + 16);
  CHECK(one.size() == 49);
  stream.Send(query + query + query.substr(0, 9));
  CHECK(stream.ReadBytes(98) == one + one);
  stream.Send(query.substr(9));
  CHECK(stream.ReadBytes(49) == one);
  // A byte now and then keeps nothing open; nor does a frame that says more than it holds.
  Stream slow = rig.DialDns();
  const auto begun = std::chrono::steady_clock::now();
  std::thread drip([&] {
    while (slow.Send(std::string_view("\xff", 1))) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  CHECK(slow.ReadAll().empty());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
  slow.Shut();
  drip.join();
  // Beyond so many connections none is served, and the rest of the gateway does not notice.
  std::vector<Stream> held;
  for (int i = 0; i < 4; ++i) held.push_back(rig.DialDns());
  CHECK(Read(rig.AskDns("files.example")).code == 0);
  Stream garbage = rig.DialDns();
  garbage.Send(WithLength(2, std::string(5, 'x')));
  CHECK(garbage.ReadAll().empty());
  CHECK(rig.resolver.asked().empty());
}

TEST_CASE("when all 65,536 names are taken a new one fails, and the old ones stay") {
  HttpUpstream upstream("198.51.100.7");
  Rig rig;
  const std::string first = rig.AskDns("files.example");
  Stream stream = rig.DialDns();
  std::thread asker([&] {
    for (int i = 1; i < 65'536; ++i) {
      stream.Send(WithLength(2, Question(Wire({fmt::format("{:05}", i), "evil", "example"}))));
    }
  });
  const std::size_t size = 2 + 12 + 20 + 4 + 16;
  int answered = 0;
  while (answered < 65'535 && Read(stream.ReadBytes(size).substr(2)).answers == 1) ++answered;
  asker.join();
  CHECK(answered == 65'535);
  CHECK(Read(rig.AskDns("one.more.example")).code == 2);
  CHECK(rig.AskDns("files.example") == first);
  CHECK(rig.Get("files.example", "/pub/x").starts_with("HTTP/1.1 200"));
  CHECK(rig.resolver.asked() == std::vector<std::string>{"files.example"});
}

}  // namespace
}  // namespace curfew::egress
