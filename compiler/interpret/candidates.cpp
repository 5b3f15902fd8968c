#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace curfew::interpret {

using module::PatternRecord;
using module::PostingRecord;
using values::HostReach;

namespace {

// Eight bytes at a time.
template <typename Visit>
void ForEachDotFromEnd(std::string_view text, Visit visit) {
  constexpr std::uint64_t kDots = 0x2e2e2e2e2e2e2e2e;
  constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
  std::size_t end = text.size();
  for (; end >= 8; end -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + end - 8, sizeof word);
    word ^= kDots;
    // The highest bit of each byte that is zero now.
    std::uint64_t found = ~(((word & kLow) + kLow) | word | kLow);
    while (found != 0) {
      const int bit = 63 - std::countl_zero(found);
      visit(end - 8 + static_cast<std::size_t>(bit) / 8);
      found ^= std::uint64_t{1} << bit;
    }
  }
  while (end-- > 0) {
    if (text[end] == '.') visit(end);
  }
}

}  // namespace

bool MeetsHost(const module::Tables& tables, module::Range range, std::string_view host) {
  const auto patterns = tables.patterns.subspan(range.first, range.count);
  constexpr std::size_t kFew = 8;
  if (patterns.size() <= kFew) {
    return std::ranges::any_of(patterns, [&](const PatternRecord& pattern) {
      return values::MatchesHost(static_cast<HostReach>(pattern.mode), tables.TextOf(pattern.text),
                                 host);
    });
  }
  const auto is_there = [&](std::string_view name, HostReach reach) {
    using Key = std::pair<std::string_view, std::uint32_t>;
    return std::ranges::binary_search(patterns, Key{name, static_cast<std::uint32_t>(reach)}, {},
                                      [&](const PatternRecord& pattern) {
                                        return Key{tables.TextOf(pattern.text), pattern.mode};
                                      });
  };
  if (is_there(host, HostReach::Exact)) return true;
  const std::size_t first = host.find('.');
  // No pattern has a longer name than a host can have.
  const std::size_t begin =
      host.size() > limits::HostBytesMax + 1 ? host.size() - limits::HostBytesMax - 1 : 0;
  for (std::size_t dot = host.find('.', begin); dot != host.npos; dot = host.find('.', dot + 1)) {
    if (dot == 0) continue;  // a wildcard stands for a byte at least
    const std::string_view name = host.substr(dot + 1);
    if (is_there(name, HostReach::AnyDepth)) return true;
    if (dot == first && is_there(name, HostReach::OneLabel)) return true;
  }
  return false;
}

// Every name above the text, from the last label on, and the text itself.
void Candidates::Search(std::string_view text, bool by_labels) {
  std::size_t count = 0;
  bool too_many = false;
  const auto look_up = [&](std::string_view name, std::uint64_t hash, Part part)
                           __attribute__((always_inline)) {
                             const module::KeyRecord* key = module::FindKey(t_, name, hash);
                             if (key == nullptr) return;
                             if (count == hits_.size()) {
                               too_many = true;
                             } else {
                               hits_[count++] = {key->postings.first, key->postings.count, part};
                             }
                           };
  const char* const data = text.data();
  const auto from = [&](std::size_t begin) {
    return std::string_view(data + begin, text.size() - begin);
  };
  module::KeyHash hash;
  std::size_t end = text.size();
  // The name that was seen last. It is the parent if no dot stands before it.
  std::size_t name = 0;
  std::uint64_t name_hash = 0;
  ForEachDotFromEnd(text, [&](std::size_t dot) {
    hash.AddLabel(std::string_view(data + dot + 1, end - dot - 1));
    end = dot;
    if (!by_labels || text.size() - dot > limits::HostBytesMax + 1) return;
    if (name != 0) look_up(from(name), name_hash, Part::Above);
    name = dot + 1;
    name_hash = hash.value();
  });
  // A wildcard stands for a byte at least, and a `*` for no dot.
  if (name > 1) {
    const bool is_parent = end + 1 == name;
    look_up(from(name), name_hash, is_parent ? Part::Parent : Part::Above);
  }
  hash.AddLabel(std::string_view(data, end));
  look_up(text, hash.value(), Part::Whole);
  hit_count_ = count;
  too_many_ = too_many;
}

bool Candidates::Keep(std::uint32_t entry) {
  std::size_t place = keyed_count_;
  while (place > 0 && keyed_[place - 1] > entry) --place;
  if (place > 0 && keyed_[place - 1] == entry) return true;
  if (keyed_count_ == keyed_.size()) return false;
  std::copy_backward(keyed_.begin() + place, keyed_.begin() + keyed_count_,
                     keyed_.begin() + keyed_count_ + 1);
  keyed_[place] = entry;
  ++keyed_count_;
  return true;
}

bool Candidates::Find(const module::Request& request, std::uint32_t index) {
  const module::IndexRecord& record = t_.indexes[index];
  const auto slot = static_cast<schema::Slot>(record.slot);
  if (!request.is_known(slot) || !request.is_present(slot)) return false;
  const std::string_view text = request.value(slot).text();
  if (text.size() > limits::RequestStringBytesMax) return false;
  const bool by_labels = record.by_labels != 0;
  if (slot_ != record.slot || (by_labels && !by_labels_)) {
    Search(text, by_labels);
    slot_ = record.slot;
    by_labels_ = by_labels;
  }
  if (too_many_) return false;
  keyed_count_ = 0;
  for (const Hit& hit : std::span(hits_).first(hit_count_)) {
    const auto all = t_.postings.subspan(hit.first, hit.count);
    // Mostly a text is of one index or two.
    constexpr std::size_t kFew = 4;
    auto posting = all.size() <= kFew
                       ? all.begin()
                       : std::ranges::lower_bound(all, index, {}, &PostingRecord::index);
    while (posting != all.end() && posting->index < index) ++posting;
    for (; posting != all.end() && posting->index == index; ++posting) {
      const auto reach = static_cast<HostReach>(posting->reach);
      const bool meets = hit.part == Part::Whole    ? reach == HostReach::Exact
                         : hit.part == Part::Parent ? reach != HostReach::Exact
                                                    : reach == HostReach::AnyDepth;
      if (meets && !Keep(posting->entry)) return false;
    }
  }
  return true;
}

}  // namespace curfew::interpret
