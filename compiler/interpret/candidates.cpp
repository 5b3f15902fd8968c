#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/base/short_text.h"
#include "compiler/module/entry_index.h"
#include "compiler/module/mark.h"
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
    return Search(value.text(), record.lengths[0]);
  }
  hit_count_ = kept->count;
  too_many_ = kept->too_many;
  first_dot_ = kept->first_dot;
  std::copy_n(kept->hits.begin(), kept->count, hits_.begin());
}

module::InternedText Candidates::Intern(const module::PolicyModule& policy, std::string_view text) {
  Candidates candidates(policy);
  std::uint32_t depths = 0;
  for (const module::IndexRecord& index : policy.tables().indexes) {
    if (index.kind == module::IndexKind::Text) depths |= index.lengths[0];
  }
  candidates.Search(text, depths);
  module::KeyHits hits{.content = policy.manifest().content,
                       .count = static_cast<std::uint32_t>(candidates.hit_count_),
                       .first_dot = candidates.first_dot_,
                       .too_many = candidates.too_many_};
  std::copy_n(candidates.hits_.begin(), candidates.hit_count_, hits.hits.begin());
  return module::InternedText(text, hits);
}

// ---- What was found -----------------------------------------------------------------------------

inline bool Candidates::AddLed(Led led) {
  if (!Settle(led)) return true;
  if (led_count_ == led_.size()) return false;
  led_[led_count_++] = led;
  return true;
}

// Those of `postings` that are of the index.
bool Candidates::AddLed(module::Range postings, std::uint32_t index, std::uint32_t reaches) {
  const auto all = t_.postings.subspan(postings.first, postings.count);
  // Mostly a key is of one index or two, or once of each of several that follow one another.
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
  if (posting == all.end()) return true;
  return AddLed({&*posting, all.data() + all.size(), index, reaches});
}

bool Candidates::AddMark(std::uint64_t mark, std::uint32_t index) {
  const module::MarkRecord* row = module::FindMark(t_, mark);
  return row == nullptr || AddLed(row->postings, index, 1);
}

std::uint32_t Candidates::LeastLed() const {
  std::uint32_t least = module::NoIndex;
  for (const Led& led : std::span(led_).first(led_count_)) least = std::min(least, led.at->entry);
  return least;
}

void Candidates::GoBehind(std::uint32_t entry) {
  for (std::size_t i = 0; i < led_count_;) {
    Led& led = led_[i];
    bool is_left = true;
    while (is_left && led.at->entry == entry) {
      ++led.at;
      is_left = Settle(led);
    }
    if (is_left) {
      ++i;
    } else {
      led = led_[--led_count_];
    }
  }
}

std::span<const std::uint32_t> Candidates::TakeBelow(std::uint32_t entry) {
  Plain* least = nullptr;
  for (Plain& plain : std::span(plain_).first(plain_count_)) {
    if (least == nullptr || *plain.at < *least->at) {
      if (least != nullptr) entry = std::min(entry, *least->at);
      least = &plain;
    } else {
      entry = std::min(entry, *plain.at);
    }
  }
  if (least == nullptr) return {};
  const std::uint32_t* const first = least->at;
  least->at = std::lower_bound(first, least->end, entry);
  const std::span<const std::uint32_t> taken(first, least->at);
  if (least->at == least->end) *least = plain_[--plain_count_];
  return taken;
}

// ---- The indexes of a range ---------------------------------------------------------------------

bool Candidates::FindByText(const module::Request& request, std::uint32_t index) {
  const module::IndexRecord& record = t_.indexes[index];
  const auto slot = static_cast<schema::Slot>(record.slot);
  if (!request.is_known(slot) || !request.is_present(slot)) return false;
  const module::Value& value = request.value(slot);
  if (value.size > limits::RequestStringBytesMax) return false;
  if (slot_ != record.slot) {
    Search(value, record);
    slot_ = record.slot;
  }
  if (too_many_) return false;
  constexpr auto bit = [](HostReach reach) { return 1u << static_cast<std::uint32_t>(reach); };
  for (const Hit& hit : std::span(hits_).first(hit_count_)) {
    // A `*` stands for no dot.
    const std::uint32_t reaches = hit.dot == Whole ? bit(HostReach::Exact)
                                  : hit.dot == first_dot_
                                      ? bit(HostReach::OneLabel) | bit(HostReach::AnyDepth)
                                      : bit(HostReach::AnyDepth);
    const module::KeyRecord& key = t_.keys[hit.row];
    if (key.postings.count == 1) {
      // Mostly so, and read where it stands.
      const bool is_meant = key.only.index == index && (reaches >> key.only.reach & 1) != 0;
      if (!is_meant) continue;
      if (led_count_ == led_.size()) return false;
      led_[led_count_++] = {&key.only, &key.only + 1, index, reaches};
      continue;
    }
    if (!AddLed(key.postings, index, reaches)) return false;
  }
  return true;
}

bool Candidates::FindByPath(std::string_view path, std::uint32_t index) {
  const module::IndexRecord& record = t_.indexes[index];
  // A wide reading takes such a path for several others, of which none was looked up.
  if (record.kind == module::IndexKind::WidePath && path.find_first_of(";%") != path.npos) {
    return false;
  }
  if (!path.starts_with('/')) return true;
  std::size_t end = 0;
  for (std::uint32_t lengths = record.lengths[0]; lengths != 0 && end < path.size();
       lengths >>= 1) {
    end = std::min(path.find('/', end + 1), path.size());
    if ((lengths & 1) == 0) continue;
    if (!AddMark(module::MarkOfSegments(path.substr(0, end)), index)) return false;
  }
  return true;
}

bool Candidates::FindByMarks(const module::Request& request, std::uint32_t index) {
  const module::IndexRecord& record = t_.indexes[index];
  const auto slot = static_cast<schema::Slot>(record.slot);
  if (!request.is_known(slot) || !request.is_present(slot)) return false;
  const module::Value& value = request.value(slot);
  const bool is_text = record.kind != module::IndexKind::Integer;
  if (is_text && value.size > limits::RequestStringBytesMax) return false;
  if (record.kind == module::IndexKind::Path || record.kind == module::IndexKind::WidePath) {
    return FindByPath(value.text(), index);
  }
  constexpr std::uint32_t kAddressBytes = 16;
  if (is_text && value.size != kAddressBytes) return false;
  for (std::size_t i = 0; i < record.lengths.size(); ++i) {
    for (std::uint32_t word = record.lengths[i]; word != 0; word &= word - 1) {
      const auto length = static_cast<std::uint32_t>(32 * i) + std::countr_zero(word);
      const std::uint64_t mark =
          is_text ? module::MarkOfAddresses(value.data, length)
                  : module::MarkOfIntegers(module::PlaceOf(value.integer), length);
      if (!AddMark(mark, index)) return false;
    }
  }
  return true;
}

void Candidates::Find(const module::Request& request, std::uint32_t index, bool only_keyed) {
  led_count_ = 0;
  plain_count_ = 0;
  const auto add_plain = [&](module::Range listed) {
    if (listed.count == 0) return;
    const std::uint32_t* const first = t_.listed.data() + listed.first;
    plain_[plain_count_++] = {first, first + listed.count};
  };
  if (!only_keyed) add_plain(t_.indexes[index].unkeyed);
  for (const std::uint32_t last = index + t_.indexes[index].beside; index <= last; ++index) {
    const module::IndexRecord& record = t_.indexes[index];
    const std::size_t led_before = led_count_;
    const bool is_read = record.kind == module::IndexKind::Text ? FindByText(request, index)
                                                                : FindByMarks(request, index);
    if (is_read) continue;
    led_count_ = led_before;
    add_plain(record.keyed);
  }
}

}  // namespace curfew::interpret
