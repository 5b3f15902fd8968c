// Shapes: what conditions have in common when their constants are taken out. Rules of a person
// differ in hosts, ports, paths and times and are otherwise alike, so that a set of ten thousand
// has a few dozen shapes; only shapes are compiled, and the constants lie in words that code reads.
// Knows nothing of LLVM.
#pragma once

#include "compiler/base/result.h"
#include "compiler/module/tables.h"
#include "compiler/native/image.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace curfew::codegen {

// A term without its constant, which is in the shape's words from `word` on.
struct ShapeTerm {
  module::TermKind kind = module::TermKind::Integer;
  module::ValueClass value = module::ValueClass::Integer;
  schema::Slot slot = 0;
  std::uint32_t word = 0;
  std::vector<std::int32_t> signs = {};  // of a sum's parts
  std::vector<ShapeTerm> parts = {};     // of a sum, or what is counted
};

enum class Form : std::uint8_t {
  Constant,     // `mode`: 0 false, 1 true
  Not,          // parts[0]
  And,          // parts
  Or,           // parts
  Run,          // within And and Or: as many conditions of shape `shape` as the word says
  AnyOf,        // terms[0], parts[0] on its elements
  AllOf,        //
  NoneOf,       //
  Has,          // terms[0]
  Compare,      // terms[0] `op` terms[1]
  InFew,        // terms[0] is one of `mode` constants: texts or integers, a word each
  In,           // terms[0] is one of terms[1]
  HostOne,      // terms[0] meets the word's text: `mode` is a HostReach, Exact or AnyDepth
  HostIn,       // terms[0] meets one of the word's patterns
  PathEqual,    // terms[0] is the word's text
  PathBelow,    // terms[0] is the word's text or lies below it
  PathEndsIn,   // terms[0] ends in the word's segments: text, or `*` for any one of some bytes
  PathIn,       // terms[0] meets one of the word's patterns
  TextMatches,  // terms[0] meets one of the word's patterns
  AddressIn,    // terms[0] lies in one of the word's blocks, which are of the words
  Judge         // the word's node, which is not compiled
};

struct ShapeNode {
  Form form = Form::Constant;
  module::NodeOp op = module::NodeOp::Equal;
  std::uint32_t mode = 0;
  std::uint32_t word = 0;
  std::uint32_t shape = 0;
  std::vector<ShapeTerm> terms;
  std::vector<ShapeNode> parts;
};

struct Shape {
  ShapeNode root;
  std::uint32_t words = 0;  // that it reads, apart from those that they name
};

// A condition: one of the shapes, and where its constants begin.
struct ShapedCondition {
  std::uint32_t shape = module::NoIndex;  // NoIndex: always holds
  std::uint32_t words = 0;
};

// Of a block, in one function each: whether some check is not false, and whether some denial that
// no index passes over is not false. Few requests meet one, and all others are done with them at
// once. NoIndex where there is none; only requests out are asked for often enough to be worth one.
struct ShapedGuards {
  ShapedCondition checks;
  ShapedCondition denials;
};

struct ShapedTables {
  std::vector<Shape> shapes;  // those of runs before those that run them
  std::vector<std::uint64_t> words;
  std::vector<ShapedCondition> conditions;  // by entry
  std::vector<ShapedCondition> withins;     // by entry
  std::vector<ShapedCondition> classes;
  std::vector<ShapedGuards> guards;  // by block
};

// A module of more is interpreted. Real sets have a few dozen shapes of a few dozen nodes.
inline constexpr std::size_t ShapeNodesMax = 30'000;     // of all shapes
inline constexpr std::size_t ConditionNodesMax = 2'000;  // of one condition
inline constexpr std::size_t GuardNodesMax = 10'000;     // of all guards' shapes
inline constexpr std::size_t WordsMax = std::size_t{1} << 26;

// Of verified tables. TooLarge beyond the limits above.
Result<ShapedTables> TakeShapes(const module::Tables& tables);

}  // namespace curfew::codegen
