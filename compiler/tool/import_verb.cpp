#include "compiler/base/crypto.h"
#include "compiler/diagnostics/render.h"
#include "compiler/import/import.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/read_input.h"
#include "compiler/tool/verbs.h"
#include "compiler/tool/write_output.h"
#include "compiler/values/quantity.h"

#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

class ImportVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "import"; }
  [[nodiscard]] std::string_view summary() const override {
    return "turn another product's sandbox policy, YAML or JSON, into a policy set";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Known are flat rules (`sandbox`, `rules`), OpenShell, E2B, Vercel, sandbox-runtime and "
           "microsandbox.\nNothing becomes wider on the way. What the source leaves out is an "
           "error that says what to add;\nin the result it is a name that begins with `fill_in` "
           "and is declared nowhere, so that nothing\ncompiles before it is replaced. The result "
           "goes to standard output, diagnostics to standard error;\nwith --format json or sarif "
           "they go to standard output, and the result to --output.\n"
           "exit status: 0 nothing is missing, 3 something must be filled in or was not read, "
           "1 could not run\n\n"
           "example:\n  curfew import policies.yaml -o research.curfew\n"
           "  curfew import policies.yaml --image sha256:9f86d0… --ttl 30m --check";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", path_, "the file, or - for standard input")->required();
    app.add_option("-o,--output", output_, "where the result goes, or - for standard output")
        ->capture_default_str();
    app.add_flag("--check", check_, "only diagnostics; write nothing");
    app.add_option("--image", options_.image_digest,
                   "the image's digest, which such policies do not have: sha256:…");
    app.add_option("--ttl", options_.ttl, "the lifetime, where the policy states none: 30m");
    app.add_option("--format", format_, "text, json, sarif, junit or github")
        ->check(CLI::IsMember({"text", "json", "sarif", "junit", "github"}));
    color_.Configure(app);
  }
  int Run(Console& console) override {
    color_.Apply(console);
    const auto status = TryRun(console);
    if (status) return *status;
    console.Complain(status.error().message);
    return ExitStatusOf(status.error().code);
  }

 private:
  // What goes into the text as it stands.
  [[nodiscard]] Outcome CheckOptions() const {
    if (!options_.image_digest.empty() && !ParseDigest(options_.image_digest)) {
      return Failure(FailureCode::Usage, "--image: not a digest; write sha256: and 64 hex digits");
    }
    if (!options_.ttl.empty()) {
      const auto ttl = values::ParseDuration(options_.ttl);
      if (!ttl) return Failure(FailureCode::Usage, "--ttl: " + ttl.error().message);
    }
    if (!check_ && output_ == "-" && (format_ == "json" || format_ == "sarif")) {
      return Failure(FailureCode::Usage,
                     "diagnostics take standard output in this format; the result needs "
                     "--output FILE, or leave it by --check");
    }
    return Ok();
  }

  Result<int> TryRun(Console& console) {
    CURFEW_TRY_VOID(CheckOptions());
    // One more byte than is read, so that the reader says the limit in its own words.
    CURFEW_TRY(std::string text, ReadInput(path_, import::DocumentBytesMax + 1));
    const std::string stem =
        path_ == "-" ? "imported" : std::filesystem::path(path_).stem().string();
    const import::Imported made =
        import::Import({path_ == "-" ? "<stdin>" : path_, std::move(text)}, stem, options_);
    const diagnostics::Sink& found = made.diagnostics;
    if (format_ == "json") {
      console.Out(RenderJson(found, made.sources));
    } else if (format_ == "sarif") {
      console.Out(RenderSarif(found, made.sources, CURFEW_VERSION));
    } else if (format_ == "junit") {
      console.Out(RenderJunit(found, made.sources));
    } else {
      if (format_ == "github") console.Out(RenderGithub(found, made.sources));
      console.Err(RenderText(
          found, made.sources,
          console.colour_diagnostics() ? diagnostics::Color::Always : diagnostics::Color::Never));
    }
    if (made.policy && !check_) {
      CURFEW_TRY_VOID(WriteOutput(output_, AsBytes(*made.policy), console));
    }
    return found.has_errors() || !made.policy ? exit_status::InvalidPolicy : exit_status::Fine;
  }

  std::string path_;
  std::string output_ = "-";
  import::Options options_;
  std::string format_ = "text";
  ColorOption color_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeImportVerb() { return std::make_unique<ImportVerb>(); }

}  // namespace curfew::tool
