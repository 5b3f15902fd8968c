#include "tests/style/include_rules.h"

#include <catch2/catch.hpp>

using namespace curfew::style;

namespace {

const std::string Layers =
    "# law\ncompiler/base:\ncompiler/check: compiler/base\nruntime/host: compiler/base\n";

Tree With(std::string path, std::string text) {
  return Tree{{{"tests/style/layers.txt", Layers}, {std::move(path), std::move(text)}}};
}

}  // namespace

TEST_CASE("layers: a clean law passes, each breach is found") {
  CHECK(CheckLayers(Tree{{{"tests/style/layers.txt", Layers}}}).empty());
  for (const char* breach :
       {"runtime/gate: runtime/plan\n",       // names a room below or nowhere
        "compiler/base:\n",                   // twice
        "compiler/tool: runtime/host\n",      // up
        "runtime/gate: compiler/check\n",     // past the contract
        "compiler/tool: compiler/tool\n"}) {  // itself is always allowed, never named
    INFO(breach);
    CHECK(CheckLayers(Tree{{{"tests/style/layers.txt", Layers + breach}}}).size() == 1);
  }
  CHECK(CheckLayers(Tree{}).size() == 1);
}

TEST_CASE("includes: only what the room's line allows") {
  const std::string base = "#include \"compiler/base/result.h\"\n";
  const std::string host = "#include \"runtime/host/clock.h\"\n";
  CHECK(CheckIncludesFollowLayers(With("compiler/check/check.cpp", base)).empty());
  CHECK(CheckIncludesFollowLayers(With("compiler/check/check.cpp", host)).size() == 1);
  CHECK(CheckIncludesFollowLayers(With("compiler/check/check_test.cpp", host)).size() == 1);
  CHECK(CheckIncludesFollowLayers(
            With("compiler/base/result.cpp", "  #  include \"compiler/check/check.h\"\n"))
            .size() == 1);
  CHECK(CheckIncludesFollowLayers(
            With("runtime/host/main.cpp", "#include \"compiler/check/check.h\"\n"))
            .empty());
  CHECK(CheckIncludesFollowLayers(With("runtime/unknown/a.cpp", base)).size() == 1);
  const std::string fake = "#include \"tests/fakes/clock.h\"\n";
  CHECK(CheckIncludesFollowLayers(With("runtime/host/clock_test.cpp", fake)).empty());
  CHECK(CheckIncludesFollowLayers(With("runtime/host/clock.cpp", fake)).size() == 1);
}

TEST_CASE("rooms: CMake builds what the law names, and links no more") {
  Tree tree{{{"tests/style/layers.txt", Layers},
             {"compiler/base/CMakeLists.txt", "curfew_library(base SOURCES a.cpp)"},
             {"compiler/check/CMakeLists.txt", "curfew_library(check\n  DEPS base\n  TESTS t.cpp)"},
             {"runtime/host/CMakeLists.txt", "curfew_library(host DEPS base)"}}};
  CHECK(CheckRoomsAreBuilt(tree).empty());

  Tree links_too_much = tree;
  links_too_much.files["runtime/host/CMakeLists.txt"] = "curfew_library(host DEPS base check)";
  CHECK(CheckRoomsAreBuilt(links_too_much).size() == 1);

  Tree misnamed = tree;
  misnamed.files["runtime/host/CMakeLists.txt"] = "curfew_library(kernel DEPS base)";
  CHECK(CheckRoomsAreBuilt(misnamed).size() == 1);

  Tree lawless = tree;
  lawless.files["runtime/gate/CMakeLists.txt"] = "curfew_library(gate DEPS base)";
  CHECK(CheckRoomsAreBuilt(lawless).size() == 1);

  Tree unbuilt = tree;
  unbuilt.files.erase("runtime/host/CMakeLists.txt");
  CHECK(CheckRoomsAreBuilt(unbuilt).empty());  // the law may come before the room
  unbuilt.files["runtime/host/clock.cpp"] = "";
  CHECK(CheckRoomsAreBuilt(unbuilt).size() == 1);
}

TEST_CASE("confined headers: the longest prefix decides") {
  const auto check = [](std::string path, std::string text) {
    return CheckConfinedHeaders(
        Tree{{{"tests/style/confined.txt",
               "openssl/: a/ b/c.cpp *_test.cpp\nopenssl/x: b/\n# no: where\n"},
              {std::move(path), std::move(text)}}});
  };
  CHECK(check("a/deep/file.cpp", "#include <openssl/evp.h>\n").empty());
  CHECK(check("b/c.cpp", "#include <openssl/evp.h>\n").empty());
  CHECK(check("q/c_test.cpp", "#include <openssl/evp.h>\n").empty());
  CHECK(check("b/d.cpp", "#include <openssl/evp.h>\n").size() == 1);
  CHECK(check("b/d.h", "#include <openssl/evp.h>\n").size() == 1);
  CHECK(check("b/d.cpp", "#include <openssl/x509.h>\n").empty());
  CHECK(check("a/file.cpp", "#include <openssl/x509.h>\n").size() == 1);
  CHECK(CheckConfinedHeaders(Tree{}).size() == 1);
}

TEST_CASE("include form: own header first, quotes from the root, pragma once, an opening") {
  const std::string good = "// What it is.\n#pragma once\n";
  CHECK(CheckIncludeForm(Tree{{{"a/b.h", good}}}).empty());
  CHECK(CheckIncludeForm(Tree{{{"a/b.h", "// What it is.\n"}}}).size() == 1);
  CHECK(CheckIncludeForm(Tree{{{"a/b.h", "#pragma once\n"}}}).size() == 1);
  CHECK(CheckIncludeForm(Tree{{{"a/b.h", good}, {"a/c.cpp", "#include \"b.h\"\n"}}}).size() == 1);
  CHECK(CheckIncludeForm(Tree{{{"a/b.h", good}, {"a/b.cpp", "#include \"a/b.h\"\n"}}}).empty());
  CHECK(CheckIncludeForm(
            Tree{{{"a/b.h", good}, {"a/b.cpp", "#include <string>\n#include \"a/b.h\"\n"}}})
            .size() == 1);
}
