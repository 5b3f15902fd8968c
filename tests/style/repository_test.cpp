// The rules over this very tree.
#include "tests/style/house_rules.h"
#include "tests/style/include_rules.h"
#include "tests/style/name_rules.h"
#include "tests/style/text_rules.h"

#include <catch2/catch.hpp>

using namespace curfew::style;

namespace {

struct Rule {
  const char* name;
  Findings (*check)(const Tree&);
};

constexpr Rule Rules[] = {
    {"layers", CheckLayers},
    {"includes follow layers", CheckIncludesFollowLayers},
    {"rooms are built", CheckRoomsAreBuilt},
    {"confined headers", CheckConfinedHeaders},
    {"include form", CheckIncludeForm},
    {"file names", CheckFileNames},
    {"banned words", CheckBannedWords},
    {"macros", CheckMacros},
    {"whitespace", CheckWhitespace},
    {"nothing is left open", CheckNothingIsLeftOpen},
    {"no machine", CheckNoMachine},
    {"tests can fail", CheckTestsCanFail},
    {"headers import nothing", CheckHeadersImportNothing},
    {"top level", CheckTopLevel},
    {"languages", CheckLanguages},
    {"links", CheckLinks},
    {"promises", CheckPromises},
    {"examples and policies", CheckExamplesAndPolicies},
};

}  // namespace

TEST_CASE("the tree follows every rule of style") {
  const Tree tree = ReadTree(CURFEW_SOURCE_TREE);
  REQUIRE(tree.files.size() > 50);
  REQUIRE(tree.has("tests/style/repository_test.cpp"));
  for (const Rule& rule : Rules) {
    const Findings findings = rule.check(tree);
    INFO("rule: " << rule.name << "\n" << Print(findings));
    CHECK(findings.empty());
  }
}
