#include "compiler/inspect/plan_changes.h"

#include <catch2/catch.hpp>

namespace curfew::inspect {
namespace {

TEST_CASE("plans that differ by their class only do not differ") {
  module::PlanTemplate one;
  one.class_name = "work";
  module::PlanTemplate other;
  other.class_name = "later";
  CHECK(ChangesBetween(one, other).empty());
}

TEST_CASE("each difference is told with both values, and of several values what is not in both") {
  module::PlanTemplate before;
  before.ttl_ms = {7'200'000, 14'400'000};
  before.exports = {{{"/work/out/**"}, false, 1024}, {{"/work/log"}, false, 1024}};
  before.env = {"LANG"};
  module::PlanTemplate after = before;
  after.ttl_ms.standard = 3'600'000;
  after.exports[1].each = true;
  after.env.clear();
  after.network = true;
  after.opens_websockets = true;
  const std::vector<PlanChange> expected = {
      {"env", "LANG", "none"},
      {"export", "/work/log at most 1KiB", "/work/log each at most 1KiB"},
      {"network", "none", "tls names, websocket"},
      {"ttl", "2h at most 4h", "1h at most 4h"}};
  const std::vector<PlanChange> changes = ChangesBetween(before, after);
  REQUIRE(changes.size() == expected.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO(changes[i].what << ": " << changes[i].before << " becomes " << changes[i].after);
    CHECK(changes[i] == expected[i]);
  }
}

TEST_CASE("what a secret does is part of the plan") {
  module::PlanTemplate before;
  before.secrets = {{"key", false, "KEY", module::SecretForm::Bearer, {}, {{"a.example", 443}}}};
  module::PlanTemplate after = before;
  after.secrets[0].hosts[0].name = "b.example";
  const auto changes = ChangesBetween(before, after);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].before == "key from env KEY as bearer to a.example:443");
  CHECK(changes[0].after == "key from env KEY as bearer to b.example:443");
}

}  // namespace
}  // namespace curfew::inspect
