#include "compiler/tool/line_diff.h"

#include <catch2/catch.hpp>

namespace curfew::tool {
namespace {

TEST_CASE("equal texts have no difference") { CHECK(UnifiedDiff("f", "a\n", "a\n").empty()); }

TEST_CASE("a change stands within three lines of what is around it") {
  CHECK(UnifiedDiff("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n") ==
        "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST_CASE("changes that are far from each other have a hunk each") {
  std::string before;
  for (int i = 0; i < 30; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("3\n"), 2, "x\n");
  after.replace(after.find("25\n"), 3, "");
  CHECK(UnifiedDiff("f", before, after) ==
        "--- f\n+++ f\n@@ -1,7 +1,7 @@\n 0\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n"
        "@@ -23,7 +23,6 @@\n 22\n 23\n 24\n-25\n 26\n 27\n 28\n");
}

TEST_CASE("a missing end of the last line is a difference, and an empty text is a text") {
  CHECK(UnifiedDiff("f", "a", "a\n") ==
        "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
  CHECK(UnifiedDiff("f", "", "a\n") == "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
  CHECK(UnifiedDiff("f", "a\n", "") == "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n");
}

}  // namespace
}  // namespace curfew::tool
