#include "compiler/base/json.h"

#include "compiler/base/limits.h"

#include <catch2/catch.hpp>

namespace curfew {
namespace {

std::string Refusal(std::string_view text) {
  const Result<JsonValue> parsed = ParseJson(text);
  return parsed ? "accepted" : parsed.error().message;
}

TEST_CASE("a document keeps its order and its exact numbers") {
  const Result<JsonValue> parsed =
      ParseJson(R"({"b": [1, -2, 9223372036854775807], "a": {"x": "\u00e9", "y": null}})");
  REQUIRE(parsed);
  CHECK(parsed->members[0].name == "b");
  CHECK(parsed->Find("b")->items[2].integer == INT64_MAX);
  CHECK(parsed->Find("a")->Find("x")->text == "\xC3\xA9");
  CHECK(parsed->Find("a")->Find("y")->is(JsonValue::Kind::Null));
  CHECK(parsed->Find("c") == nullptr);
}

TEST_CASE("a number that is not a 64-bit integer is no integer") {
  for (const char* text : {"1.0", "1e3", "9223372036854775808", "-9223372036854775809",
                           "123456789012345678901234567890"}) {
    const Result<JsonValue> parsed = ParseJson(text);
    REQUIRE(parsed);
    CHECK(parsed->is(JsonValue::Kind::Number));
    CHECK(parsed->text == text);
  }
}

TEST_CASE("a doubled member is refused at its place") {
  CHECK(Refusal(R"({"a": [{}, {"k": 1, "k": 1}]})") == "the member `/a/1/k` stands twice");
  CHECK(Refusal(R"({"k": 1, "\u006b": 2})") == "the member `/k` stands twice");
}

TEST_CASE("what is not JSON is refused with its place") {
  CHECK(Refusal("").starts_with("not JSON at line 1, column 1"));
  CHECK(Refusal("{}\n{}").starts_with("not JSON at line 2, column 1"));
  for (const char* text : {"{", "[1,]", "{'a':1}", "nul", "NaN", "01", "\"\\ud800\"", "\"\xFF\"",
                           "\"\xC0\x80\"", "// x\n1", "\"a\nb\"", "\xEF\xBB\xBF{}"}) {
    INFO(text);
    CHECK(Refusal(text).starts_with("not JSON at line"));
  }
  CHECK(Refusal(std::string_view("{}\0x", 4)) == "not JSON at byte 3: a NUL");
}

TEST_CASE("depth and size are bounded") {
  CHECK(ParseJson(std::string(limits::JsonDepthMax, '[') + std::string(limits::JsonDepthMax, ']')));
  const std::string deep(100'000, '[');
  CHECK(ParseJson(deep).error().code == FailureCode::TooLarge);
  const std::string large(limits::JsonBytesMax + 1, ' ');
  CHECK(ParseJson(large).error().code == FailureCode::TooLarge);
}

TEST_CASE("pointers escape, strings are quoted") {
  CHECK(PointerTo(PointerTo("", "a/b~c"), std::size_t{3}) == "/a~1b~0c/3");
  CHECK(JsonQuoted("a\"\n\xFF") == "\"a\\\"\\n\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace curfew
