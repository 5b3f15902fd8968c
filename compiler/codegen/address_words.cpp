#include "compiler/codegen/shaper.h"

#include <algorithm>
#include <array>

namespace curfew::codegen {

using native::RangeWord;

namespace {

struct Interval {
  std::pair<std::uint64_t, std::uint64_t> first;
  std::pair<std::uint64_t, std::uint64_t> last;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

std::uint64_t BigEndian(const std::uint8_t* bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | bytes[i];
  return number;
}

Interval IntervalOf(const module::BlockOfAddresses& block) {
  // The bits behind the prefix, in each half.
  const auto behind = [](std::uint32_t prefix) {
    return prefix >= 64 ? 0 : ~std::uint64_t{0} >> prefix;
  };
  const std::uint64_t high = behind(block.prefix);
  const std::uint64_t low = block.prefix <= 64 ? ~std::uint64_t{0} : behind(block.prefix - 64);
  const std::uint64_t base_high = BigEndian(block.base);
  const std::uint64_t base_low = BigEndian(block.base + 8);
  return {{base_high & ~high, base_low & ~low}, {base_high | high, base_low | low}};
}

// A bit for each first byte that an IPv4 address in one of the intervals can have.
std::array<std::uint64_t, native::FirstByteWords> FirstBytesOf(
    const std::vector<Interval>& intervals) {
  std::array<std::uint64_t, native::FirstByteWords> bits{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    constexpr std::uint64_t kMapped = 0xffff'0000'0000;  // RFC 4291, 2.5.5.2
    const Interval all{{0, kMapped | byte << 24}, {0, kMapped | byte << 24 | 0xff'ffff}};
    const bool meets = std::ranges::any_of(intervals, [&](const Interval& interval) {
      return interval.first <= all.last && all.first <= interval.last;
    });
    if (meets) bits[byte / 64] |= std::uint64_t{1} << (byte % 64);
  }
  return bits;
}

}  // namespace

std::uint64_t Shaper::Blocks(std::uint32_t first, std::uint32_t count) {
  const auto [place, is_new] = blocks_.try_emplace({first, count}, 0);
  if (!is_new) return place->second;
  std::vector<Interval> intervals;
  for (const module::BlockOfAddresses& block : t_.addresses.subspan(first, count)) {
    intervals.push_back(IntervalOf(block));
  }
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> apart;
  for (const Interval& interval : intervals) {
    if (!apart.empty() && interval.first <= apart.back().last) {
      apart.back().last = std::max(apart.back().last, interval.last);
    } else {
      apart.push_back(interval);
    }
  }
  const auto first_bytes = FirstBytesOf(apart);
  std::vector<std::uint64_t> words(first_bytes.begin(), first_bytes.end());
  for (const Interval& interval : apart) {
    words.insert(words.end(), {interval.first.first, interval.first.second, interval.last.first,
                               interval.last.second});
  }
  place->second = RangeWord(PutWords(words) + static_cast<std::uint32_t>(first_bytes.size()),
                            static_cast<std::uint32_t>(apart.size()));
  return place->second;
}

}  // namespace curfew::codegen
