#include "compiler/tool/compile_set.h"

#include "compiler/base/verb.h"
#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/ir/encode.h"
#include "compiler/lower/lower.h"
#include "compiler/module/policy_module.h"
#include "compiler/prove/check_nevers.h"
#include "compiler/syntax/named_files.h"
#include "compiler/syntax/parse.h"

#include <algorithm>

namespace curfew::tool {

Result<Compilation> CompileSet(std::span<const std::string> paths, const SetOptions& options) {
  CURFEW_TRY(source::SourceMap sources, source::LoadSources(paths, options.nothing));
  return CompileTexts(std::move(sources), options);
}

Result<Compilation> CompileTexts(source::SourceMap sources, const SetOptions& options) {
  Compilation made;
  made.sources = std::move(sources);
  if (!syntax::IsWithinLimits(made.sources, made.diagnostics)) return made;
  if (made.sources.size() == 0) {
    made.model.emplace();
    return made;
  }
  made.first_named = static_cast<source::FileId>(made.sources.size());
  made.files = syntax::ParseAll(made.sources, made.diagnostics);
  syntax::FollowNames(made.sources, made.files, made.diagnostics, {.root = options.root});
  if (made.diagnostics.has_errors()) return made;
  made.parses = true;
  model::PolicyModel model = check::Check(made.files, made.sources, made.diagnostics);
  if (made.diagnostics.has_errors()) return made;
  Result<ir::DecisionIr> code = lower::Lower(model, made.sources);
  if (!code && code.error().code == FailureCode::TooLarge) {
    made.diagnostics.Report({}, diag::TooMuchToDecide, code.error().message);
    return made;
  }
  if (!code) return std::move(code).error();
  made.module = ir::Encode(*code);
  if (options.proofs == Proofs::Made) {
    prove::CheckNevers(model, made.module, prove::LibraryBesideProgram(), made.diagnostics);
    if (made.diagnostics.has_errors()) return made;
  }
  made.written = std::move(code->written);
  made.model = std::move(model);
  return made;
}

int PrintDiagnostics(const Compilation& compilation, Console& console) {
  const auto color =
      console.colour_diagnostics() ? diagnostics::Color::Always : diagnostics::Color::Never;
  console.Err(diagnostics::RenderText(compilation.diagnostics, compilation.sources, color));
  return compilation.diagnostics.has_errors() ? exit_status::InvalidPolicy : exit_status::Fine;
}

module::BundleContent ContentOf(Compilation& made) {
  const auto loaded = module::PolicyModule::Load(made.module, 1);
  CURFEW_CHECK(loaded.has_value(), "what was just compiled loads");
  const module::Manifest& manifest = loaded->manifest();
  module::BundleContent content;
  content.language = manifest.language;
  content.compiler = manifest.compiler;
  content.packages = made.model->packages;
  content.policy = manifest.policy;
  for (source::FileId file = 0; file < made.sources.size(); ++file) {
    content.files.push_back({.name = std::string(made.sources.name(file)),
                             .text = std::string(made.sources.text(file))});
  }
  std::sort(content.files.begin(), content.files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  content.module = std::move(made.module);
  return content;
}

Result<Bytes> CompileModule(std::span<const std::string> paths, const SetOptions& options) {
  CURFEW_TRY(Compilation made, CompileSet(paths, options));
  if (!made.is_valid()) {
    return Failure(FailureCode::InvalidPolicy,
                   diagnostics::RenderText(made.diagnostics, made.sources));
  }
  return std::move(made.module);
}

}  // namespace curfew::tool
