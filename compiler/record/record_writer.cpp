#include "compiler/record/record_writer.h"

#include "compiler/base/short_text.h"
#include "compiler/record/record_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

namespace curfew::record {
namespace {

using format::Cell;
using module::Facts;
using module::Value;

template <typename Word>
void Store(std::uint8_t* to, Word word) {
  std::memcpy(to, &word, sizeof word);
}

// Words that may overlap are quicker than a call.
template <typename Word>
[[gnu::always_inline]] inline void CopyEnds(std::uint8_t* to, const char* from, std::size_t size) {
  const Word first = LoadWord<Word>(from);
  const Word last = LoadWord<Word>(from + size - sizeof(Word));
  Store(to, first);
  Store(to + size - sizeof(Word), last);
}

[[gnu::always_inline]] inline void CopyShort(std::uint8_t* to, const char* from, std::size_t size) {
  if (size >= 16) {
    CopyEnds<std::array<std::uint64_t, 2>>(to, from, size);
  } else if (size >= 8) {
    CopyEnds<std::uint64_t>(to, from, size);
  } else if (size >= 4) {
    CopyEnds<std::uint32_t>(to, from, size);
  } else if (size > 0) {
    const auto middle = static_cast<std::uint8_t>(from[size / 2]);
    CopyEnds<std::uint8_t>(to, from, size);
    to[size / 2] = middle;
  }
}

// The writing of one record. Where its next byte goes is handed from step to step and never kept in
// memory, or each step would wait for the one before to have stored it.
using Place = std::uint8_t*;

template <typename Word>
Place Put(Place at, Word word) {
  Store(at, word);
  return at + sizeof word;
}

// As many as a record names.
inline Place PutRules(Place at, const module::RuleList& list, std::uint8_t& named) {
  const auto rules = list.written();
  const std::size_t count = std::min(rules.size(), format::RulesMax);
  for (std::size_t i = 0; i < count; ++i) at = Put(at, rules[i]);
  named = static_cast<std::uint8_t>(count);
  return at;
}

// All that the rules can read, since to ask which are there would take longer: what is not is 0.
inline Place PutNumbers(Place at, const RecordedFacts::NumberPlaces& places, const Value* values) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(values);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < places.count; ++i) {
    std::memcpy(at + i * sizeof(std::int64_t), first + places.offsets[i], sizeof(std::int64_t));
  }
  return at + places.count * sizeof(std::int64_t);
}

// Facts that are no numbers, up to where no more text has room.
class Texts {
 public:
  explicit Texts(const std::uint8_t* record) : end_(record + format::TextsEnd) {}

  [[gnu::always_inline]] Place PutText(Place at, const char* text, std::size_t size) {
    if (size > format::ShortTextBytes) [[unlikely]]
      return PutLong(at, text, size);
    at = Put(at, static_cast<Cell>(size));
    CopyShort(at, text, size);
    return at + size;
  }

  [[gnu::noinline]] Place PutTexts(Place at, std::span<const Value> elements) {
    const Place head = at;
    at += sizeof(Cell);
    std::size_t count = 0;
    for (; count < elements.size(); ++count) {
      const Value& element = elements[count];
      if (static_cast<std::ptrdiff_t>(element.size) > Room(at)) break;
      at = PutText(at, element.data, element.size);
    }
    PutHead(head, format::CellIsList, count, elements.size());
    return at;
  }
  [[gnu::noinline]] Place PutIntegers(Place at, std::span<const Value> elements) {
    const Place head = at;
    at += sizeof(Cell);
    std::size_t count = 0;
    for (; count < elements.size(); ++count) {
      if (Room(at) < static_cast<std::ptrdiff_t>(sizeof(std::int64_t))) break;
      at = Put(at, elements[count].integer);
    }
    PutHead(head, format::CellIsList | format::CellOfNumbers, count, elements.size());
    return at;
  }

  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  // For what a cell at this place is about; less than nothing where there is none.
  [[nodiscard]] std::ptrdiff_t Room(const std::uint8_t* at) const {
    return end_ - at - static_cast<std::ptrdiff_t>(sizeof(Cell));
  }
  [[gnu::noinline]] Place PutLong(Place at, const char* text, std::size_t size) {
    const auto room = static_cast<std::size_t>(std::max<std::ptrdiff_t>(Room(at), 0));
    const std::size_t kept = std::min({size, format::TextBytesMax, room});
    is_cut_ = is_cut_ || kept < size;
    at = Put(at, static_cast<Cell>(kept) | (kept < size ? format::CellIsCut : Cell{0}));
    std::memcpy(at, text, kept);
    return at + kept;
  }
  // In front of a list, when it is known how many of it there was room for.
  void PutHead(Place head, Cell cell, std::size_t kept, std::size_t count) {
    if (kept < count) {
      cell |= format::CellIsCut;
      is_cut_ = true;
    }
    Store(head, cell | static_cast<Cell>(kept));
  }

  const std::uint8_t* const end_;
  bool is_cut_ = false;
};

inline Place PutOthers(Place at, std::uint64_t bits, std::uint64_t lists, std::uint64_t text_lists,
                       const Value* values, Texts& texts) {
  for (; bits != 0; bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    const Value& value = values[bit];
    if ((lists >> bit & 1) == 0) [[likely]] {
      at = texts.PutText(at, value.data, value.size);
    } else if ((text_lists >> bit & 1) != 0) {
      at = texts.PutTexts(at, value.elements());
    } else {
      at = texts.PutIntegers(at, value.elements());
    }
  }
  return at;
}

Facts::Bits Both(const Facts::Bits& a, const Facts::Bits& b) { return {a[0] & b[0], a[1] & b[1]}; }

unsigned If(bool holds, format::Flag flag) { return holds ? unsigned{flag} : 0U; }

}  // namespace

bool RecordWriter::Write(const RecordedFacts& facts, const module::Request& request,
                         const module::Verdict& verdict) {
  const std::uint64_t sequence = sequence_++;
  std::uint8_t* const begin = ring_.Reserve();
  if (begin == nullptr) return false;

  const RecordedFacts::OfAction& of = facts.of(request.action());
  const Facts& said = request.facts();
  const Facts::Bits present = Both(said.present, of.read);
  auto* const header = new (begin) format::Header;
  header->version = format::Version;
  header->action = static_cast<std::uint8_t>(request.action());
  header->stage = static_cast<std::uint8_t>(verdict.stage);
  header->sequence = sequence;
  header->generation = verdict.generation;
  header->policy = facts.policy();
  header->module = facts.module_mark();
  header->class_index = verdict.class_index;
  header->missing = verdict.undecided_slot;
  std::memset(header->reserved, 0, sizeof header->reserved);
  header->known = Both(said.known, of.read);
  header->present = present;
  header->numbers = of.numbers;
  const Facts::Bits others = {present[0] & ~of.numbers[0], present[1] & ~of.numbers[1]};

  Place at = begin + sizeof(format::Header);
  at = PutRules(at, verdict.denials, header->denials);
  at = PutRules(at, verdict.allows, header->allows);
  at = PutRules(at, verdict.trials, header->trials);
  Texts texts(begin);
  const Value* const values = said.values.data();
  at = PutNumbers(at, facts.places(request.action()), values);
  for (std::size_t word = 0; word < others.size(); ++word) {
    at = PutOthers(at, others[word], of.number_lists[word] | of.text_lists[word],
                   of.text_lists[word], values + 64 * word, texts);
  }
  Store(at, std::uint64_t{0});  // up to the next multiple
  const auto used = static_cast<std::size_t>(at - begin);
  const std::size_t bytes = (used + format::Alignment - 1) / format::Alignment * format::Alignment;

  header->bytes = static_cast<std::uint32_t>(bytes);
  header->flags = static_cast<std::uint8_t>(
      If(verdict.effect == module::Effect::Allow, format::Allowed) |
      If(verdict.undecided, format::Undecided) | If(texts.is_cut(), format::FactsCut) |
      If(verdict.denials.count > header->denials, format::DenialsCut) |
      If(verdict.allows.count > header->allows, format::AllowsCut) |
      If(verdict.trials.count > header->trials, format::TrialsCut));
  ring_.Publish(bytes);
  return true;
}

}  // namespace curfew::record
