// Any bytes through lexer, parser and renderers, and as the entries of a list file: no crash, no
// hang, and every diagnostic lies in its file.
#include "compiler/base/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  source::SourceMap sources;
  sources.Add({"input", std::string(reinterpret_cast<const char*>(data), size)});
  diagnostics::Sink sink;
  for (const syntax::Ast& ast : syntax::ParseAll(sources, sink)) syntax::Print(ast);
  for (const auto kind : {syntax::ListDecl::Kind::Strings, syntax::ListDecl::Kind::Digests}) {
    for (const syntax::Expr& entry : syntax::ParseListFile(sources, 0, kind, sink)) {
      CURFEW_CHECK(entry.text == sources.text(entry.span), "an entry is what stands there");
    }
  }
  for (const diagnostics::Diagnostic& diagnostic : sink.diagnostics()) {
    if (diagnostic.span.is_nowhere()) continue;
    CURFEW_CHECK(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= size,
                 "a diagnostic lies in its file");
  }
  diagnostics::RenderText(sink, sources);
  diagnostics::RenderJson(sink, sources);
  // Its rules are the whole registry, which takes longer than all the rest: for some inputs only.
  if (size % 16 == 0) diagnostics::RenderSarif(sink, sources, "1");
  diagnostics::RenderJunit(sink, sources);
  diagnostics::RenderGithub(sink, sources);
  return 0;
}
