#include "compiler/tool/reloads.h"

#include <filesystem>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

// The path of the set, as files are named on the command line; a folder that leads out is refused.
Result<std::string> PathOf(std::string_view from, const std::string& file) {
  const std::filesystem::path path(file);
  for (const std::filesystem::path& part : path) {
    if (part == "..") {
      return Failure(FailureCode::InvalidPolicy,
                     fmt::format("reload \"{}\": a path without `..` stands here", file));
    }
  }
  if (path.is_absolute() || path.empty()) {
    return Failure(
        FailureCode::InvalidPolicy,
        fmt::format("reload \"{}\": a path below the folder of the test stands here", file));
  }
  return (std::filesystem::path(from).parent_path() / path).string();
}

}  // namespace

Result<ReloadedSets> ReloadedSets::Load(const model::PolicyModel& model,
                                        const source::SourceMap& sources, Console& console) {
  ReloadedSets loaded;
  for (const model::Test& test : model.tests) {
    for (const model::TestStep& step : test.steps) {
      const auto* reload = std::get_if<model::ReloadStep>(&step.what);
      if (reload == nullptr) continue;
      const std::pair key(step.span.file, reload->file);
      if (loaded.reloads_.contains(key)) continue;
      CURFEW_TRY(std::string path, PathOf(sources.name(step.span.file), reload->file));
      CURFEW_TRY(Compilation made, CompileSet(std::span(&path, 1)));
      if (!made.is_valid()) {
        PrintDiagnostics(made, console);
        return Failure(FailureCode::InvalidPolicy,
                       fmt::format("the policy set of `reload \"{}\"` has mistakes", reload->file));
      }
      Set& set = loaded.sets_.emplace_back();
      set.made = std::move(made);
      CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(set.made.module, 0));
      set.engine.emplace(std::move(policy));
      loaded.reloads_.emplace(key, testing::Reloaded{&*set.made.model, &*set.engine});
    }
  }
  return loaded;
}

}  // namespace curfew::tool
