#include "compiler/tool/reloads.h"

#include <fmt/format.h>

namespace curfew::tool {
Result<ReloadedSets> ReloadedSets::Load(const model::PolicyModel& model,
                                        const source::SourceMap& sources, const std::string& root,
                                        Console& console) {
  ReloadedSets loaded;
  for (const model::Test& test : model.tests) {
    for (const model::TestStep& step : test.steps) {
      const auto* reload = std::get_if<model::ReloadStep>(&step.what);
      if (reload == nullptr) continue;
      const std::pair key(step.span.file, reload->file);
      if (loaded.reloads_.contains(key)) continue;
      const auto path =
          source::FollowPath(sources.name(step.span.file), reload->file, {.root = root});
      if (!path) return Failure(path.error()).In(fmt::format("reload \"{}\"", reload->file));
      CURFEW_TRY(Compilation made, CompileSet(std::span(&*path, 1), {.root = root}));
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
