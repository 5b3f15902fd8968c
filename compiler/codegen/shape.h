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
  Constant,    // `mode`: 0 false, 1 true; stands for `shape` words that are not read
  Not,         // parts[0]
  And,         // parts
  Or,          // parts
  Run,         // within And and Or: as many conditions of shape `shape` as the word says
  AnyOf,       // terms[0], parts[0] on its elements
  AllOf,       //
  NoneOf,      //
  Has,         // terms[0]
  Compare,     // terms[0] `op` terms[1]
  InFew,       // terms[0] is one of `mode` constants: texts or integers, a word each
  InFewShort,  // the same of texts that native::PackShortText makes one word each
  In,          // terms[0] is one of terms[1]
  HostOne,     // terms[0] meets the word's text: `mode` is a HostReach, Exact or AnyDepth
  HostIn,      // terms[0] meets one of the word's patterns
  PathEqual,   // terms[0] is the word's text
  PathBelow,   // terms[0] is the word's text or lies below it
  PathEndsIn,  // terms[0] ends in some of the word's words, each segments: text, or `*` for any one
  PathIn,      // terms[0] meets one of the word's patterns
  TextMatches,   // terms[0] meets one of the word's patterns
  TextContains,  // the word's text stands somewhere in terms[0]
  AddressIn,     // terms[0] lies in one of the word's blocks, which are of the words
  Judge          // the word's node, which is not compiled
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
  bool has_node = true;     // its first word is the module's node; guards are of several
};

// A condition: one of the shapes, and where its constants begin.
struct ShapedCondition {
  static constexpr std::uint32_t Always = module::NoIndex;
  static constexpr std::uint32_t Never = module::NoIndex - 1;
  // Not worth compiling: `words` is the module's node, which the interpreter judges.
  static constexpr std::uint32_t Interpreted = module::NoIndex - 2;
  std::uint32_t shape = Always;
  std::uint32_t words = 0;

  [[nodiscard]] bool has_shape() const { return shape < Interpreted; }
};

struct ShapedEntry {
  ShapedCondition condition;
  // The condition where the index led to the entry by one of its keys: without the part that says
  // the same.
  ShapedCondition keyed;
  ShapedCondition within;
};

// Of a block, in a function each: whether something of what is looked at whatever is asked is not
// false (native::BlockCode). Few requests meet any of it, and all others are done with it at once.
struct ShapedGuards {
  ShapedCondition before;
  ShapedCondition lasting;
  ShapedCondition varying;
};

struct ShapedTables {
  std::vector<Shape> shapes;  // those of runs before those that run them
  std::vector<std::uint64_t> words;
  std::vector<ShapedEntry> entries;
  std::vector<ShapedCondition> classes;
  std::vector<ShapedGuards> guards;  // by block
  std::size_t nodes = 0;             // of all shapes
};

// What goes beyond is interpreted, so that no set takes seconds to compile. Real ones have a few
// dozen shapes of a few dozen nodes.
inline constexpr std::size_t ShapeNodesMax = 6'000;    // of all shapes
inline constexpr std::size_t ConditionNodesMax = 400;  // of one condition
inline constexpr std::size_t GuardNodesEachMax = 400;  // of more, each is looked at for itself
inline constexpr std::size_t GuardNodesMax = 4'000;    // of all guards' shapes
inline constexpr std::size_t WordsMax = std::size_t{1} << 26;

// Of verified tables.
ShapedTables TakeShapes(const module::Tables& tables);

}  // namespace curfew::codegen
