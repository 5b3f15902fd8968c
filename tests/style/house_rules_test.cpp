#include "tests/style/house_rules.h"

#include <catch2/catch.hpp>

using namespace curfew::style;

TEST_CASE("top level: the house and dotfiles, nothing else") {
  CHECK(CheckTopLevel(Tree{{{"compiler/a.h", ""}, {".clang-tidy", ""}, {"LICENSE", ""}}}).empty());
  CHECK(CheckTopLevel(Tree{{{"scripts/a", ""}, {"scripts/b", ""}, {"Makefile", ""}}}).size() == 2);
}

TEST_CASE("another language stands where its users live") {
  CHECK(CheckLanguages(Tree{{{"compiler/a.cpp", ""},
                             {"examples/01-a/go/ask.go", ""},
                             {"tests/bench/peers/rust/src/main.rs", ""}}})
            .empty());
  CHECK(
      CheckLanguages(Tree{{{"compiler/a.rs", ""}, {"tests/b/c.go", ""}, {"d.java", ""}}}).size() ==
      3);
}

TEST_CASE("links lead somewhere") {
  const auto check = [](std::string text) {
    return CheckLinks(Tree{{{"a/README.md", std::move(text)}, {"b/c.h", ""}, {"a/d/e.txt", ""}}});
  };
  CHECK(check("see [c](../b/c.h), [d](d/), [e](d/e.txt#top), [w](https://example.com)\n").empty());
  CHECK(check("see [c](b/c.h)\n").size() == 1);
  CHECK(check("see [up](../../x) and [none](f/)\n").size() == 2);
}

TEST_CASE("promises name a test that exists, or say pending") {
  const auto check = [](std::string row) {
    return CheckPromises(Tree{{{"README.md", "## Promises\n\n| Promise | Test |\n|---|---|\n" +
                                                 row + "\n\n## Next\n| a | b |\n"},
                               {"t/a_test.cpp", "TEST_CASE(\"it holds\")"}}});
  };
  CHECK(check("| It holds. | [a](t/a_test.cpp) `it holds` |").empty());
  CHECK(check("| It will. | pending |").empty());
  CHECK(check("| It holds. | [a](t/a_test.cpp) `it does not` |").size() == 1);
  CHECK(check("| It holds. | [a](t/b_test.cpp) `it holds` |").size() == 1);
  CHECK(check("| It holds. | [a](t/a_test.cpp) |").size() == 1);
  CHECK(check("| It holds. | trust us |").size() == 1);
  CHECK(check("| It holds. |").size() == 1);
  CHECK(check("").size() == 1);
}

TEST_CASE("examples are whole, and shipped policies are tested in the language") {
  Tree tree{{{"examples/01-a/README.md", ""},
             {"examples/01-a/task.json", ""},
             {"examples/01-a/a.curfew", "sandbox a {}\n\ntest \"a\" {}\n"},
             {"policies/x/y.curfew", "sandbox y {}\n\ntest \"y\" {}\n"},
             {"policies/x/part.curfew", "hosts mirrors [\"mirror.example\"]\n"}}};
  CHECK(CheckExamplesAndPolicies(tree).empty());
  tree.files["policies/x/y.curfew"] = "sandbox y {}\n";
  tree.files.erase("examples/01-a/task.json");
  CHECK(CheckExamplesAndPolicies(tree).size() == 2);
}
