// The grammar as a whole against the parser that takes it piece by piece: what `policyFile` reads
// is what compiler/syntax reads, and it reads it in one way only.
#include "compiler/syntax/parse.h"

#include <filesystem>
#include <fstream>
#include <grammar/CurfewLexer.h>
#include <grammar/CurfewParser.h>
#include <set>
#include <sstream>

#include <antlr4-runtime.h>
#include <catch2/catch.hpp>

namespace curfew::grammar {
namespace {

// Counts what ANTLR finds.
class Counter final : public antlr4::BaseErrorListener {
 public:
  void syntaxError(antlr4::Recognizer*, antlr4::Token*, std::size_t, std::size_t,
                   const std::string&, std::exception_ptr) override {
    ++errors;
  }
  void reportAmbiguity(antlr4::Parser*, const antlr4::dfa::DFA&, std::size_t, std::size_t, bool,
                       const antlrcpp::BitSet&, antlr4::atn::ATNConfigSet*) override {
    ++ambiguities;
  }

  int errors = 0;
  int ambiguities = 0;
};

Counter ReadWhole(std::string text) {
  // As compiler/syntax shows bytes to the lexer.
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = 0x7F;
  }
  Counter counter;
  antlr4::ANTLRInputStream input(text);
  CurfewLexer lexer(&input);
  lexer.removeErrorListeners();
  lexer.addErrorListener(&counter);
  antlr4::CommonTokenStream tokens(&lexer);
  CurfewParser parser(&tokens);
  parser.removeErrorListeners();
  parser.addErrorListener(&counter);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
      antlr4::atn::PredictionMode::LL_EXACT_AMBIG_DETECTION);
  parser.policyFile();
  return counter;
}

// Where the grammar is wider than the language, on purpose.
const std::set<std::uint16_t> Wider = {diag::ReservedForm.code,      diag::TrialOfWrongEffect.code,
                                       diag::MixedAndOr.code,        diag::ChainedComparison.code,
                                       diag::TooDeep.code,           diag::StatedTwice.code,
                                       diag::FloorWithCondition.code};

TEST_CASE("the whole grammar and the parser by pieces read the same, without ambiguity") {
  int accepted = 0;
  int refused = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CURFEW_SOURCE_DIR "/tests/golden/syntax")) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const std::string input = text.str().substr(0, text.str().find("#--- expected\n"));
    source::SourceMap sources;
    sources.Add({entry.path().filename().string(), input});
    diagnostics::Sink sink;
    syntax::ParseAll(sources, sink);
    INFO(entry.path().string());
    if (!sink.has_errors()) {
      ++accepted;
      const Counter whole = ReadWhole(input);
      CHECK(whole.errors == 0);
      CHECK(whole.ambiguities == 0);
      continue;
    }
    bool outside_the_grammar = true;
    for (const diagnostics::Diagnostic& diagnostic : sink.diagnostics()) {
      // Tokens have their own mistakes, and brackets theirs: the grammar never sees those.
      if (diagnostic.code < 2000 || Wider.contains(diagnostic.code)) outside_the_grammar = false;
    }
    if (!outside_the_grammar) continue;
    ++refused;
    CHECK(ReadWhole(input).errors > 0);
  }
  CHECK(accepted >= 8);
  CHECK(refused >= 8);
}

}  // namespace
}  // namespace curfew::grammar
