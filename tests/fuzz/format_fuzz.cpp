// What parses is formatted to the same tree, and formatting that again changes nothing.
#include "compiler/base/check.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  source::SourceMap sources;
  diagnostics::Sink sink;
  sources.Add({"input", std::string(reinterpret_cast<const char*>(data), size)});
  const syntax::TokenList tokens = syntax::Lex(sources, 0, sink);
  const syntax::Ast ast = syntax::Parse(tokens, sink);
  if (sink.has_errors()) return 0;
  const std::string formatted = syntax::Format(tokens, ast);
  const source::FileId again = sources.Add({"formatted", formatted});
  const syntax::TokenList tokens_again = syntax::Lex(sources, again, sink);
  const syntax::Ast ast_again = syntax::Parse(tokens_again, sink);
  CURFEW_CHECK(!sink.has_errors(), "formatted text parses");
  CURFEW_CHECK(syntax::Equal(ast, ast_again), "formatting keeps the tree");
  CURFEW_CHECK(syntax::Format(tokens_again, ast_again) == formatted, "formatting is a fixed point");
  return 0;
}
