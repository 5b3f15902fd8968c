// The policy sets that tests put into force by `reload "file"`: each read, checked and compiled
// once. Their own tests are not run. A path leads where one of `use` may.
#pragma once

#include "compiler/base/console.h"
#include "compiler/base/result.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/testing/run_tests.h"
#include "compiler/tool/compile_set.h"

#include <list>

namespace curfew::tool {

class ReloadedSets {
 public:
  // Of every test of the model, whose files are `sources`. InvalidPolicy where a set has mistakes,
  // which are printed.
  static Result<ReloadedSets> Load(const model::PolicyModel& model,
                                   const source::SourceMap& sources, const std::string& root,
                                   Console& console);

  [[nodiscard]] const testing::Reloads& reloads() const { return reloads_; }

 private:
  struct Set {
    Compilation made;
    std::optional<interpret::Interpreter> engine;
  };
  std::list<Set> sets_;  // at places that stay
  testing::Reloads reloads_;
};

}  // namespace curfew::tool
