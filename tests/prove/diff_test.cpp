// Two sets: which way a change goes, and the request that shows it.
#include "compiler/inspect/plan_changes.h"
#include "compiler/module/capability.h"
#include "compiler/module/request_json.h"
#include "compiler/prove/diff_sets.h"
#include "tests/properties/compiled_set.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::prove {
namespace {

constexpr std::string_view kClass = R"(language 1
package tests.diff
attributes task {{ ticket: string? }}
image box {{ digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }}
sandbox work when task.kind == "work" {{
  image {{ allow box  exec "/usr/bin/**" {1} }}
  filesystem {{ scratch "/work" 1GiB  export "/work/out/**" at most 200MiB }}
  network {{
    tls inspect
    read: allow GET "https://a.example/docs/**", "http://b.example/**"
    {2}
  }}
  lifetime {{ {3} }}
}}
{4}
)";

struct Parts {
  std::string_view image = {};
  std::string_view network = {};
  std::string_view lifetime = "ttl 2h";
  std::string_view rules = {};
};

std::unique_ptr<properties::Compiled> Compile(const Parts& parts) {
  const std::string text =
      fmt::format(kClass, "", parts.image, parts.network, parts.lifetime, parts.rules);
  diagnostics::Sink sink;
  auto set = properties::CompileSet({text}, sink);
  for (const auto& diagnostic : sink.diagnostics()) UNSCOPED_INFO(diagnostic.message);
  INFO(text);
  REQUIRE(set != nullptr);
  return set;
}

bool Allows(const properties::Compiled& set, const std::string& request) {
  auto decoding =
      module::DecodeRequestText(request, set.engine->module().declared(), module::StatedBy::Author);
  if (!decoding || !*decoding) return false;
  std::vector<module::Value> all;
  for (const std::string_view word : module::capability::All) {
    all.push_back(module::Value::OfText(word));
  }
  decoding->decoded->request.Set(schema::slot::HostCapabilities, module::Value::OfItems(all));
  return set.Decide(decoding->decoded->request).allow;
}

struct Case {
  Parts before;
  Parts after;
  std::string_view tightens;  // "egress work", …, in order
  std::string_view relaxes;
  std::string_view plans = {};  // "work to other, ttl 1h -> 2h", …
};

void Check(const Case& c) {
  const auto before = Compile(c.before);
  const auto after = Compile(c.after);
  INFO(fmt::format("{}|{}|{}|{} becomes {}|{}|{}|{}", c.before.image, c.before.network,
                   c.before.lifetime, c.before.rules, c.after.image, c.after.network,
                   c.after.lifetime, c.after.rules));
  Solver solver;
  const SetDifference difference = Diff(*before->engine, *after->engine, solver, DiffStepsMax);
  std::string tightens;
  std::string relaxes;
  std::string plans;
  const auto take = [&](const Difference& one, const Direction& direction, std::string& into,
                        const properties::Compiled& allows, const properties::Compiled& denies) {
    INFO(direction.why);
    CHECK(direction.differs != Differs::Undecided);
    if (direction.differs != Differs::Yes) return;
    INFO(direction.request);
    CHECK(Allows(allows, direction.request));
    CHECK_FALSE(Allows(denies, direction.other));
    into += fmt::format("{}{} {}", into.empty() ? "" : ", ", WordOf(one.action), one.class_name);
  };
  for (const Difference& one : difference.actions) {
    take(one, one.tightens, tightens, *before, *after);
    take(one, one.relaxes, relaxes, *after, *before);
  }
  for (const PlanDifference& plan : difference.plans) {
    plans += fmt::format("{}{}{}", plans.empty() ? "" : ", ", plan.class_name,
                         plan.class_name == plan.now_class ? "" : " to " + plan.now_class);
    const module::PolicyModule& old = before->engine->module();
    const module::PolicyModule& now = after->engine->module();
    for (const inspect::PlanChange& change : inspect::ChangesBetween(
             old.plan(*old.FindClass(plan.class_name)), now.plan(*now.FindClass(plan.now_class)))) {
      plans += fmt::format(", {} {} -> {}", change.what, change.before, change.after);
    }
    INFO(plan.example.why);
    CHECK(plan.example.differs == Differs::Yes);
    CHECK(Allows(*before, plan.example.request));
    CHECK(Allows(*after, plan.example.other));
  }
  CHECK(tightens == c.tightens);
  CHECK(relaxes == c.relaxes);
  CHECK(plans == c.plans);
}

TEST_CASE("which way a change goes") {
  const Case cases[] = {
      {{}, {}, "", ""},
      {{}, {.network = R"(more: allow GET "https://c.example/**")"}, "", "egress work"},
      {{.network = R"(more: allow GET "https://c.example/**")"}, {}, "egress work", ""},
      {{}, {.network = R"(deny any "https://a.example/docs/secret/**")"}, "egress work", ""},
      // What an allow already covers, and a deny of what nobody allows.
      {{}, {.network = R"(more: allow GET "https://a.example/docs/old/**")"}, "", ""},
      {{}, {.network = R"(deny any "https://z.example/**")"}, "", ""},
      {{.network = R"(more: allow GET "https://c.example/a/**")"},
       {.network = R"(more: allow GET "https://c.example/b/**")"},
       "egress work",
       "egress work"},
      {{.network = R"(more: allow GET "https://c.example/**")"},
       {.network = R"(more: allow GET "https://c.example/a/**", "https://c.example/**")"},
       "",
       ""},
      {{}, {.rules = R"(deny exec when exec.user == "root")"}, "exec work", ""},
      {{.rules = R"(deny exec when exec.user == "root")"},
       {.rules = R"(deny exec when exec.user != "agent")"},
       "exec work",
       ""},
      {{.rules = R"(deny export when export.size > 1MiB)"},
       {.rules = R"(deny export when export.size > 2MiB)"},
       "",
       "export work"},
      {{.lifetime = "ttl 2h at most 4h"},
       {.lifetime = "ttl 1h at most 4h"},
       "",
       "",
       "work, ttl 2h at most 4h -> 1h at most 4h"},
      {{.lifetime = "ttl 2h at most 4h"},
       {.lifetime = "ttl 2h at most 3h"},
       "create work",
       "",
       "work, ttl 2h at most 4h -> 2h at most 3h"},
      {{.lifetime = "ttl at most 4h"},
       {.lifetime = "ttl 2h at most 4h"},
       "",
       "create work",
       "work, ttl at most 4h -> 2h at most 4h"},
      {{}, {.rules = R"(require create: has task.ticket)"}, "create work", ""},
  };
  for (const Case& c : cases) Check(c);
}

TEST_CASE("a class that comes, goes or takes other tasks") {
  const std::string_view more = R"(sandbox other when task.kind == "other" {
  image { allow box }
  lifetime { ttl 1h }
})";
  Check({{}, {.rules = more}, "", "create other"});
  Check({{.rules = more}, {}, "create other", ""});
  const std::string_view written_otherwise = R"(sandbox other when task.kind in ["other"] {
  image { allow box }
  lifetime { ttl 1h }
})";
  Check({{.rules = more}, {.rules = written_otherwise}, "", ""});
  const std::string_view wider = R"(sandbox other when task.kind in ["other", "more"] {
  image { allow box }
  lifetime { ttl 1h }
})";
  Check({{.rules = more}, {.rules = wider}, "", "create other"});
  Check({{.rules = wider}, {.rules = more}, "create other", ""});
  const std::string_view elsewhere = R"(sandbox other when task.kind == "more" {
  image { allow box }
  lifetime { ttl 1h }
})";
  Check({{.rules = more}, {.rules = elsewhere}, "create other", "create other"});
  // A class beside the first one: who gives a ticket has two.
  const std::string_view beside = R"(sandbox other when has task.ticket {
  image { allow box }
  lifetime { ttl 1h }
})";
  Check({{}, {.rules = beside}, "create work", "create other"});
}

// What is gone lets its owner look, and this class did not.
TEST_CASE("a class that goes may have denied more than its absence does") {
  const std::string_view silent = R"(sandbox other when task.kind == "other" {
  image { allow box }
  lifetime { ttl 1h }
  deny observe
})";
  Check({{.rules = silent}, {}, "create other", "observe other"});
}

TEST_CASE("a class that narrows another one comes between") {
  const std::string_view same = R"(sandbox later narrows work when task.team == "pay" { })";
  // Only who names its class is told no: it has another name.
  Check({{},
         {.rules = same},
         "create work",
         "create later, exec later, egress later, export later",
         "work to later"});
  const std::string_view shorter = R"(sandbox later narrows work when task.team == "pay" {
  lifetime { ttl 1h }
})";
  Check({{.rules = same}, {.rules = shorter}, "create later", "", "later, ttl 2h -> 1h"});
  const std::string_view wider = R"(sandbox later narrows work when task.team in ["pay", "bank"] {
  lifetime { ttl 1h }
})";
  // The bank's tasks get less, and those of them that ask for the new class by name get it.
  Check({{.rules = shorter},
         {.rules = wider},
         "create work",
         "create later",
         "work to later, ttl 2h -> 1h"});
  Check({{.rules = wider},
         {.rules = shorter},
         "create later",
         "create work",
         "later to work, ttl 1h -> 2h"});
  const std::string_view by_name = R"(sandbox later narrows work by name { lifetime { ttl 1h } })";
  Check({{}, {.rules = by_name}, "", "create later, exec later, egress later, export later"});
}

// Ten classes in a tree: the teams of each are among those of the one that it narrows.
std::string TenClasses(std::string_view teams_of_c5, std::string_view ttl_of_c8) {
  std::vector<std::string> teams{"t"};
  std::string text;
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t parent = i == 0 ? 0 : (i - 1) / 2;
    if (i > 0) teams.push_back(teams[parent] + (i % 2 == 1 ? "a" : "b"));
    text += fmt::format("sandbox c{} narrows {} when task.team matches \"{}*\" {{\n", i,
                        i == 0 ? "work" : fmt::format("c{}", parent),
                        i == 5 ? teams_of_c5 : std::string_view(teams[i]));
    text += fmt::format("  lifetime {{ ttl {} }}\n}}\n", i == 8 ? ttl_of_c8 : "1h");
  }
  return text;
}

TEST_CASE("ten classes with narrowing are decided") {
  const std::string ten = TenClasses("tba", "1h");
  const std::string shorter = TenClasses("tba", "30m");
  const std::string narrower = TenClasses("tbax", "1h");
  Check({{.rules = ten}, {.rules = ten}, "", ""});
  Check({{.rules = ten}, {.rules = shorter}, "create c8", "", "c8, ttl 1h -> 30m"});
  Check({{.rules = shorter}, {.rules = ten}, "", "create c8", "c8, ttl 30m -> 1h"});
  // Who names a class gets no other one.
  Check({{.rules = ten}, {.rules = narrower}, "create c5", "create c2", "c5 to c2"});
}

}  // namespace
}  // namespace curfew::prove
