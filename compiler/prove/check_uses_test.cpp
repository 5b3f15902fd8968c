#include "compiler/prove/check_uses.h"

#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/prove/prover.h"
#include "compiler/syntax/parse.h"

#include <catch2/catch.hpp>

namespace curfew::prove {
namespace {

using Catch::Matchers::Contains;

// What is said of a class with this network, and of a set with these rules.
std::string Said(const std::string& network, const std::string& rules = "",
                 const std::string& library = LibraryBesideProgram(), UseBudget budget = {}) {
  source::SourceMap sources;
  sources.Add({"set.curfew", R"(image i { digest sha256:)" + std::string(64, 'a') + R"( }
sandbox base {
  image    { allow i  exec any }
  lifetime { ttl 1h }
  network  {
    tls inspect
)" + network + "\n  }\n}\n" + rules});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const auto model = check::Check(trees, sources, sink);
  INFO(RenderText(sink, sources));
  REQUIRE_FALSE(sink.has_errors());
  const auto code = lower::Lower(model, sources);
  REQUIRE(code);
  diagnostics::Sink said;
  CheckUses(model, ir::Encode(*code), library, said, budget);
  return RenderText(said, sources);
}

constexpr char kDocs[] = R"(docs: allow GET "https://docs.example/**")";

TEST_CASE("rules that change an answer are not spoken of") {
  CHECK(Said(kDocs).empty());
  CHECK(Said(std::string(kDocs) + "\n" + R"(secret: deny any "https://docs.example/secret/**")")
            .empty());
  CHECK(
      Said(std::string(kDocs) + "\n" + R"(late: allow GET "https://**.docs.example/**")").empty());
  // An allow that meets others in part.
  CHECK(Said(R"(a: allow GET "https://docs.example/a*"
b: allow GET "https://docs.example/*b")")
            .empty());
}

TEST_CASE("what several denies hold back together needs no further one") {
  const std::string text = Said(std::string(kDocs) + R"(
a: deny any "https://docs.example/**" when sandbox.age > 30m
b: deny any "https://docs.example/**" when sandbox.age < 10m
c: deny any "https://docs.example/x" when sandbox.age > 40m or sandbox.age < 5m)");
  CHECK_THAT(text, Contains("c: deny") && Contains("CUR9417"));
  CHECK_THAT(text, !Contains("a: deny") && !Contains("b: deny"));
}

TEST_CASE("of two rules that cover each other the first stays") {
  const std::string text =
      Said(R"(first:  allow GET "https://docs.example/a", "https://docs.example/b"
second: allow GET "https://docs.example/b", "https://docs.example/a")");
  CHECK_THAT(text, Contains("second: allow") && Contains("CUR9419") && !Contains("first:  allow"));
}

TEST_CASE("an allow that denies cover together opens nothing") {
  const std::string text = Said(std::string(kDocs) + R"(
a: deny any "https://docs.example/**" when sandbox.age >= 30m
b: deny any "https://docs.example/**" when sandbox.age <= 30m)");
  CHECK_THAT(text, Contains("docs: allow") && Contains("CUR9418"));
}

TEST_CASE("an allow that grants more than an answer is not covered") {
  CHECK(Said(R"(a: allow GET "http://docs.example/**" when sandbox.age > 1m or sandbox.age <= 1m
b: allow GET "http://docs.example/x" at "10.0.0.0/8")")
            .empty());
}

TEST_CASE("a floor of the whole set may change nothing yet") {
  CHECK(Said(kDocs, "floor: deny egress when egress.port == 22\n").empty());
}

TEST_CASE("nothing is said without a proof") {
  const std::string two = std::string(kDocs) + R"(
a: deny any "https://docs.example/**" when sandbox.age > 30m
b: deny any "https://docs.example/**" when sandbox.age < 10m
c: deny any "https://docs.example/x" when sandbox.age > 40m or sandbox.age < 5m)";
  CHECK_THAT(Said(two), Contains("CUR9417"));
  CHECK(Said(two, "", LibraryBesideProgram(), {.each = 1, .all = 1}).empty());
  const std::string text = Said(two, "", "/nowhere/libcurfew_prove.so");
  CHECK_THAT(text, Contains("not looked for by proof: no prover") && Contains("CUR9008"));
}

}  // namespace
}  // namespace curfew::prove
