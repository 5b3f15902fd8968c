// text_to_model FILE: what the compiler does with a text until there is a model of it, all checks
// done. Prints one line of JSON.
#include "compiler/check/check.h"
#include "compiler/source/load.h"
#include "compiler/syntax/parse.h"
#include "tests/bench/spent.h"

#include <array>
#include <string>

#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace curfew;
  if (argc != 2) {
    fmt::print(stderr, "usage: text_to_model FILE\n");
    return 1;
  }
  const std::array<std::string, 1> paths = {argv[1]};
  auto sources = source::LoadSources(paths);
  if (!sources) {
    fmt::print(stderr, "text_to_model: {}\n", sources.error().message);
    return 1;
  }
  const bench::Spent spent;
  diagnostics::Sink found;
  const std::vector<syntax::Ast> files = syntax::ParseAll(*sources, found);
  const model::PolicyModel model = check::Check(files, *sources, found);
  fmt::print("{}\n",
             spent.AsJson(sources->text(0).size(), !found.has_errors() && !model.classes.empty()));
  return 0;
}
