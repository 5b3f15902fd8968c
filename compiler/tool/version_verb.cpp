#include "compiler/syntax/parse.h"
#include "compiler/tool/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

// The sanitizers and checks that this program was built with are part of what it is.
std::string_view BuildKind() {
#if defined(__SANITIZE_ADDRESS__)
  return "address sanitizer";
#elif defined(__SANITIZE_THREAD__)
  return "thread sanitizer";
#elif defined(__OPTIMIZE__)
  return "optimised";
#else
  return "debug";
#endif
}

std::string_view Compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

class VersionVerb : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "version"; }
  [[nodiscard]] std::string_view summary() const override {
    return "say which program, language and build this is";
  }
  [[nodiscard]] std::string_view example() const override {
    return "example:\n  curfew version --format json";
  }
  void Configure(CLI::App& app) override {
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }
  int Run(Console& console) override {
    if (format_ == "json") {
      console.Out(fmt::format(
          R"({{"version": 1, "program": "{}", "language": {}, "build": "{}", "compiler": "{}"}})"
          "\n",
          CURFEW_VERSION, syntax::LanguageVersion, BuildKind(), Compiler()));
    } else {
      console.Out(fmt::format("{}\nbuild: {}, {}\n", VersionLine(), BuildKind(), Compiler()));
    }
    return exit_status::Fine;
  }

 private:
  std::string format_ = "text";
};

}  // namespace

std::string VersionLine() {
  return fmt::format("curfew {} (language {})", CURFEW_VERSION, syntax::LanguageVersion);
}

std::unique_ptr<Verb> MakeVersionVerb() { return std::make_unique<VersionVerb>(); }

}  // namespace curfew::tool
