#include "compiler/module/request.h"

#include "compiler/base/check.h"

#include <bit>
#include <cstring>
#include <type_traits>

namespace curfew::module {

void Request::Put(schema::Slot slot, Value value, bool is_known, bool is_present) {
  CURFEW_CHECK(slot < facts_.values.size(), "a slot is below the limit of attributes");
  facts_.values[slot] = value;
  Facts::Assign(facts_.known, slot, is_known);
  Facts::Assign(facts_.present, slot, is_present);
}

void Request::SetDigest(schema::Slot slot, const Digest& digest) {
  Set(slot, Value::OfText(AsText(digest.bytes)));
}

void Request::SetNow(std::int64_t ms_since_epoch) {
  constexpr std::int64_t kDayMs = 86'400'000;
  // Rounds towards the past, so that times before 1970 have a time of day too.
  std::int64_t day = ms_since_epoch / kDayMs;
  if (ms_since_epoch % kDayMs < 0) --day;
  // 1970-01-01 was a Thursday, which is the fourth day of a week that begins on Monday.
  const std::int64_t weekday = ((day + 3) % 7 + 7) % 7;
  SetInteger(schema::slot::Now, ms_since_epoch);
  SetInteger(schema::slot::NowTimeOfDay, ms_since_epoch - day * kDayMs);
  SetInteger(schema::slot::NowWeekday, weekday);
}

FilledRequest::FilledRequest(const Request& request) {
  static_assert(std::is_trivially_copyable_v<Request>);
  const Facts& facts = request.facts();
  std::size_t used = 0;
  for (std::size_t word = facts.known.size(); word-- > 0 && used == 0;) {
    const std::uint64_t bits = facts.known[word] | facts.present[word];
    if (bits != 0) used = 64 * word + 64 - static_cast<std::size_t>(std::countl_zero(bits));
  }
  const std::byte* from = reinterpret_cast<const std::byte*>(&request);
  const auto head =
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&facts.values) - from);
  std::memcpy(room_, from, head + used * sizeof(Value));
}

}  // namespace curfew::module
