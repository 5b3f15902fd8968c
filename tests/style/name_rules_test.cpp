#include "tests/style/name_rules.h"

#include <catch2/catch.hpp>

using namespace curfew::style;

namespace {

Tree One(std::string path, std::string text = {}) {
  return Tree{{{std::move(path), std::move(text)}}};
}

}  // namespace

TEST_CASE("file names are snake_case") {
  CHECK(CheckFileNames(One("runtime/host/linux_clock.cpp")).empty());
  CHECK(CheckFileNames(One("runtime/host/LinuxClock.cpp")).size() == 1);
  CHECK(CheckFileNames(One("runtime/host/linux-clock.h")).size() == 1);
}

TEST_CASE("banned words are found in paths and in names of types, and only as whole words") {
  for (const char* path : {"compiler/util/a.h", "compiler/base/string_helpers.h",
                           "runtime/machine/device_manager.cpp", "tests/common/x.py"}) {
    INFO(path);
    CHECK(CheckBannedWords(One(path)).size() == 1);
  }
  for (const char* line :
       {"class VmManager {", "struct TextUtil;", "enum class CommonKind {",
        "namespace curfew_impl {", "  using AbstractStep = int;", "class IClock {"}) {
    INFO(line);
    CHECK(CheckBannedWords(One("a/b.h", line)).size() == 1);
  }
  for (const char* line : {"class Implication {", "struct UtilisationReading {", "class Ip {",
                           "int common = 1;", "class IOResult {", "struct Community {"}) {
    INFO(line);
    CHECK(CheckBannedWords(One("a/b.h", line)).empty());
  }
}

TEST_CASE("macros begin with CURFEW_") {
  CHECK(CheckMacros(One("a/b.h", "#define CURFEW_CHECK(x) x\n")).empty());
  CHECK(CheckMacros(One("a/b.cpp", "#define CHECK_IT(x) x\n")).size() == 1);
}
