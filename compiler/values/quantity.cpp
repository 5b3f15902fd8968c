#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace curfew::values {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct UnitOf {
  std::string_view name;
  std::int64_t factor;
};
constexpr std::array<UnitOf, 4> kDurationUnits = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}}};
constexpr std::array<UnitOf, 9> kSizeUnits = {{{"B", 1},
                                               {"KiB", std::int64_t{1} << 10},
                                               {"MiB", std::int64_t{1} << 20},
                                               {"GiB", std::int64_t{1} << 30},
                                               {"TiB", std::int64_t{1} << 40},
                                               {"kB", 1'000},
                                               {"MB", 1'000'000},
                                               {"GB", 1'000'000'000},
                                               {"TB", 1'000'000'000'000}}};

template <std::size_t N>
const UnitOf* FindUnit(const std::array<UnitOf, N>& units, std::string_view name) {
  for (const UnitOf& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Error TooLarge() { return {ErrorKind::OutOfRange, "this number does not fit 63 bits"}; }

// Digits at the front, moved behind; nothing when there are none, they overflow, or zeros lead.
struct Digits {
  std::int64_t value = 0;
  std::optional<Error> error;
};
Digits TakeDigits(std::string_view& text) {
  Digits digits;
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') {
    const int digit = text[count] - '0';
    if (digits.value > (kMax - digit) / 10) {
      digits.error = TooLarge();
      return digits;
    }
    digits.value = digits.value * 10 + digit;
    ++count;
  }
  if (count == 0) {
    digits.error = Error{ErrorKind::Malformed, "a number is expected here"};
  } else if (count > 1 && text[0] == '0') {
    digits.error = Error{ErrorKind::Malformed, "a number has no leading zero"};
  }
  text.remove_prefix(count);
  return digits;
}

std::string_view TakeLetters(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && !(text[count] >= '0' && text[count] <= '9')) ++count;
  const std::string_view letters = text.substr(0, count);
  text.remove_prefix(count);
  return letters;
}

bool AddProduct(std::int64_t& sum, std::int64_t value, std::int64_t factor) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(value, factor, &product) &&
         !__builtin_add_overflow(sum, product, &sum);
}

// What is wrong with a duration's unit, with the form that is right where one is plain.
Error WrongDurationUnit(std::int64_t value, std::string_view unit) {
  if (unit.empty()) {
    return {ErrorKind::WrongUnit, "a duration needs a unit: `d`, `h`, `m` or `s`"};
  }
  if (unit == "w" && value <= kMax / 7) {
    return {ErrorKind::WrongUnit, "a duration has no weeks", fmt::format("{}d", value * 7)};
  }
  if (unit == "ms") {
    const bool whole = value > 0 && value % 1000 == 0;
    return {ErrorKind::WrongUnit, "a duration has whole seconds",
            whole ? DurationText(value) : std::string()};
  }
  if (unit == "D" || unit == "H" || unit == "M" || unit == "S") {
    const auto lower = static_cast<char>(unit[0] - 'A' + 'a');
    return {ErrorKind::WrongUnit, "units of a duration are lower case",
            fmt::format("{}{}", value, lower)};
  }
  if (FindUnit(kSizeUnits, unit) != nullptr) {
    return {ErrorKind::WrongUnit,
            fmt::format("`{}` is a unit of size; a duration has `d`, `h`, `m` or `s`", unit)};
  }
  return {ErrorKind::WrongUnit,
          fmt::format("a duration has no unit `{}`; it has `d`, `h`, `m` and `s`", unit)};
}

Error WrongSizeUnit(std::int64_t value, std::string_view unit) {
  if (unit.empty()) {
    return {ErrorKind::WrongUnit,
            "a size needs a unit: `B`, `KiB`, `MiB`, `GiB`, `TiB`, `kB` and so on"};
  }
  for (const UnitOf& known : kSizeUnits) {
    const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
    if (unit.size() == known.name.size() &&
        std::equal(unit.begin(), unit.end(), known.name.begin(), same)) {
      return {ErrorKind::WrongUnit, fmt::format("the unit is spelt `{}`", known.name),
              fmt::format("{}{}", value, known.name)};
    }
  }
  constexpr std::string_view kShort = "KMGTkmgt";
  if (unit.size() == 1 && kShort.find(unit[0]) != std::string_view::npos) {
    const auto upper = static_cast<char>(unit[0] & ~0x20);
    return {ErrorKind::WrongUnit, fmt::format("a size has no unit `{}`", unit),
            fmt::format("{}{}iB", value, upper)};
  }
  if (FindUnit(kDurationUnits, unit) != nullptr) {
    return {ErrorKind::WrongUnit,
            fmt::format("`{}` is a unit of time; a size has `MiB`, `GiB` and so on", unit)};
  }
  return {ErrorKind::WrongUnit, fmt::format("a size has no unit `{}`", unit)};
}

// `1.5h` is `1h30m`, where it comes out even.
std::string WithoutFraction(std::string_view text) {
  std::string_view rest = text;
  const Digits whole = TakeDigits(rest);
  if (whole.error || !rest.starts_with('.')) return {};
  rest.remove_prefix(1);
  const std::size_t before = rest.size();
  const Digits part = TakeDigits(rest);
  const std::size_t places = before - rest.size();
  const UnitOf* unit = FindUnit(kDurationUnits, rest);
  if (part.error || places > 4 || unit == nullptr || whole.value > 1'000'000) return {};
  std::int64_t scale = 1;
  for (std::size_t i = 0; i < places; ++i) scale *= 10;
  if (part.value * unit->factor % scale != 0) return {};
  const std::int64_t ms = whole.value * unit->factor + part.value * unit->factor / scale;
  return ms % 1000 == 0 ? DurationText(ms) : std::string();
}

bool HasFraction(std::string_view text) { return text.find('.') != std::string_view::npos; }

struct Date {
  std::int64_t year;
  unsigned month;
  unsigned day;
};
// Howard Hinnant's days_from_civil and its inverse.
std::int64_t DaysOf(Date date) {
  const std::int64_t y = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t yoe = y - era * 400;
  // The year begins with March here, so that the leap day ends it.
  const std::int64_t month = (std::int64_t{date.month} + 9) % 12;
  const std::int64_t doy = (153 * month + 2) / 5 + date.day - 1;
  const std::int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + doe - 719468;
}
Date DateOf(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t doe = days - era * 146097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const auto day = static_cast<unsigned>(doy - (153 * mp + 2) / 5 + 1);
  const auto month = static_cast<unsigned>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

}  // namespace

Parsed<std::int64_t> ParseInteger(std::string_view text) {
  std::string_view rest = text;
  const Digits digits = TakeDigits(rest);
  if (digits.error) return *digits.error;
  if (HasFraction(rest)) return Error{ErrorKind::Malformed, "a number has no fraction"};
  if (!rest.empty()) {
    return Error{ErrorKind::WrongUnit, "a number without a unit stands here"};
  }
  return digits.value;
}

Parsed<std::uint16_t> ParsePort(std::string_view text) {
  auto number = ParseInteger(text);
  if (!number || *number < 1 || *number > 65535) {
    return Error{ErrorKind::OutOfRange, "a port is a number from 1 to 65535"};
  }
  return static_cast<std::uint16_t>(*number);
}

Parsed<std::int64_t> ParseDuration(std::string_view text) {
  if (HasFraction(text)) {
    return Error{ErrorKind::Malformed, "a duration has no fraction", WithoutFraction(text)};
  }
  std::string_view rest = text;
  std::int64_t sum = 0;
  const UnitOf* previous = nullptr;
  do {
    const Digits digits = TakeDigits(rest);
    if (digits.error) return *digits.error;
    const std::string_view letters = TakeLetters(rest);
    const UnitOf* unit = FindUnit(kDurationUnits, letters);
    if (unit == nullptr) return WrongDurationUnit(digits.value, letters);
    if (previous != nullptr && unit->factor >= previous->factor) {
      return Error{ErrorKind::Malformed, "units of a duration descend, each once: `1d2h3m4s`"};
    }
    if (!AddProduct(sum, digits.value, unit->factor)) return TooLarge();
    previous = unit;
  } while (!rest.empty());
  return sum;
}

Parsed<std::int64_t> ParseSize(std::string_view text) {
  if (HasFraction(text)) {
    return Error{ErrorKind::Malformed, "a size has no fraction; write it in a smaller unit"};
  }
  std::string_view rest = text;
  const Digits digits = TakeDigits(rest);
  if (digits.error) return *digits.error;
  const UnitOf* unit = FindUnit(kSizeUnits, rest);
  if (unit == nullptr) return WrongSizeUnit(digits.value, rest);
  std::int64_t bytes = 0;
  if (!AddProduct(bytes, digits.value, unit->factor)) return TooLarge();
  return bytes;
}

Parsed<std::int64_t> ParseTime(std::string_view text) {
  const Error malformed{ErrorKind::Malformed, "a time is written as `2026-11-29T00:00:00Z`"};
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  if (text.size() != kShape.size()) return malformed;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return malformed;
  }
  const auto number = [&](std::size_t at, std::size_t count) {
    unsigned value = 0;
    for (std::size_t i = at; i < at + count; ++i)
      value = value * 10 + static_cast<unsigned>(text[i] - '0');
    return value;
  };
  const Date date{number(0, 4), number(5, 2), number(8, 2)};
  const unsigned hour = number(11, 2);
  const unsigned minute = number(14, 2);
  const unsigned second = number(17, 2);
  if (date.month < 1 || date.month > 12 || date.day < 1 || hour > 23 || minute > 59 ||
      second > 59 || date.year < 1970) {
    return Error{ErrorKind::OutOfRange, "there is no such time (years begin with 1970)"};
  }
  const std::int64_t days = DaysOf(date);
  if (const Date real = DateOf(days); real.month != date.month || real.day != date.day) {
    return Error{ErrorKind::OutOfRange, "there is no such day"};
  }
  return days * 86'400'000 + std::int64_t{hour} * 3'600'000 + std::int64_t{minute} * 60'000 +
         std::int64_t{second} * 1'000;
}

std::string DurationText(std::int64_t milliseconds) {
  if (milliseconds == 0) return "0s";
  std::string text = milliseconds < 0 ? "-" : "";
  // In unsigned arithmetic, where the smallest number has a magnitude.
  auto rest = static_cast<std::uint64_t>(milliseconds);
  if (milliseconds < 0) rest = 0 - rest;
  for (const UnitOf& unit : kDurationUnits) {
    const auto factor = static_cast<std::uint64_t>(unit.factor);
    if (rest >= factor) text += fmt::format("{}{}", rest / factor, unit.name);
    rest %= factor;
  }
  if (rest > 0) text += fmt::format("{}ms", rest);
  return text;
}

std::string SizeText(std::int64_t bytes) {
  if (bytes == 0) return "0B";
  constexpr std::string_view kLargestFirst[] = {"TiB", "GiB", "MiB", "KiB"};
  for (const std::string_view name : kLargestFirst) {
    const std::int64_t factor = FindUnit(kSizeUnits, name)->factor;
    if (bytes % factor == 0) return fmt::format("{}{}", bytes / factor, name);
  }
  return fmt::format("{}B", bytes);
}

std::string TimeText(std::int64_t milliseconds) {
  constexpr std::int64_t kDay = 86'400'000;
  std::int64_t days = milliseconds / kDay;
  if (milliseconds % kDay < 0) --days;
  const std::int64_t rest = (milliseconds - days * kDay) / 1000;
  const Date date = DateOf(days);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", date.year, date.month, date.day,
                     rest / 3600, rest / 60 % 60, rest % 60);
}

}  // namespace curfew::values
