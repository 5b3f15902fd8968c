#include "compiler/tool/fix_set.h"

#include <string>

#include <catch2/catch.hpp>

namespace curfew::tool {
namespace {

FixedSet Fixed(const std::string& text) {
  source::SourceMap sources;
  sources.Add({"p.curfew", text});
  auto fixed = FixSet(sources, {});
  REQUIRE(fixed.has_value());
  return *std::move(fixed);
}

// A set whose one deny is `when`, beside `attributes`.
std::string WithDeny(const std::string& attributes, const std::string& when) {
  return "language 1\n" + attributes + "\nold: deny resume when " + when +
         "\n  because \"the image is newer\"\n";
}

constexpr const char* kDeclared = "attributes task { ticket: string?  risk: low < medium < high }";

TEST_CASE("fix: a misspelt name is mended where one name alone is near") {
  CHECK(Fixed(WithDeny(kDeclared, "task.rsik == high")).texts[0] ==
        WithDeny(kDeclared, "task.risk == high"));
  CHECK(Fixed(WithDeny("attributes tsk { risk: low < high }", "task.risk == high")).texts[0] ==
        WithDeny("attributes task { risk: low < high }", "task.risk == high"));
  CHECK(Fixed(WithDeny(kDeclared, "not has task.tikcet")).texts[0] ==
        WithDeny(kDeclared, "not has task.ticket"));
}

TEST_CASE("fix: a rule keeps the fact that it reads, however short another one's name is") {
  for (const char* when :
       {"task.risk == high", "task.tier == high", "sandbox.ttl > 1h", "snapshot.name == \"x\"",
        "caller.ip == \"user:a\"", "task.kid == \"coding\""}) {
    INFO(when);
    const FixedSet fixed = Fixed(WithDeny("", when));
    CHECK(fixed.texts[0] == WithDeny("", when));
    CHECK_FALSE(fixed.made.is_valid());
  }
}

TEST_CASE("fix: no guess is made on top of another") {
  // The type is none that can be guessed, so nothing is known of the attribute.
  const std::string type = "attributes task { risk: lowmediumhigh }";
  CHECK(Fixed(WithDeny(type, "task.risk == high")).texts[0] == WithDeny(type, "task.risk == high"));

  // Once the name is mended, `coding` is a word where text is wanted: that is for the author.
  const FixedSet fixed = Fixed(WithDeny("", "task.kidn == coding"));
  CHECK(fixed.texts[0] == WithDeny("", "task.kind == coding"));
  CHECK(fixed.made.diagnostics.error_count() == 1);
  CHECK(fixed.done.size() == 1);
}

}  // namespace
}  // namespace curfew::tool
