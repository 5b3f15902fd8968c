#include "compiler/codegen/shape.h"

#include "compiler/codegen/shaper.h"
#include "compiler/module/entry_index.h"

#include <algorithm>

namespace curfew::codegen {

using module::NodeOp;
using module::Tables;
using module::TermKind;

void Shaper::PutNodeFirst(Part& part) {
  MoveWords(part.node, 1);
  part.words.insert(part.words.begin(), part.of);
}

std::uint32_t Shaper::Intern(const Part& part) {
  const auto [place, is_new] =
      shapes_.try_emplace(KeyOf(part.node) + (part.of != module::NoIndex ? "n" : "g"),
                          static_cast<std::uint32_t>(made_.shapes.size()));
  if (is_new) {
    if (made_.nodes + part.nodes > ShapeNodesMax) throw TooLarge{};
    made_.nodes += part.nodes;
    made_.shapes.push_back(
        {part.node, static_cast<std::uint32_t>(part.words.size()), part.of != module::NoIndex});
  }
  return place->second;
}

// Of a condition, and of what is left of it where its child `implied` is known to hold; both read
// the same words.
Shaper::Both Shaper::Compiled(std::uint32_t node, std::uint32_t implied) {
  Both both;
  if (node == implied) {
    both = {Condition(node), {}};
  } else if (implied != module::NoIndex && t_.nodes[node].op == NodeOp::And) {
    if (++described_ > DescribedMax) throw TooLarge{};
    Place part_of_key;
    Part part = DescribeJunction(Form::And, t_.children.subspan(t_.nodes[node].a, t_.nodes[node].b),
                                 implied, &part_of_key);
    part.of = node;
    PutNodeFirst(part);
    both.whole = {Intern(part), PutWords(part.words)};
    both.keyed = both.whole;
    if (part_of_key.part < part.node.parts.size()) {
      ShapeNode holds;
      holds.mode = 1;
      holds.shape = part_of_key.words;
      part.node.parts[part_of_key.part] = holds;
      both.keyed.shape = Intern(part);
    }
  } else {
    Part part = Describe(node);
    part.of = node;
    PutNodeFirst(part);
    both.whole = {Intern(part), PutWords(part.words)};
    both.keyed = both.whole;
  }
  return both;
}

Shaper::Both Shaper::Conditions(std::uint32_t node, std::uint32_t implied) {
  if (node == module::NoIndex) return {};
  const auto place = conditions_.find({node, implied});
  if (place != conditions_.end()) return place->second;
  Both both;
  try {
    both = Compiled(node, implied);
  } catch (const TooLarge&) {
    both.whole = both.keyed = {ShapedCondition::Interpreted, node};
  }
  conditions_.emplace(std::pair{node, implied}, both);
  return both;
}

ShapedEntry Shaper::Entry(std::uint32_t entry) {
  const auto [whole, keyed] = Conditions(t_.entries[entry].condition, implied_[entry]);
  return {whole, keyed, Condition(t_.entries[entry].within)};
}

ShapedEntry Shaper::InterpretedEntry(std::uint32_t entry) const {
  const auto interpreted = [](std::uint32_t node) -> ShapedCondition {
    if (node == module::NoIndex) return {};
    return {ShapedCondition::Interpreted, node};
  };
  const module::EntryRecord& record = t_.entries[entry];
  return {interpreted(record.condition), interpreted(record.condition), interpreted(record.within)};
}

// Their `or`.
ShapedCondition Shaper::GuardOf(const std::vector<std::uint32_t>& conditions) {
  if (conditions.empty()) return {ShapedCondition::Never, 0};
  const bool denies_always =
      std::find(conditions.begin(), conditions.end(), module::NoIndex) != conditions.end();
  if (denies_always) return {};
  try {
    const Part part = DescribeJunction(Form::Or, conditions);
    if (part.nodes > GuardNodesEachMax) return {};
    guard_nodes_ += part.nodes;
    if (guard_nodes_ > GuardNodesMax) return {};
    return {Intern(part), PutWords(part.words)};
  } catch (const TooLarge&) {
    return {};  // they are looked at one by one
  }
}

bool Shaper::ReadsOnlyLasting(const ShapeNode& node, schema::Action action) const {
  if (node.form == Form::Judge) return false;
  if (node.form == Form::Run) return ReadsOnlyLasting(made_.shapes[node.shape].root, action);
  const auto lasts = [&](const auto& self, const ShapeTerm& term) -> bool {
    if (term.kind == TermKind::Slot && !schema::LastsWithSandbox(action, term.slot)) return false;
    return std::ranges::all_of(term.parts, [&](const ShapeTerm& part) { return self(self, part); });
  };
  return std::ranges::all_of(node.terms,
                             [&](const ShapeTerm& term) { return lasts(lasts, term); }) &&
         std::ranges::all_of(node.parts,
                             [&](const ShapeNode& part) { return ReadsOnlyLasting(part, action); });
}

bool Shaper::Lasts(std::uint32_t condition, schema::Action action) {
  if (condition == module::NoIndex) return false;
  try {
    return ReadsOnlyLasting(Describe(condition).node, action);
  } catch (const TooLarge&) {
    return false;
  }
}

ShapedGuards Shaper::Guard(std::size_t block) {
  const auto action = static_cast<schema::Action>(block % schema::ActionCount);
  const std::size_t set = module::SetBlock(t_.classes.size(), action);
  const auto add = [&](std::vector<std::uint32_t>& conditions, module::Range range) {
    for (const auto& entry : t_.entries.subspan(range.first, range.count)) {
      conditions.push_back(entry.condition);
    }
  };
  const auto add_denials = [&](std::vector<std::uint32_t>& conditions, std::size_t of) {
    const std::uint32_t index = t_.block_indexes[of];
    if (index == module::NoIndex) return add(conditions, t_.blocks[of].denials);
    const module::Range others = t_.indexes[index].unkeyed;
    for (const std::uint32_t entry : t_.listed.subspan(others.first, others.count)) {
      conditions.push_back(t_.entries[entry].condition);
    }
  };
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> behind;
  add(before, t_.blocks[block].checks);
  if (block == set) return {GuardOf(before), {}, {}};
  if (t_.blocks[block].defaults.count == 0) {
    add(before, t_.blocks[set].checks);
    behind = std::exchange(before, {});
  }
  for (const std::size_t of : {set, block}) {
    add_denials(behind, of);
    add(behind, t_.blocks[of].trials);
  }
  std::vector<std::uint32_t> lasting;
  std::vector<std::uint32_t> varying;
  for (const std::uint32_t condition : behind) {
    (Lasts(condition, action) ? lasting : varying).push_back(condition);
  }
  return {GuardOf(before), GuardOf(lasting), GuardOf(varying)};
}

ShapedTables Shaper::Run() && {
  implied_ = module::DeriveIndex(t_).implied;
  made_.entries.resize(t_.entries.size());
  // Only what is asked often is worth the time that compiling takes.
  const auto is_often = [](std::size_t block) {
    const auto action = static_cast<schema::Action>(block % schema::ActionCount);
    return action == schema::Action::Egress || action == schema::Action::Create ||
           action == schema::Action::Exec;
  };
  // Entries that no block reaches were not proven.
  for (std::size_t place = 0; place < t_.blocks.size(); ++place) {
    const auto shape = [&](module::Range range) {
      for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        made_.entries[i] = is_often(place) ? Entry(i) : InterpretedEntry(i);
      }
    };
    const module::BlockRecord& block = t_.blocks[place];
    shape(block.checks);
    shape(block.denials);
    shape(block.trials);
    for (std::uint32_t g = block.groups.first; g < block.groups.first + block.groups.count; ++g) {
      shape(t_.groups[g].entries);
    }
  }
  for (const module::ClassRecord& record : t_.classes) {
    made_.classes.push_back(Condition(record.when));
  }
  for (std::size_t block = 0; block < t_.blocks.size(); ++block) {
    made_.guards.push_back(is_often(block) ? Guard(block) : ShapedGuards());
  }
  return std::move(made_);
}

ShapedTables TakeShapes(const Tables& tables) { return Shaper(tables).Run(); }

}  // namespace curfew::codegen
