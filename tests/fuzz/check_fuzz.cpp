// Any text as a policy: reading, parsing and checking it never crashes, and what is valid prints.
#include "compiler/base/check.h"
#include "compiler/check/check.h"
#include "compiler/model/print.h"
#include "compiler/syntax/parse.h"

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  source::SourceMap sources;
  sources.Add({"fuzz.curfew", std::string(reinterpret_cast<const char*>(data), size)});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  if (sink.has_errors()) return 0;
  CURFEW_CHECK(!model::Print(model).empty(), "a valid model prints");
  return 0;
}
