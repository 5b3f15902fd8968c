#include "compiler/module/index_cost.h"

#include <algorithm>
#include <span>

namespace curfew::module {
namespace {

void AddRange(const Tables& tables, Range range, std::uint32_t index, IndexCost& cost) {
  if (index == NoIndex) {
    for (std::uint32_t i = 0; i < range.count; ++i) cost.always.push_back(range.first + i);
    return;
  }
  const IndexRecord& first = tables.indexes[index];
  const auto unkeyed = tables.listed.subspan(first.unkeyed.first, first.unkeyed.count);
  cost.always.insert(cost.always.end(), unkeyed.begin(), unkeyed.end());
  for (const IndexRecord& record : tables.indexes.subspan(index, first.beside + 1)) {
    const IndexKind kind = record.kind == IndexKind::WidePath ? IndexKind::Path : record.kind;
    const auto same = std::ranges::find_if(cost.found, [&](const IndexUse& use) {
      return use.slot == record.slot && use.kind == kind;
    });
    if (same != cost.found.end()) {
      same->entries += record.keyed.count;
    } else {
      cost.found.push_back({record.slot, kind, record.keyed.count});
    }
  }
}

}  // namespace

IndexCost CostIn(const Tables& tables, ClassIndex of_class, schema::Action action) {
  IndexCost cost;
  const std::size_t set = SetBlock(tables.classes.size(), action);
  for (const std::size_t place : {set, BlockOf(of_class, action)}) {
    const BlockRecord& block = tables.blocks[place];
    cost.beside += block.checks.count + block.trials.count;
    AddRange(tables, block.denials, tables.block_indexes[place], cost);
    for (std::uint32_t g = block.groups.first; g < block.groups.first + block.groups.count; ++g) {
      AddRange(tables, tables.groups[g].entries, tables.group_indexes[g], cost);
    }
  }
  return cost;
}

IndexCost CostOfClasses(const Tables& tables) {
  IndexCost cost;
  AddRange(tables, {0, static_cast<std::uint32_t>(tables.classes.size())}, tables.class_index[0],
           cost);
  return cost;
}

std::size_t IndexBytes(const Tables& tables) {
  return tables.class_index.size_bytes() + tables.block_indexes.size_bytes() +
         tables.group_indexes.size_bytes() + tables.indexes.size_bytes() +
         tables.listed.size_bytes() + tables.keys.size_bytes() + tables.marks.size_bytes() +
         tables.postings.size_bytes();
}

}  // namespace curfew::module
