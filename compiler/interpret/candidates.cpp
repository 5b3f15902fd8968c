#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/base/short_text.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <bit>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <utility>

namespace curfew::interpret {

using module::PatternRecord;
using module::PostingRecord;
using values::HostReach;

namespace {

// Bit i: a dot is at i. Of up to 64 bytes.
std::uint64_t DotsOf(std::string_view text) {
  std::uint64_t dots = 0;
#if defined(__SSE2__)
  if (text.size() >= 16) {
    const auto dots_at = [&](std::size_t at) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
      const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')));
      return static_cast<std::uint64_t>(found) << at;
    };
    const std::size_t last = text.size() - 16;
    for (std::size_t at = 0; at < last; at += 16) dots |= dots_at(at);
    return dots | dots_at(last);
  }
#endif
  for (std::size_t i = 0; i < text.size(); ++i) {
    dots |= std::uint64_t{text[i] == '.' ? 1u : 0u} << i;
  }
  return dots;
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

[[gnu::always_inline]] inline void Candidates::LookUp(std::string_view text, std::size_t size,
                                                      std::uint32_t dot) {
  const module::KeyRecord* key = module::FindKey(t_, text, size, module::HashOfEnd(text, size));
  if (key == nullptr) return;
  if (hit_count_ == hits_.size()) {
    too_many_ = true;
  } else {
    hits_[hit_count_++] = {static_cast<std::uint32_t>(key - t_.keys.data()), dot};
  }
}

// Every name above the text that has as many labels as a wildcard's.
void Candidates::SearchAbove(std::string_view text, std::uint32_t depths) {
  std::uint32_t depth = 1;
  const auto visit = [&](std::size_t dot) {
    const bool is_wanted = (depths & depth) != 0;
    depth = depth << 1 != 0 ? depth << 1 : depth;
    const std::size_t size = text.size() - dot - 1;
    // A wildcard stands for a byte at least, and no pattern has a longer name than a host has.
    if (is_wanted && dot != 0 && size <= limits::HostBytesMax) {
      LookUp(text, size, static_cast<std::uint32_t>(dot));
    }
  };
  constexpr std::size_t kShort = 64;
  if (text.size() <= kShort) {
    std::uint64_t dots = DotsOf(text);
    if (dots == 0) return;
    first_dot_ = static_cast<std::uint32_t>(std::countr_zero(dots));
    // None deeper is asked for, unless names without number are.
    while (dots != 0 && depth <= depths) {
      const int dot = 63 - std::countl_zero(dots);
      visit(static_cast<std::size_t>(dot));
      dots ^= std::uint64_t{1} << dot;
    }
    return;
  }
  for (std::size_t dot = text.rfind('.'); dot != text.npos; dot = text.rfind('.', dot - 1)) {
    first_dot_ = static_cast<std::uint32_t>(dot);
    visit(dot);
    if (dot == 0) return;
  }
}

void Candidates::Search(std::string_view text, std::uint32_t depths) {
  hit_count_ = 0;
  too_many_ = false;
  first_dot_ = Whole;
  if (depths != 0) SearchAbove(text, depths);
  LookUp(text, text.size(), Whole);
}

void Candidates::Search(const module::Value& value, const module::IndexRecord& record) {
  const module::KeyHits* kept = module::KeyHitsOf(value);
  if (kept == nullptr || kept->content != policy_.manifest().content) {
    return Search(value.text(), record.depths);
  }
  hit_count_ = kept->count;
  too_many_ = kept->too_many;
  first_dot_ = kept->first_dot;
  std::copy_n(kept->hits.begin(), kept->count, hits_.begin());
}

module::InternedText Candidates::Intern(const module::PolicyModule& policy, std::string_view text) {
  Candidates candidates(policy);
  std::uint32_t depths = 0;
  for (const module::IndexRecord& index : policy.tables().indexes) depths |= index.depths;
  candidates.Search(text, depths);
  module::KeyHits hits{.content = policy.manifest().content,
                       .count = static_cast<std::uint32_t>(candidates.hit_count_),
                       .first_dot = candidates.first_dot_,
                       .too_many = candidates.too_many_};
  std::copy_n(candidates.hits_.begin(), candidates.hit_count_, hits.hits.begin());
  return module::InternedText(text, hits);
}

inline bool Candidates::Keep(std::uint32_t entry) {
  if (keyed_count_ == 0) {
    keyed_[keyed_count_++] = entry;
    return true;
  }
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
  if (slot_ != record.slot) {
    Search(request.value(slot), record);
    slot_ = record.slot;
  }
  if (too_many_) return false;
  keyed_count_ = 0;
  if (hit_count_ == 0) return true;
  for (const Hit& hit : std::span(hits_).first(hit_count_)) {
    const auto meets = [&](const PostingRecord& posting) {
      const auto reach = static_cast<HostReach>(posting.reach);
      // A `*` stands for no dot.
      return hit.dot == Whole        ? reach == HostReach::Exact
             : hit.dot == first_dot_ ? reach != HostReach::Exact
                                     : reach == HostReach::AnyDepth;
    };
    const module::KeyRecord& key = t_.keys[hit.row];
    if (key.postings.count == 1) {
      if (key.only.index == index && meets(key.only) && !Keep(key.only.entry)) return false;
      continue;
    }
    const auto all = t_.postings.subspan(key.postings.first, key.postings.count);
    // Mostly a text is of one index or two, or once of each of several that follow one another.
    constexpr std::size_t kFew = 4;
    auto posting = all.begin();
    const std::size_t ahead = index - posting->index;
    if (index >= posting->index && ahead < all.size() && all[ahead].index == index &&
        (ahead == 0 || all[ahead - 1].index != index)) {
      posting += static_cast<std::ptrdiff_t>(ahead);
    } else if (all.size() > kFew) {
      posting = std::ranges::lower_bound(all, index, {}, &PostingRecord::index);
    }
    while (posting != all.end() && posting->index < index) ++posting;
    for (; posting != all.end() && posting->index == index; ++posting) {
      if (meets(*posting) && !Keep(posting->entry)) return false;
    }
  }
  return true;
}

}  // namespace curfew::interpret
