#include "compiler/tool/policy_option.h"

#include "compiler/base/verb.h"
#include "compiler/tool/compile_set.h"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace curfew::tool {

void PolicyOption::Configure(CLI::App& app) {
  app.add_option("POLICY", paths_, "files and folders of the set, or a bundle")->required();
  trust_.Configure(app);
  root_.Configure(app);
}

Outcome PolicyOption::CheckBeside(const std::string& request) const {
  if (request != "-" || std::find(paths_.begin(), paths_.end(), "-") == paths_.end()) return Ok();
  return Failure(FailureCode::Usage, "policy and request cannot both be read from standard input");
}

Result<std::optional<Bytes>> PolicyOption::ReadModule(Console& console) const {
  CURFEW_TRY(std::optional<module::Bundle> bundle, OpenBundle(paths_, trust_.keys()));
  if (bundle) return std::optional(std::move(bundle->content.module));
  CURFEW_TRY(Compilation made, CompileSet(paths_, {.root = root_.folder()}));
  if (PrintDiagnostics(made, console) != exit_status::Fine) return std::optional<Bytes>();
  return std::optional(std::move(made.module));
}

Result<std::optional<PolicyOption::Opened>> PolicyOption::ReadContent(Console& console) const {
  CURFEW_TRY(std::optional<module::Bundle> bundle, OpenBundle(paths_, trust_.keys()));
  if (bundle) {
    return std::optional(
        Opened{.content = std::move(bundle->content), .is_bundle = true, .signer = bundle->signer});
  }
  CURFEW_TRY(Compilation made, CompileSet(paths_, {.root = root_.folder()}));
  if (PrintDiagnostics(made, console) != exit_status::Fine) return std::optional<Opened>();
  return std::optional(Opened{.content = ContentOf(made)});
}

}  // namespace curfew::tool
