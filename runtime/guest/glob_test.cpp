#include "runtime/guest/glob.h"

#include <string>

#include <catch2/catch.hpp>

namespace curfew::guest {
namespace {

TEST_CASE("a star stays within its segment, two are any number of segments") {
  struct Case {
    const char* pattern;
    const char* path;
    bool matches;
  };
  for (const Case& c : {Case{"/work/out/**", "/work/out/a", true},
                        Case{"/work/out/**", "/work/out/a/b/c", true},
                        Case{"/work/out/**", "/work/out", true},
                        Case{"/work/out/**", "/work/outer/a", false},
                        Case{"/work/out/**", "/work", false},
                        Case{"/work/*.txt", "/work/a.txt", true},
                        Case{"/work/*.txt", "/work/.txt", true},
                        Case{"/work/*.txt", "/work/a/b.txt", false},
                        Case{"/work/*", "/work/", false},
                        Case{"/work/*", "/work/.hidden", true},
                        Case{"/work/**/log", "/work/log", true},
                        Case{"/work/**/log", "/work/a/b/log", true},
                        Case{"/work/**/log", "/work/a/b/log/x", false},
                        Case{"/**/a/**/b", "/a/x/a/y/b", true},
                        Case{"/**/a/**/b", "/b/a", false},
                        Case{"/work/a*b*c", "/work/aXbXbXc", true},
                        Case{"/work/a*b*c", "/work/aXcX", false},
                        Case{"/work/\\*", "/work/*", true},
                        Case{"/work/\\*", "/work/x", false},
                        Case{"/work", "/work", true},
                        Case{"work", "/work", false},
                        Case{"", "", false}}) {
    INFO(c.pattern << " on " << c.path);
    CHECK(MatchesGlob(c.pattern, c.path) == c.matches);
  }
}

TEST_CASE("many stars take no more than their product of lengths") {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "/**/a*a";
  CHECK_FALSE(MatchesGlob(pattern + "/b", std::string(2000, '/') + std::string(2000, 'a')));
}

TEST_CASE("the folder above a pattern has no star") {
  CHECK(FolderOfGlob("/work/out/**") == "/work/out");
  CHECK(FolderOfGlob("/work/out/a*") == "/work/out");
  CHECK(FolderOfGlob("/work/out/file") == "/work/out");
  CHECK(FolderOfGlob("/**") == "/");
  CHECK(FolderOfGlob("/a") == "/");
}

}  // namespace
}  // namespace curfew::guest
