// bare_parse FILE: nothing but ANTLR on the grammar: lexer, parser and its tree, as a driver that a
// person writes first. The floor for what text to model costs. Prints one line of JSON.
#include "tests/bench/spent.h"

#include <fstream>
#include <grammar/CurfewLexer.h>
#include <grammar/CurfewParser.h>
#include <iterator>
#include <string>

#include <antlr4-runtime.h>
#include <fmt/format.h>

int main(int argc, char** argv) {
  using namespace curfew;
  if (argc != 2) {
    fmt::print(stderr, "usage: bare_parse FILE\n");
    return 1;
  }
  std::ifstream in(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const bench::Spent spent;
  antlr4::ANTLRInputStream input(text);
  grammar::CurfewLexer lexer(&input);
  antlr4::CommonTokenStream tokens(&lexer);
  grammar::CurfewParser parser(&tokens);
  const auto* tree = parser.policyFile();
  fmt::print("{}\n", spent.AsJson(text.size(), parser.getNumberOfSyntaxErrors() == 0 &&
                                                   tree != nullptr && !tree->children.empty()));
  return 0;
}
