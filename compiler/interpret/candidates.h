// The entries of a range that may hold for a request, by the module's indexes
// (module/entry_index.h). What they pass over is false, whatever is unknown; where the fact of one
// cannot be read, none of its entries is passed over. So a decision by them is the decision without
// them, down to the fact that is missing.
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
  // a key or a mark of an index led to it. `index` is the range's first, or NoIndex, which rules
  // out nothing. With `only_keyed`, entries that no index can rule out (without an index: all) are
  // known to be false, and left out.
  template <typename Visit>
  void ForEach(const module::Request& request, module::Range range, std::uint32_t index,
               bool only_keyed, Visit visit) {
    if (index == module::NoIndex) {
      const std::uint32_t count = only_keyed ? 0 : range.count;
      for (std::uint32_t i = 0; i < count; ++i) visit(range.first + i, false);
      return;
    }
    led_count_ = 0;
    plain_count_ = 0;
    // Mostly hosts are all that a range goes by, and none of its entries is looked at always.
    const module::IndexRecord& first = t_.indexes[index];
    const bool is_simple = first.beside == 0 && first.kind == module::IndexKind::Text &&
                           (only_keyed || first.unkeyed.count == 0);
    if (!is_simple || !FindByText(request, index)) Find(request, index, only_keyed);
    if (plain_count_ == 0 && led_count_ <= 1) {
      if (led_count_ == 0) return;
      Led led = led_[0];
      std::uint32_t before = module::NoIndex;
      do {
        if (led.at->entry != before) visit(before = led.at->entry, true);
        ++led.at;
      } while (Settle(led));
      return;
    }
    while (true) {
      const std::uint32_t led = LeastLed();
      const std::span<const std::uint32_t> plain = TakeBelow(led);
      for (const std::uint32_t entry : plain) visit(entry, false);
      if (!plain.empty()) continue;
      if (led == module::NoIndex) return;
      visit(led, true);
      GoBehind(led);
    }
  }

  // The request has other facts now.
  void Forget() { slot_ = module::NoIndex; }

 private:
  using Hit = module::KeyHit;
  static constexpr std::uint32_t Whole = module::KeyHit::Whole;

  // Postings of a key or a mark that was met: ascending by entry, up to those of another index.
  // Without initialisers, so that room for them costs nothing.
  struct Led {
    const module::PostingRecord* at;
    const module::PostingRecord* end;
    std::uint32_t index;
    std::uint32_t reaches;  // a bit for each reach that is meant
  };
  // Goes to the first posting that is meant, from where it is on. False where there is none.
  static bool Settle(Led& led) {
    for (; led.at != led.end && led.at->index == led.index; ++led.at) {
      if ((led.reaches >> led.at->reach & 1) != 0) return true;
    }
    return false;
  }

  // Fills led_ and plain_ for the indexes of a range.
  void Find(const module::Request& request, std::uint32_t index, bool only_keyed);
  // False where the index can rule out nothing: its fact cannot be read, or too much was found.
  bool FindByText(const module::Request& request, std::uint32_t index);
  bool FindByMarks(const module::Request& request, std::uint32_t index);
  bool FindByPath(std::string_view path, std::uint32_t index);
  void Search(const module::Value& value, const module::IndexRecord& record);
  void Search(std::string_view text, std::uint32_t depths);
  void SearchAbove(std::string_view text, std::uint32_t depths);
  void LookUp(std::string_view text, std::size_t size, std::uint32_t dot);
  bool AddMark(std::uint64_t mark, std::uint32_t index);
  bool AddLed(module::Range postings, std::uint32_t index, std::uint32_t reaches);
  bool AddLed(Led led);

  // Of led_; NoIndex where nothing is left.
  [[nodiscard]] std::uint32_t LeastLed() const;
  void GoBehind(std::uint32_t entry);
  // The next of plain_ that are below the entry, as many as one of them has in a row.
  std::span<const std::uint32_t> TakeBelow(std::uint32_t entry);

  const module::PolicyModule& policy_;
  const module::Tables& t_;
  std::uint32_t slot_ = module::NoIndex;  // what hits_ are of
  bool too_many_ = false;
  std::uint32_t first_dot_ = Whole;
  std::size_t hit_count_ = 0;
  std::size_t led_count_ = 0;
  std::size_t plain_count_ = 0;
  std::array<Hit, module::KeyHit::Most> hits_;
  std::array<Led, 64> led_;  // each settled
  // None empty. Of entries that no index found: those without a key, and those of an index that can
  // rule out nothing. A range has at most four indexes.
  struct Plain {
    const std::uint32_t* at;
    const std::uint32_t* end;
  };
  std::array<Plain, 5> plain_;
};

}  // namespace curfew::interpret
