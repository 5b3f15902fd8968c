// One policy set decided in four ways: by its model read without tables, by the interpreter without
// and with its index, and by native code. They must not differ.
#pragma once

#include "compiler/codegen/shape.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/model/policy_model.h"
#include "compiler/native/native_engine.h"
#include "tests/properties/generated_policy.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace curfew::differential {

// What a test breaks on purpose, each between two steps of the line. The first two say whether they
// found a place to break.
struct Fault {
  std::string name;
  std::function<bool(ir::DecisionIr&)> lowering = {};        // before it becomes bytes
  std::function<bool(codegen::ShapedTables&)> codegen = {};  // before it becomes LLVM IR
  std::function<bool(module::Tables&, std::uint8_t* bytes)> index = {};  // after it was proven
};

class Subject {
 public:
  // Nothing where the checker refuses the set, where the fault found no place, or where the
  // verifier refuses what it made.
  static std::unique_ptr<Subject> Make(const std::string& policy, const Fault* fault = nullptr);

  // How the answers differ, with both; empty where they do not. `with_model` asks the reading of
  // the model too, which is slow.
  [[nodiscard]] std::string Difference(const module::Request& request, bool with_model) const;

  [[nodiscard]] bool Allows(const module::Request& request) const;
  [[nodiscard]] const module::Tables& tables() const { return plain_->module().tables(); }
  [[nodiscard]] const module::PolicyModule& policy() const { return plain_->module(); }
  [[nodiscard]] bool is_native() const { return native_->kind() == "native"; }

 private:
  Subject() = default;

  model::PolicyModel model_;
  Bytes bytes_;
  Bytes indexed_bytes_;  // of their own, so that a fault in an index touches nothing else
  std::optional<interpret::Interpreter> plain_;
  std::optional<interpret::Interpreter> indexed_;
  std::unique_ptr<native::NativeEngine> native_;
};

}  // namespace curfew::differential
