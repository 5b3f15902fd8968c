// The entries of a range that may hold for a request, by the module's index (module/entry_index.h).
// What it passes over is false, whatever is unknown; where the fact cannot be read, nothing is
// passed over. So a decision by it is the decision without it, down to the fact that is missing.
#pragma once

#include "compiler/module/request.h"
#include "compiler/module/tables.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace curfew::interpret {

// Whether some pattern of a HostIn node, patterns[range], meets the host: in time that grows with
// the labels of the host and hardly with the patterns.
bool MeetsHost(const module::Tables& tables, module::Range patterns, std::string_view host);

// Of one request. Remembers what was found for a fact, since the ranges of a block mostly go by the
// same one.
class Candidates {
 public:
  explicit Candidates(const module::Tables& tables) : t_(tables) {}

  // Calls `visit` with each entry of `range` that may hold, in their order, each once. `index` is
  // the range's, or NoIndex, which rules out nothing. With `only_keyed`, entries that the index
  // cannot rule out (without an index: all) are known to be false, and left out.
  template <typename Visit>
  void ForEach(const module::Request& request, module::Range range, std::uint32_t index,
               bool only_keyed, Visit visit) {
    if (index == module::NoIndex && only_keyed) return;
    if (index == module::NoIndex || !Find(request, index)) {
      for (std::uint32_t i = 0; i < range.count; ++i) visit(range.first + i);
      return;
    }
    std::span<const std::uint32_t> keyed(keyed_.data(), keyed_count_);
    if (only_keyed) {
      for (const std::uint32_t entry : keyed) visit(entry);
      return;
    }
    const module::Range others = t_.indexes[index].unkeyed;
    for (const std::uint32_t entry : t_.unkeyed.subspan(others.first, others.count)) {
      for (; !keyed.empty() && keyed.front() < entry; keyed = keyed.subspan(1)) {
        visit(keyed.front());
      }
      visit(entry);
    }
    for (const std::uint32_t entry : keyed) visit(entry);
  }

  // The request has other facts now.
  void Forget() { slot_ = module::NoIndex; }

 private:
  // How much of the text a key was found for.
  enum class Part : std::uint8_t { Whole, Parent, Above };
  // Made by aggregate only, so that room for them costs nothing.
  struct Hit {
    std::uint32_t first;
    std::uint32_t count;
    Part part;
  };

  // Fills keyed_ for the index. False where nothing can be ruled out: the fact cannot be read, or
  // too much was found to be worth it.
  bool Find(const module::Request& request, std::uint32_t index);
  void Search(std::string_view text, bool by_labels);
  bool Keep(std::uint32_t entry);

  const module::Tables& t_;
  std::uint32_t slot_ = module::NoIndex;  // what hits_ are of
  bool by_labels_ = false;
  bool too_many_ = false;
  std::size_t hit_count_ = 0;
  std::size_t keyed_count_ = 0;
  std::array<Hit, 16> hits_;
  std::array<std::uint32_t, 64> keyed_;  // ascending
};

}  // namespace curfew::interpret
