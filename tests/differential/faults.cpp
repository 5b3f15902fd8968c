#include "tests/differential/faults.h"

#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/query.h"

#include <utility>

namespace curfew::differential {
namespace {

using codegen::Form;
using codegen::ShapedTables;
using codegen::ShapeNode;
using codegen::ShapeTerm;
using ir::DecisionIr;
using module::NodeOp;
using module::NoIndex;
using module::TermKind;
using module::ValueClass;

constexpr auto kExact = static_cast<std::uint32_t>(values::HostReach::Exact);
constexpr auto kOneLabel = static_cast<std::uint32_t>(values::HostReach::OneLabel);
constexpr auto kAnyDepth = static_cast<std::uint32_t>(values::HostReach::AnyDepth);
constexpr auto kWide = static_cast<std::uint32_t>(values::Reading::Wide);
constexpr auto kNarrow = static_cast<std::uint32_t>(values::QueryReading::Narrow);
constexpr auto kWideQuery = static_cast<std::uint32_t>(values::QueryReading::Wide);

// ---- Lowering -----------------------------------------------------------------------------------

// Every node of one operator has another.
Fault Mistaken(std::string name, NodeOp right, NodeOp wrong) {
  return {.name = "lowering: " + std::move(name), .lowering = [=](DecisionIr& ir) {
            bool found = false;
            for (module::NodeRecord& node : ir.nodes) {
              if (node.op != right) continue;
              node.op = wrong;
              found = true;
            }
            return found;
          }};
}

// Every pattern that nodes of `op` read in one mode is read in another.
Fault MistakenMode(std::string name, NodeOp op, std::uint32_t right, std::uint32_t wrong) {
  return {.name = "lowering: " + std::move(name), .lowering = [=](DecisionIr& ir) {
            bool found = false;
            for (const module::NodeRecord& node : ir.nodes) {
              if (node.op != op || node.c != 1 || ir.patterns[node.b].mode != right) continue;
              ir.patterns[node.b].mode = wrong;
              found = true;
            }
            return found;
          }};
}

template <typename Change>
Fault InBlocks(std::string name, Change change) {
  return {.name = "lowering: " + std::move(name), .lowering = [=](DecisionIr& ir) {
            bool found = false;
            for (module::BlockRecord& block : ir.blocks) found |= change(ir, block);
            return found;
          }};
}

bool Drop(module::Range& range) {
  if (range.count == 0) return false;
  --range.count;
  return true;
}

void AddLoweringFaults(std::vector<Fault>& faults) {
  faults.push_back(Mistaken("<= for <", NodeOp::Less, NodeOp::LessEqual));
  faults.push_back(Mistaken("> for >=", NodeOp::GreaterEqual, NodeOp::Greater));
  faults.push_back(Mistaken(">= for >", NodeOp::Greater, NodeOp::GreaterEqual));
  faults.push_back(Mistaken("== for !=", NodeOp::NotEqual, NodeOp::Equal));
  faults.push_back(Mistaken("all for any", NodeOp::AnyOf, NodeOp::AllOf));
  faults.push_back(Mistaken("any for none", NodeOp::NoneOf, NodeOp::AnyOf));
  faults.push_back(Mistaken("intersects for subset of", NodeOp::SubsetOf, NodeOp::Intersects));
  faults.push_back(Mistaken("or for and", NodeOp::And, NodeOp::Or));
  faults.push_back(Mistaken("a fact that is always there", NodeOp::Has, NodeOp::True));
  faults.push_back(
      MistakenMode("`*` that stands for two labels", NodeOp::HostIn, kOneLabel, kAnyDepth));
  faults.push_back(
      MistakenMode("`**` that stands for one label", NodeOp::HostIn, kAnyDepth, kOneLabel));
  faults.push_back(MistakenMode("a deny that reads narrowly", NodeOp::PathIn, kWide, 0));
  faults.push_back(MistakenMode("a parameter that need not be the only one", NodeOp::QueryIn,
                                kNarrow, kWideQuery));
  faults.push_back({.name = "lowering: a never that bears no mark", .lowering = [](DecisionIr& ir) {
                      bool found = false;
                      for (module::RuleRecord& rule : ir.rules) {
                        found |= std::exchange(rule.never, std::uint8_t{0}) != 0;
                      }
                      return found;
                    }});
  faults.push_back(
      {.name = "lowering: a bound that is one too large", .lowering = [](DecisionIr& ir) {
         for (std::int64_t& integer : ir.integers) ++integer;
         return !ir.integers.empty();
       }});
  faults.push_back(
      {.name = "lowering: an address that no bar holds back", .lowering = [](DecisionIr& ir) {
         bool found = false;
         for (module::EntryRecord& entry : ir.entries) {
           found |= entry.within != NoIndex;
           entry.within = NoIndex;
         }
         return found;
       }});
  faults.push_back({.name = "lowering: a not that is left out", .lowering = [](DecisionIr& ir) {
                      bool found = false;
                      for (module::EntryRecord& entry : ir.entries) {
                        if (entry.condition == NoIndex) continue;
                        const module::NodeRecord& node = ir.nodes[entry.condition];
                        if (node.op != NodeOp::Not) continue;
                        entry.condition = node.a;
                        found = true;
                      }
                      return found;
                    }});
  faults.push_back(
      {.name = "lowering: a class for whatever is asked", .lowering = [](DecisionIr& ir) {
         for (module::ClassRecord& record : ir.classes) record.when = NoIndex;
         return true;
       }});
  faults.push_back(
      {.name = "lowering: a class that none puts aside", .lowering = [](DecisionIr& ir) {
         bool found = false;
         for (module::ClassRecord& record : ir.classes) {
           found = found || std::exchange(record.narrowed_by.count, 0) > 0;
         }
         return found;
       }});
  faults.push_back(
      InBlocks("a link of a chain whose allows are not asked", [](DecisionIr&, auto& b) {
        if (b.groups.count < 2) return false;
        --b.groups.count;
        return true;
      }));
  faults.push_back(InBlocks("a denial that is left out", [](DecisionIr&, auto& block) {
    return block.groups.count > 0 && Drop(block.denials);
  }));
  faults.push_back(InBlocks("a trial that is left out", [](DecisionIr&, auto& block) {
    return block.trials.count > 0 && Drop(block.trials);
  }));
  faults.push_back(InBlocks("a trial that denies", [](DecisionIr&, auto& block) {
    if (block.trials.count == 0) return false;
    block.denials = std::exchange(block.trials, {});
    return true;
  }));
  faults.push_back(InBlocks("an allow that is left out", [](DecisionIr& ir, auto& block) {
    return block.groups.count > 0 && Drop(ir.groups[block.groups.first].entries);
  }));
  faults.push_back(InBlocks("checks that are left out", [](DecisionIr&, auto& block) {
    return std::exchange(block.checks.count, 0) > 0;
  }));
  faults.push_back(InBlocks("defaults that are left out", [](DecisionIr&, auto& block) {
    return std::exchange(block.defaults.count, 0) > 0;
  }));
}

// ---- Index --------------------------------------------------------------------------------------

// Changes rows of a module's bytes, which `rows` views.
template <typename T, typename Change>
bool ChangeRows(std::span<const T> rows, Change change) {
  bool found = false;
  for (const T& row : rows) found |= change(const_cast<T&>(row));
  return found;
}

template <typename T, typename Change>
Fault InRows(std::string name, std::span<const T> module::Tables::* rows, Change change) {
  return {.name = "index: " + std::move(name), .index = [=](module::Tables& tables, std::uint8_t*) {
            return ChangeRows(tables.*rows, change);
          }};
}

void AddIndexFaults(std::vector<Fault>& faults) {
  using module::IndexKind;
  using module::IndexRecord;
  using module::KeyRecord;
  using module::MarkRecord;
  using module::PostingRecord;
  using module::Tables;
  const auto mistaken_reach = [](std::uint32_t right, std::uint32_t wrong) {
    return [=](PostingRecord& posting) {
      if (posting.reach != right) return false;
      posting.reach = wrong;
      return true;
    };
  };
  faults.push_back(InRows("a hash that is another", &Tables::keys, [](KeyRecord& key) {
    key.tag ^= 1;
    return key.text.offset != NoIndex;
  }));
  faults.push_back(InRows("a key that is not there", &Tables::keys, [](KeyRecord& key) {
    return std::exchange(key.text.offset, NoIndex) != NoIndex;
  }));
  faults.push_back(InRows("a text that leads to one entry less", &Tables::keys, [](KeyRecord& key) {
    // A row of one is read as it stands there.
    key.only.index = NoIndex;
    return Drop(key.postings);
  }));
  faults.push_back(InRows("an exact host that is looked up as a wildcard", &Tables::postings,
                          mistaken_reach(kExact, kAnyDepth)));
  faults.push_back(InRows("a `*` that is looked up as a name", &Tables::postings,
                          mistaken_reach(kOneLabel, kExact)));
  faults.push_back(InRows("a `**` that is looked up for one label", &Tables::postings,
                          mistaken_reach(kAnyDepth, kOneLabel)));
  const auto only = [](auto change) { return [=](KeyRecord& key) { return change(key.only); }; };
  faults.push_back(InRows("an exact host alone that is looked up as a wildcard", &Tables::keys,
                          only(mistaken_reach(kExact, kAnyDepth))));
  faults.push_back(InRows("a `**` alone that is looked up for one label", &Tables::keys,
                          only(mistaken_reach(kAnyDepth, kOneLabel))));
  faults.push_back(InRows("a text that leads to the entry before", &Tables::postings,
                          [](PostingRecord& posting) {
                            if (posting.entry == 0) return false;
                            --posting.entry;
                            return true;
                          }));
  faults.push_back(InRows("a text of another range", &Tables::postings, [](PostingRecord& posting) {
    ++posting.index;
    return true;
  }));
  faults.push_back(
      InRows("entries without a key that are passed over", &Tables::indexes,
             [](IndexRecord& index) { return std::exchange(index.unkeyed.count, 0) > 0; }));
  faults.push_back(
      InRows("entries that are passed over where their fact is unknown", &Tables::indexes,
             [](IndexRecord& index) { return std::exchange(index.keyed.count, 0) > 0; }));
  faults.push_back(InRows("an index that is left out", &Tables::indexes,
                          [](IndexRecord& index) { return std::exchange(index.beside, 0) > 0; }));
  const auto unsought = [](IndexKind kind) {
    return [=](IndexRecord& index) {
      if (index.kind != kind || index.lengths == decltype(index.lengths)()) return false;
      index.lengths = {};
      return true;
    };
  };
  faults.push_back(
      InRows("wildcards that nobody looks up", &Tables::indexes, unsought(IndexKind::Text)));
  faults.push_back(
      InRows("integers that nobody looks up", &Tables::indexes, unsought(IndexKind::Integer)));
  faults.push_back(
      InRows("segments that nobody looks up", &Tables::indexes, unsought(IndexKind::Path)));
  faults.push_back(
      InRows("blocks that nobody looks up", &Tables::indexes, unsought(IndexKind::Address)));
  faults.push_back(
      InRows("integers alone that nobody looks up", &Tables::indexes, [](IndexRecord& index) {
        if (index.kind != IndexKind::Integer) return false;
        return std::exchange(index.lengths[0], index.lengths[0] & ~1u) % 2 != 0;
      }));
  faults.push_back(InRows("a wide reading that is looked up as a narrow one", &Tables::indexes,
                          [](IndexRecord& index) {
                            if (index.kind != IndexKind::WidePath) return false;
                            index.kind = IndexKind::Path;
                            return true;
                          }));
  faults.push_back(InRows("a mark that is another", &Tables::marks, [](MarkRecord& row) {
    row.mark ^= std::uint64_t{1} << 63;
    return row.postings.count > 0;
  }));
  faults.push_back(InRows("a mark that leads to one entry less", &Tables::marks,
                          [](MarkRecord& row) { return Drop(row.postings); }));
}

// ---- Code generation ----------------------------------------------------------------------------

template <typename Change>
bool ChangeNode(ShapeNode& node, Change change) {
  bool found = change(node);
  for (ShapeNode& part : node.parts) found |= ChangeNode(part, change);
  return found;
}

template <typename Change>
Fault InNodes(std::string name, Change change) {
  return {.name = "code: " + std::move(name), .codegen = [=](ShapedTables& shaped) {
            bool found = false;
            for (codegen::Shape& shape : shaped.shapes) found |= ChangeNode(shape.root, change);
            return found;
          }};
}

Fault MistakenForm(std::string name, Form right, Form wrong) {
  return InNodes(std::move(name), [=](ShapeNode& node) {
    if (node.form != right) return false;
    node.form = wrong;
    return true;
  });
}

Fault MistakenOp(std::string name, NodeOp right, NodeOp wrong) {
  return InNodes(std::move(name), [=](ShapeNode& node) {
    if (node.form != Form::Compare || node.op != right) return false;
    node.op = wrong;
    return true;
  });
}

// Changes a constant of each condition whose shape's root has a part that `word_of` finds.
template <typename WordOf, typename Change>
Fault InWords(std::string name, WordOf word_of, Change change) {
  return {.name = "code: " + std::move(name), .codegen = [=](ShapedTables& shaped) {
            bool found = false;
            for (const codegen::ShapedEntry& entry : shaped.entries) {
              for (const codegen::ShapedCondition& condition : {entry.condition, entry.within}) {
                if (!condition.has_shape()) continue;
                const auto visit = [&](const ShapeNode& node) {
                  const std::uint32_t word = word_of(node);
                  if (word == NoIndex) return false;
                  return change(shaped.words[condition.words + word]);
                };
                found |= ChangeNode(shaped.shapes[condition.shape].root,
                                    [&](ShapeNode& node) { return visit(node); });
              }
            }
            return found;
          }};
}

// Takes the last part out of each guard of one kind.
Fault InGuards(std::string name, codegen::ShapedCondition codegen::ShapedGuards::* kind) {
  return {.name = "code: " + std::move(name), .codegen = [kind](ShapedTables& shaped) {
            bool found = false;
            for (const codegen::ShapedGuards& guards : shaped.guards) {
              const std::uint32_t shape = (guards.*kind).shape;
              if (!(guards.*kind).has_shape() || shaped.shapes[shape].root.parts.empty()) continue;
              shaped.shapes[shape].root.parts.pop_back();
              found = true;
            }
            return found;
          }};
}

bool OneLess(std::uint64_t& word) {
  module::Range range = native::RangeOf(word);
  if (!Drop(range)) return false;
  word = native::RangeWord(range.first, range.count);
  return true;
}

bool IsIntegerFact(const ShapeTerm& term) {
  return term.kind == TermKind::Slot && term.value == ValueClass::Integer;
}

void AddCodeFaults(std::vector<Fault>& faults) {
  faults.push_back(MistakenOp("<= for <", NodeOp::Less, NodeOp::LessEqual));
  faults.push_back(MistakenOp("< for <=", NodeOp::LessEqual, NodeOp::Less));
  faults.push_back(MistakenOp(">= for >", NodeOp::Greater, NodeOp::GreaterEqual));
  faults.push_back(MistakenOp("> for >=", NodeOp::GreaterEqual, NodeOp::Greater));
  faults.push_back(MistakenOp("== for !=", NodeOp::NotEqual, NodeOp::Equal));
  faults.push_back(MistakenForm("or for and", Form::And, Form::Or));
  faults.push_back(MistakenForm("and for or", Form::Or, Form::And));
  faults.push_back(MistakenForm("all for any", Form::AnyOf, Form::AllOf));
  faults.push_back(MistakenForm("any for none", Form::NoneOf, Form::AnyOf));
  faults.push_back(MistakenForm("a path that must be equal", Form::PathBelow, Form::PathEqual));
  faults.push_back(MistakenForm("a path that may go on", Form::PathEqual, Form::PathBelow));
  faults.push_back(InNodes("a known bit that is not read", [](ShapeNode& node) {
    if (node.form != Form::Has) return false;
    node = ShapeNode();
    node.mode = 1;
    return true;
  }));
  faults.push_back(InNodes("a not that is left out", [](ShapeNode& node) {
    if (node.form != Form::Not) return false;
    ShapeNode part = std::move(node.parts.front());
    node = std::move(part);
    return true;
  }));
  faults.push_back(InNodes("a wildcard that is a name", [](ShapeNode& node) {
    return node.form == Form::HostOne && std::exchange(node.mode, kExact) != kExact;
  }));
  faults.push_back(InNodes("a name that is a wildcard", [](ShapeNode& node) {
    return node.form == Form::HostOne && std::exchange(node.mode, kAnyDepth) != kAnyDepth;
  }));
  faults.push_back(InNodes("a list that lacks its last", [](ShapeNode& node) {
    const bool is_few = node.form == Form::InFew || node.form == Form::InFewShort;
    if (!is_few || node.mode == 0) return false;
    --node.mode;
    return true;
  }));
  faults.push_back(InNodes("a part that is left out", [](ShapeNode& node) {
    if (node.form != Form::And || node.parts.size() < 2) return false;
    node.parts.pop_back();
    return true;
  }));
  faults.push_back(InNodes("another fact", [](ShapeNode& node) {
    if (node.form != Form::Compare || !IsIntegerFact(node.terms[0])) return false;
    ++node.terms[0].slot;
    return true;
  }));
  faults.push_back(InNodes("a sum that is a difference", [](ShapeNode& node) {
    bool found = false;
    for (ShapeTerm& term : node.terms) {
      if (term.signs.size() < 2) continue;
      term.signs[1] = -term.signs[1];
      found = true;
    }
    return found;
  }));
  faults.push_back(InWords(
      "a constant that is one too large",
      [](const ShapeNode& node) {
        const bool has_constant = node.form == Form::Compare && node.terms.size() == 2 &&
                                  node.terms[1].kind == TermKind::Integer;
        return has_constant ? node.terms[1].word : NoIndex;
      },
      [](std::uint64_t& word) {
        ++word;
        return true;
      }));
  faults.push_back(InWords(
      "a block of addresses that is left out",
      [](const ShapeNode& node) { return node.form == Form::AddressIn ? node.word : NoIndex; },
      OneLess));
  faults.push_back(InWords(
      "a run that ends too soon",
      [](const ShapeNode& node) { return node.form == Form::Run ? node.word : NoIndex; }, OneLess));
  faults.push_back(InGuards("a guard that forgets a denial", &codegen::ShapedGuards::varying));
  faults.push_back(InGuards("a guard that forgets what lasts", &codegen::ShapedGuards::lasting));
  faults.push_back(
      {.name = "code: a rule's limits that are left out", .codegen = [](ShapedTables& shaped) {
         bool found = false;
         for (codegen::ShapedEntry& entry : shaped.entries) {
           found |= std::exchange(entry.within.shape, NoIndex) != NoIndex;
         }
         return found;
       }});
  faults.push_back({.name = "code: a key that is taken for the whole condition",
                    .codegen = [](ShapedTables& shaped) {
                      bool found = false;
                      for (codegen::ShapedEntry& entry : shaped.entries) {
                        if (entry.keyed.shape == entry.condition.shape) continue;
                        found |= std::exchange(entry.keyed.shape, NoIndex) != NoIndex;
                      }
                      return found;
                    }});
  faults.push_back(
      {.name = "code: a class for whatever is asked", .codegen = [](ShapedTables& shaped) {
         for (auto& condition : shaped.classes) condition.shape = NoIndex;
         return true;
       }});
}

}  // namespace

std::vector<Fault> SeededFaults() {
  std::vector<Fault> faults;
  AddLoweringFaults(faults);
  AddIndexFaults(faults);
  AddCodeFaults(faults);
  return faults;
}

}  // namespace curfew::differential
