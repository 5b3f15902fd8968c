// The entries of a range that may hold for a request, by the module's index (module/entry_index.h).
// What it passes over is false, whatever is unknown; where the fact cannot be read, nothing is
// passed over. So a decision by it is the decision without it, down to the fact that is missing.
#pragma once

#include "compiler/module/interned_text.h"
#include "compiler/module/policy_module.h"
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
  explicit Candidates(const module::PolicyModule& policy) : policy_(policy), t_(policy.tables()) {}

  // What a search for the text finds, kept with it.
  static module::InternedText Intern(const module::PolicyModule& policy, std::string_view text);

  // Calls `visit` with each entry of `range` that may hold, in their order, each once, and whether
  // a key of the index led to it. `index` is the range's, or NoIndex, which rules out nothing. With
  // `only_keyed`, entries that the index cannot rule out (without an index: all) are known to be
  // false, and left out.
  template <typename Visit>
  void ForEach(const module::Request& request, module::Range range, std::uint32_t index,
               bool only_keyed, Visit visit) {
    if (index == module::NoIndex && only_keyed) return;
    if (index == module::NoIndex || !Find(request, index)) {
      for (std::uint32_t i = 0; i < range.count; ++i) visit(range.first + i, false);
      return;
    }
    std::span<const std::uint32_t> keyed(keyed_.data(), keyed_count_);
    const module::Range others = t_.indexes[index].unkeyed;
    if (only_keyed || others.count == 0) {
      for (const std::uint32_t entry : keyed) visit(entry, true);
      return;
    }
    for (const std::uint32_t entry : t_.unkeyed.subspan(others.first, others.count)) {
      for (; !keyed.empty() && keyed.front() < entry; keyed = keyed.subspan(1)) {
        visit(keyed.front(), true);
      }
      visit(entry, false);
    }
    for (const std::uint32_t entry : keyed) visit(entry, true);
  }

  // The request has other facts now.
  void Forget() { slot_ = module::NoIndex; }

 private:
  using Hit = module::KeyHit;
  static constexpr std::uint32_t Whole = module::KeyHit::Whole;

  // Fills keyed_ for the index. False where nothing can be ruled out: the fact cannot be read, or
  // too much was found to be worth it.
  bool Find(const module::Request& request, std::uint32_t index);
  void Search(const module::Value& value, const module::IndexRecord& record);
  void Search(std::string_view text, std::uint32_t depths);
  void SearchAbove(std::string_view text, std::uint32_t depths);
  void LookUp(std::string_view text, std::size_t size, std::uint32_t dot);
  bool Keep(std::uint32_t entry);

  const module::PolicyModule& policy_;
  const module::Tables& t_;
  std::uint32_t slot_ = module::NoIndex;  // what hits_ are of
  bool too_many_ = false;
  std::uint32_t first_dot_ = Whole;
  std::size_t hit_count_ = 0;
  std::size_t keyed_count_ = 0;
  std::array<Hit, module::KeyHit::Most> hits_;
  std::array<std::uint32_t, 64> keyed_;  // ascending
};

}  // namespace curfew::interpret
