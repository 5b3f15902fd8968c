#include "tests/style/text_rules.h"

#include <catch2/catch.hpp>

using namespace curfew::style;

namespace {

Tree One(std::string path, std::string text) { return Tree{{{std::move(path), std::move(text)}}}; }

}  // namespace

TEST_CASE("whitespace: trailing space, tab, carriage return, missing newline") {
  CHECK(CheckWhitespace(One("a/b.h", "int a;\n")).empty());
  CHECK(CheckWhitespace(One("a/b.h", "int a; \n")).size() == 1);
  CHECK(CheckWhitespace(One("a/b.h", "\tint a;\n")).size() == 1);
  CHECK(CheckWhitespace(One("a/b.h", "int a;\r\n")).size() == 1);
  CHECK(CheckWhitespace(One("a/b.h", "int a;")).size() == 1);
  CHECK(CheckWhitespace(One("a/go.mod", "require (\n\tb v1\n)\n")).empty());
  CHECK(CheckWhitespace(One("tests/golden/x.curfew", "a \t\r\n")).empty());
}

TEST_CASE("nothing is left open in a comment") {
  CHECK(CheckNothingIsLeftOpen(One("a/b.cpp", "// done\n")).empty());
  CHECK(CheckNothingIsLeftOpen(One("a/b.cpp", "// TODO later\n")).size() == 1);
  CHECK(CheckNothingIsLeftOpen(One("README.md", "FIXME\n")).size() == 1);
}

TEST_CASE("nothing is true of one machine only") {
  CHECK(CheckNoMachine(One("examples/x.curfew", "export \"/work/out/**\"\n")).empty());
  CHECK(CheckNoMachine(One("bootstrap", "cd /work/main\n")).size() == 1);
  CHECK(CheckNoMachine(One("runtime/image/build-image", "http://deb.debian.org/debian\n")).size() ==
        1);
}

TEST_CASE("tests can fail") {
  CHECK(CheckTestsCanFail(One("a/b_test.cpp", "TEST_CASE(\"a\") { CHECK(f()); }\n")).empty());
  CHECK(CheckTestsCanFail(One("a/b_test.cpp", "TEST_CASE(\"a\", \"[.slow]\") {}\n")).size() == 1);
  CHECK(CheckTestsCanFail(One("a/b_test.cpp", "CHECK(true);\n")).size() == 1);
}

TEST_CASE("headers import no namespace") {
  CHECK(CheckHeadersImportNothing(One("a/b.cpp", "using namespace std;\n")).empty());
  CHECK(CheckHeadersImportNothing(One("a/b.h", "  using namespace std;\n")).size() == 1);
}
