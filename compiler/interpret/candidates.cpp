#include "compiler/interpret/candidates.h"

#include "compiler/base/limits.h"
#include "compiler/module/entry_index.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <utility>

namespace curfew::interpret {

using module::PatternRecord;
using module::PostingRecord;
using values::HostReach;

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

void Candidates::Hits(std::string_view text, std::uint64_t hash, Part part) {
  const module::KeyRecord* key = module::FindKey(t_, text, hash);
  if (key == nullptr) return;
  if (hit_count_ == hits_.size()) {
    too_many_ = true;
    return;
  }
  hits_[hit_count_++] = {key->postings, part};
}

// Every name above the text, from the last label on, and the text itself.
void Candidates::Search(std::string_view text, bool by_labels) {
  hit_count_ = 0;
  too_many_ = false;
  module::KeyHash hash;
  std::size_t end = text.size();
  for (;;) {
    const std::size_t dot = end == 0 ? text.npos : text.rfind('.', end - 1);
    const std::size_t begin = dot == text.npos ? 0 : dot + 1;
    hash.AddLabel(text.substr(begin, end - begin));
    if (dot == text.npos) break;
    const bool is_name = by_labels && dot > 0 && text.size() - begin <= limits::HostBytesMax;
    if (is_name) {
      const bool is_parent = text.find('.') == dot;
      Hits(text.substr(begin), hash.value(), is_parent ? Part::Parent : Part::Above);
    }
    end = dot;
  }
  Hits(text, hash.value(), Part::Whole);
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
    const auto all = t_.postings.subspan(hit.postings.first, hit.postings.count);
    auto posting = std::ranges::lower_bound(all, index, {}, &PostingRecord::index);
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
