#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/lsp/serve.h"
#include "compiler/prove/check_nevers.h"
#include "compiler/prove/prover.h"
#include "compiler/tool/asked_request.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"

#include <algorithm>
#include <unistd.h>

#include <CLI/CLI.hpp>

namespace curfew::tool {
namespace {

class LspVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "lsp"; }
  [[nodiscard]] std::string_view summary() const override {
    return "serve an editor: the Language Server Protocol on standard input and output";
  }
  [[nodiscard]] std::string_view example() const override {
    return "An editor starts this; grammar/editor/README.md says how each is told to. A set is the "
           "folder\nof the open file with all below it.\n"
           "exit status: 0 after the protocol's `shutdown` and `exit`, 1 after any other end\n\n"
           "example:\n  curfew lsp --stdio";
  }
  void Configure(CLI::App& app) override {
    // Clients pass it without being asked.
    app.add_flag("--stdio", stdio_, "speak on standard input and output, which is the only way");
    root_.Configure(app);
  }
  int Run(Console& console) override {
    const lsp::Stream stream{
        .input = STDIN_FILENO,
        .write =
            [&](std::string_view message) {
              console.Out(message);
              console.Flush();
              return !console.reader_gone();
            },
        .complain = [&](std::string_view message) { console.Complain(message); }};
    return lsp::Serve(stream, {.version = CURFEW_VERSION,
                               .root = root_.folder(),
                               .now_ms =
                                   [] {
                                     const auto now = TimeOf({});
                                     return now ? *now : 0;
                                   },
                               .prove = ProveNevers});
  }

 private:
  // As `check` does at its end.
  static void ProveNevers(const lsp::Analysis& analysis, diagnostics::Sink& sink) {
    if (std::ranges::find(analysis.model->rules, true, &model::Rule::never) ==
        analysis.model->rules.end()) {
      return;
    }
    const auto code = lower::Lower(*analysis.model, analysis.sources);
    if (!code) return;
    prove::CheckNevers(*analysis.model, ir::Encode(*code), prove::LibraryBesideProgram(), sink);
  }

  bool stdio_ = true;
  RootOption root_;
};

}  // namespace

std::unique_ptr<Verb> MakeLspVerb() { return std::make_unique<LspVerb>(); }

}  // namespace curfew::tool
