// Cells: the values that facts of a pool may take in a question, and what its leaves say of each.
// Values that no leaf tells apart are one cell, unless facts of the pool are compared.
#pragma once

#include "compiler/interpret/evaluate.h"
#include "compiler/module/json_value.h"
#include "compiler/prove/scan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace curfew::prove {

class Cells {
 public:
  // `arena` owns what the values view.
  Cells(const FactSpace& space, Pool pool, module::ValueArena& arena);

  [[nodiscard]] const Pool& pool() const { return pool_; }
  [[nodiscard]] std::span<const module::Value> values() const { return values_; }
  [[nodiscard]] bool is_number() const { return is_number_; }
  // Whether every value of the kind is in some cell. Where not: why not.
  [[nodiscard]] bool is_whole() const { return why_not_.empty(); }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  [[nodiscard]] std::optional<std::size_t> Find(std::string_view text) const;
  [[nodiscard]] std::optional<std::size_t> Find(std::int64_t number) const;
  // What the leaf says where a fact of the pool has the cell's value, element by element of a
  // quantifier where there is one.
  [[nodiscard]] interpret::Truth Judge(Side side, std::uint32_t leaf, schema::Slot slot,
                                       std::size_t cell, const module::Value* element) const;
  // The leaf holds of every value that is in the cell: a path is met as it stands. Where a deny
  // reads a path in several ways, values of a cell may differ.
  [[nodiscard]] bool HoldsForSure(Side side, std::uint32_t leaf, std::size_t cell) const;
  // Whether it reads paths as a deny does.
  [[nodiscard]] bool IsWide(Side side, std::uint32_t leaf) const;

 private:
  void FillNumbers();
  void FillTexts(module::ValueArena& arena);
  void FillLists(module::ValueArena& arena);
  void Unite();

  const FactSpace& space_;
  Pool pool_;
  bool is_number_ = false;
  std::string why_not_;
  std::vector<module::Value> values_;
  std::map<std::string, std::size_t, std::less<>> by_text_;
};

// Whether the axioms of the schema let the fact (an element of it) be the text.
bool FitsAxioms(const FactSpace& space, FactId fact, std::string_view text);

}  // namespace curfew::prove
