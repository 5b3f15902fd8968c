#include "compiler/prove/check_nevers.h"

#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/parse.h"

#include <catch2/catch.hpp>

namespace curfew::prove {
namespace {

using Catch::Matchers::Contains;

// A set, its decision code, and what was reported.
struct Set {
  source::SourceMap sources;
  model::PolicyModel model;
  Bytes module;
  diagnostics::Sink sink;

  explicit Set(const std::string& rules) {
    sources.Add({"set.curfew", R"(image i { digest sha256:)" + std::string(64, 'a') + R"( }
sandbox base {
  image    { allow i }
  lifetime { ttl 1h }
  network  {
    tls inspect
    docs: allow GET "https://docs.example/**"
  }
}
)" + rules});
    diagnostics::Sink checked;
    const auto trees = syntax::ParseAll(sources, checked);
    model = check::Check(trees, sources, checked);
    INFO(RenderText(checked, sources));
    REQUIRE_FALSE(checked.has_errors());
    const auto code = lower::Lower(model, sources);
    REQUIRE(code);
    module = ir::Encode(*code);
  }
  [[nodiscard]] module::PolicyModule Policy() const {
    auto policy = module::PolicyModule::Load(module, 0);
    REQUIRE(policy);
    return *std::move(policy);
  }
  [[nodiscard]] module::RuleIndex Rule(std::string_view id) const {
    const auto rule = Policy().FindRule(id);
    REQUIRE(rule);
    return *rule;
  }
  std::string Said(const Answer& answer) {
    ReportAnswers(model, module, std::span(&answer, 1), sink);
    return RenderText(sink, sources);
  }
};

constexpr char kNever[] = R"(docs: never egress when egress.host == "docs.example")";

std::string Egress(std::string_view host, std::string_view method) {
  return R"({"version": 1, "action": "egress", "now": "2026-11-29T00:00:00Z",
    "caller": {"id": "user:ana", "kind": "human", "groups": [], "operator": false},
    "sandbox": {"id": "s", "class": "base", "age": "1m", "idle": "0s", "ttl_left": "59m",
      "image": "sha256:)" +
         std::string(64, 'a') + R"(", "isolation": "kvm", "creator": "user:ana"},
    "egress": {"scheme": "https", "host": ")" +
         std::string(host) +
         R"(", "ip": "203.0.114.7", "port": 443, "path": "/a", "bytes": "1B", "requests": 1, "total": "1B",
      "method": ")" +
         std::string(method) + R"("}})";
}

TEST_CASE("a never is known by its mark, and denies like a deny") {
  const Set set(kNever);
  CHECK(NeversOf(set.Policy()) == std::vector{set.Rule("set.docs")});
  CHECK(NeversOf(Set("").Policy()).empty());
}

TEST_CASE("without a prover nothing is proven") {
  Set set(kNever);
  CheckNevers(set.model, set.module, "/nowhere/libcurfew_prove.so", set.sink);
  const std::string said = RenderText(set.sink, set.sources);
  CHECK(set.sink.error_count() == 1);
  CHECK_THAT(said, Contains("[CUR6503]") && Contains("/nowhere/libcurfew_prove.so"));
  // And a set without a never asks nobody.
  Set plain("");
  CheckNevers(plain.model, plain.module, "/nowhere/libcurfew_prove.so", plain.sink);
  CHECK(plain.sink.diagnostics().empty());
}

TEST_CASE("a library that is no prover proves nothing") {
  Set set(kNever);
  CheckNevers(set.model, set.module, "libc.so.6", set.sink);
  CHECK_THAT(RenderText(set.sink, set.sources), Contains("another version of Curfew"));
}

TEST_CASE("what is proven says nothing, and what is not is an error") {
  Set set(kNever);
  const module::RuleIndex never = set.Rule("set.docs");
  CHECK(set.Said({.never = never, .outcome = Outcome::Proven, .text = "", .allows = {}}).empty());
  const std::string said = set.Said({.never = never,
                                     .outcome = Outcome::Undecided,
                                     .text = "a pattern with two stars",
                                     .allows = {}});
  CHECK_THAT(said, Contains("[CUR6502]") && Contains("a pattern with two stars") &&
                       Contains("set.curfew:10:1"));
}

TEST_CASE("a counterexample is told by its facts and by what allows it") {
  Set set(kNever);
  const std::string said = set.Said({.never = set.Rule("set.docs"),
                                     .outcome = Outcome::Refuted,
                                     .text = Egress("docs.example", "GET"),
                                     .allows = {set.Rule("base.network.docs")}});
  INFO(said);
  CHECK_THAT(said, Contains("[CUR6501]") && Contains("egress in class `base`") &&
                       Contains("egress.host is \"docs.example\"") &&
                       Contains("egress.method is \"GET\"") &&
                       Contains("`base.network.docs` allows it"));
}

TEST_CASE("a counterexample that shows nothing is no counterexample") {
  const auto said = [](const std::string& request) {
    Set set(kNever);
    return set.Said({.never = set.Rule("set.docs"),
                     .outcome = Outcome::Refuted,
                     .text = request,
                     .allows = {}});
  };
  CHECK_THAT(said(Egress("docs.example", "POST")), Contains("[CUR6502]"));
  CHECK_THAT(said(Egress("else.example", "GET")), Contains("[CUR6502]"));
  CHECK_THAT(said("{}"), Contains("[CUR6502]"));
  CHECK_THAT(said("no request"), Contains("[CUR6502]"));
}

}  // namespace
}  // namespace curfew::prove
