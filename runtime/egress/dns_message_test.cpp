#include "runtime/egress/dns_message.h"

#include "runtime/egress/sample_hello.h"

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

std::string Wire(std::string_view name) {
  std::string wire;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    wire += WithLength(1, name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return wire + std::string(1, '\0');
}

struct Query {
  std::string name = Wire("files.example");
  unsigned type = 1;
  unsigned class_of = 1;
  unsigned flags = 0x0100;
  unsigned questions = 1;
  unsigned answers = 0;
  unsigned additional = 0;
  std::string rest = {};
  [[nodiscard]] std::string Text() const {
    return BigEndian(0xbeef, 2) + BigEndian(flags, 2) + BigEndian(questions, 2) +
           BigEndian(answers, 2) + BigEndian(0, 2) + BigEndian(additional, 2) + name +
           BigEndian(type, 2) + BigEndian(class_of, 2) + rest;
  }
};

std::string Edns(unsigned version = 0) {
  return std::string(1, '\0') + BigEndian(41, 2) + BigEndian(1232, 2) + std::string(1, '\0') +
         BigEndian(version, 1) + BigEndian(0, 2) + WithLength(2, "");
}

struct Fixture {
  Names names{*values::ParseAddress("198.18.0.0")};

  std::string Ask(std::string_view query) {
    const auto answer = AnswerDns(AsBytes(query), names);
    return answer ? std::string(AsText(*answer)) : std::string();
  }
  std::string Ask(const Query& query) { return Ask(std::string_view(query.Text())); }
  static unsigned CodeOf(const std::string& answer) {
    REQUIRE(answer.size() >= 12);
    CHECK(answer.size() <= 512);
    CHECK(answer.substr(0, 2) == BigEndian(0xbeef, 2));
    CHECK((static_cast<unsigned char>(answer[2]) & 0x82) == 0x80);  // an answer, not cut
    return static_cast<unsigned char>(answer[3]) & 0x0f;
  }
  static unsigned AnswersOf(const std::string& answer) {
    return static_cast<unsigned char>(answer[7]);
  }
};

constexpr unsigned NoError = 0;
constexpr unsigned FormErr = 1;
constexpr unsigned ServFail = 2;
constexpr unsigned NxDomain = 3;
constexpr unsigned NotImp = 4;
constexpr unsigned Refused = 5;

TEST_CASE_METHOD(Fixture,
                 "a valid name has an address, whatever its case, and its root dot aside") {
  const std::string answer = Ask(Query{});
  CHECK(CodeOf(answer) == NoError);
  REQUIRE(AnswersOf(answer) == 1);
  CHECK(answer.substr(answer.size() - 4) == std::string("\xc6\x12\0\0", 4));
  Query upper;
  upper.name = Wire("FILES.Example");
  const std::string same = Ask(upper);
  CHECK(same.substr(same.size() - 4) == answer.substr(answer.size() - 4));
  CHECK(same.find("FILES") != std::string::npos);  // the question as it was asked
  CHECK(names.All() == std::vector<std::string>{"files.example"});
}

TEST_CASE_METHOD(Fixture, "other types have no data, and take no address") {
  for (const unsigned type : {28u, 5u, 6u, 12u, 15u, 16u, 33u, 43u, 64u, 65u, 257u, 65535u}) {
    Query query;
    query.type = type;
    const std::string answer = Ask(query);
    CHECK(CodeOf(answer) == NoError);
    CHECK(AnswersOf(answer) == 0);
  }
  CHECK(names.All().empty());
  Query any;
  any.type = 255;
  CHECK(AnswersOf(Ask(any)) == 1);
}

TEST_CASE_METHOD(Fixture, "transfers, other opcodes and other classes have their own answers") {
  for (const unsigned type : {251u, 252u, 253u, 254u}) {
    Query query;
    query.type = type;
    CHECK(CodeOf(Ask(query)) == NotImp);
  }
  for (const unsigned opcode : {1u, 2u, 4u, 5u, 15u}) {
    Query query;
    query.flags = 0x0100 | opcode << 11;
    CHECK(CodeOf(Ask(query)) == NotImp);
  }
  for (const unsigned class_of : {0u, 3u, 4u, 254u, 255u}) {
    Query query;
    query.class_of = class_of;
    CHECK(CodeOf(Ask(query)) == Refused);
  }
  CHECK(names.All().empty());
}

TEST_CASE_METHOD(Fixture, "what is no host name does not exist") {
  for (const std::string& name :
       {std::string(1, '\0'), Wire("10.0.0.1"), Wire("0x7f.1"), Wire("2130706433"),
        Wire("a b.example"), WithLength(1, "a.b") + Wire("example"),
        WithLength(1, std::string("a\0b", 3)) + Wire("example"), Wire("\xe3\x80\x82.example")}) {
    Query query;
    query.name = name;
    CHECK(CodeOf(Ask(query)) == NxDomain);
  }
  CHECK(names.All().empty());
}

TEST_CASE_METHOD(Fixture, "what is malformed is called so") {
  const auto is_malformed = [&](Query query) {
    CHECK(CodeOf(Ask(query)) == FormErr);
    CHECK(names.All().empty());
  };
  Query query;
  SECTION("no question") { query.questions = 0; }
  SECTION("two questions") {
    query.questions = 2;
    query.rest = Query{}.name + BigEndian(1, 2) + BigEndian(1, 2);
  }
  SECTION("an answer within a question") { query.answers = 1; }
  SECTION("a cut question") { query.flags |= 0x0200; }
  SECTION("a pointer to itself") { query.name = "\xc0\x0c"; }
  SECTION("a pointer to the header") { query.name = WithLength(1, "a") + std::string("\xc0\0", 2); }
  SECTION("a pointer beyond the end") { query.name = "\xff\xff"; }
  SECTION("a label of 64 bytes") { query.name = Wire(std::string(64, 'a') + ".example"); }
  SECTION("a name of 256 bytes") {
    const std::string label = std::string(63, 'a');
    query.name = Wire(label + "." + label + "." + label + "." + std::string(62, 'b'));
  }
  SECTION("bytes behind the end") { query.rest = "x"; }
  SECTION("an additional record that is not there") { query.additional = 1; }
  SECTION("two additional records") {
    query.additional = 2;
    query.rest = Edns() + Edns();
  }
  SECTION("an additional record that is not EDNS") {
    query.additional = 1;
    query.rest = Edns();
    query.rest[2] = 1;
  }
  SECTION("more than any question has") { query.rest = std::string(DnsQueryBytesMax, 'x'); }
  is_malformed(query);
}

TEST_CASE_METHOD(Fixture, "the longest name that there is has an address") {
  const std::string label = std::string(63, 'a');
  Query query;
  query.name = Wire(label + "." + label + "." + label + "." + std::string(61, 'b'));
  CHECK(AnswersOf(Ask(query)) == 1);
}

TEST_CASE_METHOD(Fixture, "EDNS is answered in version 0, and no other") {
  Query query;
  query.additional = 1;
  query.rest = Edns();
  const std::string answer = Ask(query);
  CHECK(CodeOf(answer) == NoError);
  CHECK(AnswersOf(answer) == 1);
  CHECK(answer[11] == 1);
  query.rest = Edns(1);
  const std::string refused = Ask(query);
  CHECK(CodeOf(refused) == 0);  // the lower bits of BADVERS
  CHECK(refused[refused.size() - 6] == 1);
  CHECK(AnswersOf(refused) == 0);
}

TEST_CASE_METHOD(Fixture, "less than a header, and what is itself an answer, has no answer") {
  CHECK(Ask(std::string_view("short")).empty());
  CHECK(Ask(std::string_view()).empty());
  Query query;
  query.flags = 0x8180;
  CHECK(Ask(query).empty());
}

TEST_CASE_METHOD(Fixture, "a question that is cut at any byte is malformed") {
  const std::string whole = Query{}.Text();
  for (std::size_t size = 12; size < whole.size(); ++size) {
    CHECK(CodeOf(Ask(std::string_view(whole).substr(0, size))) == FormErr);
  }
}

TEST_CASE_METHOD(Fixture, "when every address has its name the server says that it failed") {
  for (std::size_t n = 0; n < Names::Max; ++n) names.AddressOf("n" + std::to_string(n));
  CHECK(CodeOf(Ask(Query{})) == ServFail);
}

}  // namespace
}  // namespace curfew::egress
