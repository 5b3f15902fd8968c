#include "compiler/record/recorded_facts.h"

#include "compiler/base/check.h"
#include "compiler/module/fact.h"

#include <cstring>
#include <vector>

namespace curfew::record {
namespace {

using module::Facts;
using module::NodeOp;
using module::NodeRecord;
using module::NoIndex;
using module::Tables;
using module::TermKind;
using module::ValueClass;
using Bits = Facts::Bits;

void Unite(Bits& bits, const Bits& more) {
  for (std::size_t word = 0; word < bits.size(); ++word) bits[word] |= more[word];
}
void Add(Bits& bits, schema::Slot slot) { Facts::Assign(bits, slot, true); }

// What the conditions of a module read, each node once: its children stand before it.
class Reads {
 public:
  explicit Reads(const Tables& tables) : t_(tables), nodes_(tables.nodes.size()) {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      AddNode(nodes_[node], t_.nodes[node]);
    }
  }

  void AddCondition(Bits& bits, std::uint32_t condition) const {
    if (condition != NoIndex) Unite(bits, nodes_[condition]);
  }
  void AddEntries(Bits& bits, const module::Range& range) const {
    for (const module::EntryRecord& entry : t_.entries.subspan(range.first, range.count)) {
      AddCondition(bits, entry.condition);
      AddCondition(bits, entry.within);
    }
  }
  void AddBlock(Bits& bits, const module::BlockRecord& block) const {
    AddEntries(bits, block.checks);
    AddEntries(bits, block.denials);
    AddEntries(bits, block.trials);
    for (const auto& group : t_.groups.subspan(block.groups.first, block.groups.count)) {
      AddEntries(bits, group.entries);
    }
    for (const auto& wish : t_.defaults.subspan(block.defaults.first, block.defaults.count)) {
      Add(bits, wish.slot);
      if (wish.when_slot != NoIndex) Add(bits, static_cast<schema::Slot>(wish.when_slot));
    }
  }

 private:
  void AddTerm(Bits& bits, std::uint32_t index) const {
    const module::TermRecord& term = t_.terms[index];
    if (term.kind == TermKind::Slot) Add(bits, term.slot);
    if (term.kind == TermKind::Count) AddTerm(bits, term.a);
    if (term.kind != TermKind::Sum) return;
    for (const auto& addend : t_.addends.subspan(term.a, term.b)) AddTerm(bits, addend.term);
  }

  void AddNode(Bits& bits, const NodeRecord& node) const {
    switch (node.op) {
      case NodeOp::False:
      case NodeOp::True:
        return;
      case NodeOp::Not:
        return Unite(bits, nodes_[node.a]);
      case NodeOp::And:
      case NodeOp::Or:
        for (const std::uint32_t child : t_.children.subspan(node.a, node.b)) {
          Unite(bits, nodes_[child]);
        }
        return;
      case NodeOp::AnyOf:
      case NodeOp::AllOf:
      case NodeOp::NoneOf:
        AddTerm(bits, node.a);
        return Unite(bits, nodes_[node.b]);
      case NodeOp::Has:
        return Add(bits, static_cast<schema::Slot>(node.a));
      case NodeOp::Equal:
      case NodeOp::NotEqual:
      case NodeOp::Less:
      case NodeOp::LessEqual:
      case NodeOp::Greater:
      case NodeOp::GreaterEqual:
      case NodeOp::In:
      case NodeOp::SubsetOf:
      case NodeOp::Intersects:
      case NodeOp::SameItems:
      case NodeOp::Starts:
      case NodeOp::AddressInItems:
        AddTerm(bits, node.a);
        return AddTerm(bits, node.b);
      case NodeOp::HostIn:
      case NodeOp::PathIn:
      case NodeOp::TextIn:
      case NodeOp::AddressIn:
      case NodeOp::QueryIn:
        return AddTerm(bits, node.a);
    }
    CURFEW_UNREACHABLE("the verifier let no other op in");
  }

  const Tables& t_;
  std::vector<Bits> nodes_;
};

Bits ReadBy(const Tables& tables, const Reads& reads, schema::Action action) {
  Bits read{};
  Add(read, schema::slot::Now);  // when it was decided, whoever reads it
  for (std::size_t block = static_cast<std::size_t>(action); block < tables.blocks.size();
       block += schema::ActionCount) {
    reads.AddBlock(read, tables.blocks[block]);
  }
  if (action != schema::Action::Create) {
    Add(read, schema::slot::SandboxClass);
    return read;
  }
  Add(read, schema::slot::CreateClass);
  for (const module::ClassRecord& of : tables.classes) reads.AddCondition(read, of.when);
  return read;
}

Bits& FormOf(RecordedFacts::OfAction& of, ValueClass value) {
  switch (value) {
    case ValueClass::Integer:
      return of.numbers;
    case ValueClass::Text:
      return of.texts;
    case ValueClass::IntegerItems:
      return of.number_lists;
    case ValueClass::TextItems:
      return of.text_lists;
  }
  CURFEW_UNREACHABLE("the switch names every class");
}

}  // namespace

std::uint64_t ModuleMark(const module::PolicyModule& policy) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, policy.manifest().content.bytes.data(), sizeof mark);
  return mark;
}

RecordedFacts::RecordedFacts(const module::PolicyModule& policy)
    : policy_(policy.manifest().policy), module_mark_(ModuleMark(policy)) {
  const Reads reads(policy.tables());
  for (const schema::ActionInfo& info : schema::Actions()) {
    OfAction& of = actions_[static_cast<std::size_t>(info.action)];
    of.read = ReadBy(policy.tables(), reads, info.action);
    NumberPlaces& places = places_[static_cast<std::size_t>(info.action)];
    for (const module::Fact& fact : module::FactsOf(info.action, policy.declared())) {
      if (!Facts::Test(of.read, fact.slot)) continue;
      Add(FormOf(of, module::ClassOf(fact.type.kind, fact.type.collection)), fact.slot);
      if (!Facts::Test(of.numbers, fact.slot)) continue;
      places.offsets[places.count++] =
          static_cast<std::uint16_t>(fact.slot * sizeof(module::Value));
    }
  }
}

}  // namespace curfew::record
