// What resolvers that others wrote answer in ways of their own: names written short, chains of
// aliases in any order, other sections, answers that come by TCP, other case, and answers to
// something else. Judged by what was asked of the authority and what was dialled. Numbers are those
// of the classes of threats in the design.
#include "runtime/egress/sample_hello.h"
#include "tests/egress/rig.h"

#include <arpa/inet.h>
#include <chrono>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::egress {
namespace {

constexpr unsigned Answered = 0x8180;
constexpr unsigned Cut = 0x0200;

std::string Name(const std::vector<std::string>& labels) {
  std::string wire;
  for (const std::string& label : labels) wire += WithLength(1, label);
  return wire + std::string(1, '\0');
}
std::string Pointer(std::size_t to) { return BigEndian(0xc000 | to, 2); }
std::string Record(const std::string& owner, unsigned type, const std::string& data) {
  return owner + BigEndian(type, 2) + BigEndian(1, 2) + BigEndian(60, 4) + WithLength(2, data);
}
std::string Address(const std::string& owner, const char* text) {
  in_addr address{};
  inet_pton(AF_INET, text, &address);
  return Record(owner, 1, std::string(reinterpret_cast<const char*>(&address), sizeof address));
}

struct Sections {
  std::vector<std::string> answers = {};
  std::vector<std::string> authority = {};
  std::vector<std::string> additional = {};
  unsigned flags = Answered;
};

// All that follows the id.
std::string Message(const PlayedQuestion& question, const Sections& sections) {
  std::string text = BigEndian(sections.flags, 2) + BigEndian(1, 2);
  const auto parts = {&sections.answers, &sections.authority, &sections.additional};
  for (const auto* part : parts) text += BigEndian(part->size(), 2);
  text += question.wire;
  for (const auto* part : parts) {
    for (const std::string& record : *part) text += record;
  }
  return text;
}

// The name of every question here, where it stands in a message, and where its domain does.
const std::string Asked = Name({"api", "example"});
constexpr std::size_t AskedAt = 12;
constexpr std::size_t DomainAt = AskedAt + 4;
constexpr const char* Good = "198.51.100.7";
constexpr const char* Other = "203.0.113.7";

// Two servers, a gateway, and a resolver that answers as the test says to questions for IPv4; to
// those for IPv6 that there is none.
struct Scene {
  HttpUpstream good{Good};
  HttpUpstream other{Other};
  Rig rig;

  explicit Scene(const Limits& limits = {}) : rig(limits) {}

  std::string Get(std::function<Sections(const PlayedQuestion&)> says) {
    return GetRaw([says = std::move(says)](const PlayedQuestion& question) {
      return Message(question, question.wants_v6 ? Sections{} : says(question));
    });
  }
  std::string GetRaw(std::function<std::string(const PlayedQuestion&)> reply) {
    PlayedResolver::Records records;
    records.reply = std::move(reply);
    rig.resolver.Say("api.example", std::move(records));
    return rig.Get("api.example", "/").substr(9, 3);
  }
  std::string Get(const Sections& says) {
    return Get([says](const PlayedQuestion&) { return says; });
  }
  // No name but the one that was allowed was ever asked for.
  bool AskedForNothingElse() {
    for (const std::string& name : rig.resolver.asked()) {
      if (name != "api.example") return false;
    }
    return true;
  }
};

TEST_CASE("names that are written short, and chains of aliases, are read alike (16, 18)") {
  Scene scene;
  CHECK(scene.Get({.answers = {Address(Asked, Good)}}) == "200");
  CHECK(scene.Get({.answers = {Address(Pointer(AskedAt), Good)}}) == "200");
  const auto two = [](const std::string& alias, const std::string& alias_owner,
                      const std::string& address_owner) {
    return Sections{.answers = {Record(alias_owner, 5, alias), Address(address_owner, Good)}};
  };
  const std::string plain = Name({"cdn", "example"});
  const std::string brief = WithLength(1, "cdn") + Pointer(DomainAt);
  const std::size_t alias_at = AskedAt + Asked.size() + 4 + 2 + 10;
  CHECK(scene.Get(two(plain, Asked, plain)) == "200");
  CHECK(scene.Get(two(brief, Pointer(AskedAt), Pointer(alias_at))) == "200");
  CHECK(scene.Get(two(brief, Pointer(AskedAt), plain)) == "200");
  // A denied alias is seen in either writing, first, last or between.
  const std::string denied = Name({"x", "forbidden", "example"});
  const std::string denied_brief =
      WithLength(1, "x") + WithLength(1, "forbidden") + Pointer(DomainAt);
  CHECK(scene.Get(two(denied, Asked, denied)) == "403");
  CHECK(scene.Get(two(denied_brief, Pointer(AskedAt), Pointer(alias_at))) == "403");
  CHECK(scene.Get(two(Name({"X", "Forbidden", "EXAMPLE"}), Asked, denied)) == "403");
  CHECK(scene.Get({.answers = {Record(Asked, 5, denied), Record(denied, 5, plain),
                               Address(plain, Good)}}) == "403");
  CHECK(scene.Get({.answers = {Record(Asked, 5, plain), Record(plain, 5, denied),
                               Address(denied, Good)}}) == "403");
  CHECK(scene.good.connections() == 5);
  CHECK(scene.other.connections() == 0);
  CHECK(scene.AskedForNothingElse());
}

TEST_CASE("whatever order a chain comes in, a denied alias is no way around (18)") {
  Scene scene;
  const std::string plain = Name({"cdn", "example"});
  const std::string denied = Name({"x", "forbidden", "example"});
  // The address before its alias: some read it, some do not; nobody may read less than all aliases.
  const std::string order = scene.Get({.answers = {Address(plain, Good), Record(Asked, 5, plain)}});
  CHECK((order == "200" || order == "502"));
  for (const std::vector<std::string>& answers : std::vector<std::vector<std::string>>{
           {Address(denied, Good), Record(Asked, 5, denied)},
           {Record(plain, 5, denied), Record(Asked, 5, plain), Address(denied, Good)},
           {Address(Asked, Good), Record(Asked, 5, denied)},
           {Record(Asked, 5, plain), Address(plain, Good), Record(plain, 5, denied)}}) {
    const std::size_t before = scene.good.connections();
    const std::string status = scene.Get({.answers = answers});
    CHECK((status == "403" || status == "502"));
    CHECK(scene.good.connections() == before);
  }
  // A loop, a chain without an end, one that is too long, and one to what is no host.
  CHECK(scene.Get({.answers = {Record(Asked, 5, plain), Record(plain, 5, Asked)}}) == "502");
  CHECK(scene.Get({.answers = {Record(Asked, 5, plain)}}) == "502");
  Sections chain;
  std::string owner = Asked;
  for (int i = 0; i < 20; ++i) {
    const std::string next = Name({fmt::format("a{}", i), "example"});
    chain.answers.push_back(Record(owner, 5, next));
    owner = next;
  }
  chain.answers.push_back(Address(owner, Good));
  CHECK(scene.Get(chain) == "502");
  const std::string odd = Name({"a b", "example"});
  CHECK(scene.Get({.answers = {Record(Asked, 5, odd), Address(odd, Good)}}) == "502");
  CHECK(scene.AskedForNothingElse());
}

TEST_CASE("no section but the answer says where a name is, and no other name's record (16)") {
  Scene scene;
  const std::string server = Name({"ns", "example"});
  const std::string soa = server + server + std::string(20, '\0');
  const std::string option = std::string(1, '\0') + BigEndian(41, 2) + BigEndian(1232, 2) +
                             BigEndian(0, 4) + WithLength(2, "");
  CHECK(scene.Get({.answers = {Address(Asked, Good)},
                   .authority = {Record(Name({"example"}), 2, server)},
                   .additional = {Address(server, Other), Address(Asked, Other), option}}) ==
        "200");
  CHECK(scene.good.connections() == 1);
  CHECK(scene.Get({.authority = {Record(Name({"example"}), 6, soa)}}) == "502");
  CHECK(scene.Get({.authority = {Address(Asked, Other)}}) == "502");
  CHECK(scene.Get({.additional = {Address(Asked, Other), option}}) == "502");
  CHECK(scene.Get({.answers = {Address(server, Other)}}) == "502");
  CHECK(scene.Get({.answers = {Address(server, Other), Address(Asked, Good)}}) == "200");
  // Records of other types beside the address: signatures, text.
  CHECK(scene.Get({.answers = {Record(Asked, 46, std::string(40, 'x')), Address(Asked, Good),
                               Record(Asked, 16, WithLength(1, "text"))}}) == "200");
  CHECK(scene.good.connections() == 3);
  CHECK(scene.other.connections() == 0);
  CHECK(scene.AskedForNothingElse());
}

TEST_CASE("an answer that was cut is asked for by TCP, and what the cut one said is not used") {
  Scene scene;
  bool came_by_tcp = false;
  CHECK(scene.Get([&](const PlayedQuestion& question) {
    came_by_tcp = came_by_tcp || question.is_tcp;
    if (question.is_tcp) return Sections{.answers = {Address(Asked, Good)}};
    return Sections{.answers = {Address(Asked, Other)}, .flags = Answered | Cut};
  }) == "200");
  CHECK(came_by_tcp);
  // More than any datagram holds.
  CHECK(scene.Get([&](const PlayedQuestion& question) {
    if (!question.is_tcp) return Sections{.flags = Answered | Cut};
    Sections sections;
    for (int i = 0; i < 100; ++i) {
      sections.additional.push_back(Record(Asked, 16, WithLength(1, std::string(200, 't'))));
    }
    sections.answers = {Address(Asked, Good)};
    return sections;
  }) == "200");
  CHECK(scene.good.connections() == 2);
  CHECK(scene.other.connections() == 0);
}

TEST_CASE("only the answer to the question counts, in whatever case it repeats the name") {
  Limits limits;
  limits.resolve_ms = 400;
  Scene scene(limits);
  const auto repeats = [&](const std::string& wire) {
    return scene.GetRaw([&, wire](const PlayedQuestion& question) {
      PlayedQuestion other = question;
      other.wire = wire + question.wire.substr(question.wire.size() - 4);
      return Message(other,
                     question.wants_v6 ? Sections{} : Sections{.answers = {Address(wire, Other)}});
    });
  };
  CHECK(repeats(Name({"aPi", "EXAMPLE"})) == "200");
  CHECK(scene.other.connections() == 1);
  // To another question, to none, to one of another type.
  CHECK(repeats(Name({"files", "example"})).starts_with("50"));
  CHECK(scene
            .GetRaw([](const PlayedQuestion&) {
              return BigEndian(Answered, 2) + BigEndian(0, 2) + BigEndian(1, 2) + BigEndian(0, 4) +
                     Address(Asked, Other);
            })
            .starts_with("50"));
  CHECK(scene
            .GetRaw([](const PlayedQuestion& question) {
              PlayedQuestion other = question;
              other.wire = Asked + BigEndian(16, 2) + BigEndian(1, 2);
              return Message(other, {.answers = {Address(Asked, Other)}});
            })
            .starts_with("50"));
  // Codes that say no, whatever stands beside them.
  for (const unsigned code : {1u, 2u, 3u, 4u, 5u}) {
    CHECK(scene.Get({.answers = {Address(Asked, Other)}, .flags = Answered | code})
              .starts_with("50"));
  }
  CHECK(scene.other.connections() == 1);
  CHECK(scene.good.connections() == 0);
  CHECK(scene.AskedForNothingElse());
}

TEST_CASE("a resolver that fails for IPv6 alone costs nothing") {
  Limits limits;
  limits.resolve_ms = 2'000;
  Scene scene(limits);
  for (const unsigned code : {2u, 3u, 4u, 5u}) {
    CHECK(scene.GetRaw([code](const PlayedQuestion& question) {
      return Message(question, question.wants_v6 ? Sections{.flags = Answered | code}
                                                 : Sections{.answers = {Address(Asked, Good)}});
    }) == "200");
  }
  CHECK(scene.good.connections() == 4);
}

}  // namespace
}  // namespace curfew::egress
