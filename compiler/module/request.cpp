#include "compiler/module/request.h"

#include "compiler/base/check.h"

namespace curfew::module {

void Request::Set(schema::Slot slot, Value value) {
  CURFEW_CHECK(slot < values_.size(), "a slot is below the limit of attributes");
  values_[slot] = value;
  present_.set(slot);
  known_.set(slot);
}

void Request::SetDigest(schema::Slot slot, const Digest& digest) {
  Set(slot, Value::OfText(AsText(digest.bytes)));
}

void Request::SetAbsent(schema::Slot slot) {
  CURFEW_CHECK(slot < values_.size(), "a slot is below the limit of attributes");
  values_[slot] = Value();
  present_.reset(slot);
  known_.set(slot);
}

void Request::SetUnknown(schema::Slot slot) {
  CURFEW_CHECK(slot < values_.size(), "a slot is below the limit of attributes");
  values_[slot] = Value();
  present_.reset(slot);
  known_.reset(slot);
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

}  // namespace curfew::module
