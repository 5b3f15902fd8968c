// A policy set through the whole line, on everything that can decide by it: the interpreter with
// and without the module's index, native code, and both again by a bundle that was written and
// read.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/engine.h"
#include "compiler/source/source.h"
#include "tests/conformance/case_file.h"

#include <memory>
#include <string>
#include <vector>

namespace curfew::conformance {

// The errors of a set, as "CUR3004 7:12" in its first file, "CUR3004 b.curfew 7:12" in another, and
// "CUR6002" of the whole set; none where it compiles.
struct Compiled {
  std::vector<std::string> errors;
  Bytes bytes;    // of the module
  Bytes bundled;  // of the module that the bundle held
  struct BackEnd {
    std::string name;
    std::unique_ptr<module::DecisionEngine> engine;  // over one of the bytes above
  };
  std::vector<BackEnd> back_ends;
  bool has_index = false;  // whether the module has one at all: short ranges have none
};

// A failure is one of Curfew: what compiles must run everywhere.
Result<std::unique_ptr<Compiled>> CompileCase(const Case& what);

// What a back end answers to JSON.
Answer Ask(const module::DecisionEngine& engine, const std::string& request);

}  // namespace curfew::conformance
