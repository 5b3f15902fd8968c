// Claim: what is asked of a request, as a tree over conditions of modules. A condition is true,
// false or, where it reads what is not there, neither (compiler/ir/README.md).
#pragma once

#include "compiler/module/tables.h"
#include "compiler/prove/facts.h"

#include <utility>
#include <vector>

namespace curfew::prove {

// Whose tables, and whose defaults have been filled in: those of a block, or none.
struct View {
  Side side = 0;
  std::uint32_t block = module::NoIndex;
  friend auto operator<=>(const View&, const View&) = default;
};

struct Claim {
  enum class Kind : std::uint8_t {
    IsTrue,    // the condition is true
    IsFalse,   // it is false
    NotTrue,   // it is false or neither
    NotFalse,  // it is true or neither
    IsNamed,   // of a create: it names its class
    NotNamed,  // of a create: it does not
    All,       // every part holds; of none: yes
    Some       // some part holds; of none: no
  };
  Kind kind = Kind::All;
  View view;
  std::uint32_t node = module::NoIndex;  // NoIndex is true
  std::vector<Claim> parts;

  static Claim Of(Kind kind, View view, std::uint32_t node) { return {kind, view, node, {}}; }
  static Claim All(std::vector<Claim> parts) { return {Kind::All, {}, 0, std::move(parts)}; }
  static Claim Some(std::vector<Claim> parts) { return {Kind::Some, {}, 0, std::move(parts)}; }
};

}  // namespace curfew::prove
