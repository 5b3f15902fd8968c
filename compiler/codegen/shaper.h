// Shaper: takes the conditions of a module apart into shapes and their constants. Only this room
// includes it.
#pragma once

#include "compiler/codegen/shape.h"
#include "compiler/native/services.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace curfew::codegen {

// Something is not worth compiling; thrown and caught in this room only.
struct TooLarge {};

// Nodes that share parts would be taken apart again and again.
inline constexpr std::size_t DescribedMax = 8'000'000;

// A condition taken apart: its node, and its constants in the order of the node's words.
struct Part {
  ShapeNode node;
  std::vector<std::uint64_t> words;
  std::size_t nodes = 1;
  std::uint32_t of = module::NoIndex;  // the module's node
};

// Equal shapes have equal bytes.
std::string KeyOf(const ShapeNode& node);
void MoveWords(ShapeNode& node, std::uint32_t by);

class Shaper {
 public:
  explicit Shaper(const module::Tables& tables) : t_(tables) {}

  ShapedTables Run() &&;

 private:
  struct Both {
    ShapedCondition whole;
    ShapedCondition keyed;
  };
  Both Conditions(std::uint32_t node, std::uint32_t implied);
  Both Compiled(std::uint32_t node, std::uint32_t implied);
  ShapedCondition Condition(std::uint32_t node) { return Conditions(node, module::NoIndex).whole; }
  ShapedEntry Entry(std::uint32_t entry);
  [[nodiscard]] ShapedEntry InterpretedEntry(std::uint32_t entry) const;
  std::uint32_t Intern(const Part& part);
  static void PutNodeFirst(Part& part);

  Part Describe(std::uint32_t index);
  // Where the part of one child stands, and how many words it has.
  struct Place {
    std::size_t part = ~std::size_t{0};
    std::uint32_t words = 0;
  };
  Part DescribeJunction(Form form, std::span<const std::uint32_t> nodes,
                        std::uint32_t looked_for = module::NoIndex, Place* found = nullptr);
  void MergeEnds(std::vector<Part>& children);
  std::uint64_t PutEnds(const std::vector<std::uint64_t>& ends);
  ShapedCondition GuardOf(const std::vector<std::uint32_t>& conditions);
  ShapedGuards Guard(std::size_t block);
  bool Lasts(std::uint32_t condition, schema::Action action);
  bool ReadsOnlyLasting(const ShapeNode& node, schema::Action action) const;
  Part DescribeEqual(const module::NodeRecord& node);
  Part DescribeTexts(const module::NodeRecord& node);
  [[nodiscard]] bool IsShortText(std::uint32_t text) const {
    return t_.texts[text].size <= native::ShortTextBytesMax;
  }
  [[nodiscard]] std::uint64_t ShortWord(std::uint32_t text) const {
    const std::string_view bytes = t_.TextOf(text);
    return native::PackShortText(bytes.data(), bytes.size());
  }
  Part DescribeMembership(const module::NodeRecord& node);
  Part DescribePaths(const module::NodeRecord& node);
  ShapeTerm Term(std::uint32_t index, std::vector<std::uint64_t>& words);
  std::uint64_t TextWord(std::uint32_t text) const {
    return native::RangeWord(t_.texts[text].offset, t_.texts[text].size);
  }
  std::uint64_t Blocks(std::uint32_t first, std::uint32_t count);
  std::uint32_t PutWords(const std::vector<std::uint64_t>& words);

  static void Add(Part& whole, Part part) {
    MoveWords(part.node, static_cast<std::uint32_t>(whole.words.size()));
    whole.words.insert(whole.words.end(), part.words.begin(), part.words.end());
    whole.nodes += part.nodes;
    if (whole.nodes > ConditionNodesMax) throw TooLarge{};
    whole.node.parts.push_back(std::move(part.node));
  }

  const module::Tables& t_;
  ShapedTables made_;
  std::size_t described_ = 0;
  std::size_t guard_nodes_ = 0;
  std::unordered_map<std::string, std::uint32_t> shapes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Both> conditions_;  // by node, and the implied
  std::vector<std::uint32_t> implied_;                                  // by entry
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> blocks_;
};

}  // namespace curfew::codegen
