// Limits of files and sets, each with a code of its own.
#include "compiler/base/limits.h"

#include "compiler/syntax/parse.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::syntax {
namespace {

std::vector<int> CodesOf(const diagnostics::Sink& sink) {
  std::vector<int> codes;
  for (const auto& diagnostic : sink.diagnostics()) codes.push_back(diagnostic.code);
  return codes;
}

TEST_CASE("a file that is too large is one mistake, and the others are read") {
  source::SourceMap sources;
  sources.Add({"big.curfew", "", true});
  sources.Add({"small.curfew", "deny creat\n"});
  diagnostics::Sink sink;
  CHECK(ParseAll(sources, sink).size() == 2);
  CHECK(CodesOf(sink) == std::vector<int>{diag::FileTooLarge.code, diag::MisspeltWord.code});
  CHECK(sources.Describe(sink.diagnostics()[0].span) == "big.curfew:1:1");
}

TEST_CASE("a set that is too large is one mistake of the set") {
  for (const auto& [excess, code] : {std::pair{source::Excess::Files, diag::TooManyFiles.code},
                                     std::pair{source::Excess::Bytes, diag::SetTooLarge.code}}) {
    diagnostics::Sink sink;
    CHECK(ParseAll(source::SourceMap::OfExcess(excess), sink).empty());
    CHECK(CodesOf(sink) == std::vector<int>{code});
    CHECK(sink.diagnostics()[0].span.is_nowhere());
  }
}

TEST_CASE("a list file holds so many elements, and what is beyond is said once") {
  std::string text;
  for (std::size_t i = 0; i < ListElementsMax; ++i) text += fmt::format("{}\n", i);
  const auto read = [](std::string entries) {
    source::SourceMap sources;
    const auto file = sources.Add({"list.txt", std::move(entries)});
    diagnostics::Sink sink;
    CHECK(ParseListFile(sources, file, ListDecl::Kind::Strings, sink).size() == ListElementsMax);
    return CodesOf(sink);
  };
  CHECK(read(text).empty());
  CHECK(read(text + "one\nmore\n") == std::vector<int>{diag::ListTooLong.code});
}

}  // namespace
}  // namespace curfew::syntax
