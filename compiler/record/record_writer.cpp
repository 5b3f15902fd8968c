#include "compiler/record/record_writer.h"

#include "compiler/base/short_text.h"
#include "compiler/record/record_format.h"

#include <algorithm>
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

// Most texts are short: words that may overlap are quicker than a call. Up to 8 bytes behind the
// copy are written too; nothing outside of the text is read.
void CopyText(std::uint8_t* to, const char* from, std::size_t size) {
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else {
    Store(to, PackFew(from, size));
  }
}

// Where the next byte of a record goes.
class Pen {
 public:
  explicit Pen(std::uint8_t* begin)
      : at_(begin + sizeof(format::Header)), texts_end_(begin + format::TextsEnd) {}

  // How many of the list there was room for.
  std::uint8_t PutRules(const module::RuleList& list) {
    const auto rules = list.written();
    const std::size_t count = std::min(rules.size(), format::RulesMax);
    for (std::size_t i = 0; i < count; ++i) Put(rules[i]);
    return static_cast<std::uint8_t>(count);
  }

  void PutNumbers(const Facts::Bits& bits, const Facts& facts) {
    for (std::size_t word = 0; word < bits.size(); ++word) {
      const Value* values = facts.values.data() + 64 * word;
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        Put(values[std::countr_zero(left)].integer);
      }
    }
  }

  void PutOthers(const Facts::Bits& bits, const RecordedFacts::OfAction& of, const Facts& facts) {
    for (std::size_t word = 0; word < bits.size(); ++word) {
      const Value* values = facts.values.data() + 64 * word;
      const std::uint64_t lists = of.number_lists[word] | of.text_lists[word];
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        if ((lists >> bit & 1) == 0) {
          PutText(values[bit].text());
        } else if ((of.text_lists[word] >> bit & 1) != 0) {
          PutTexts(values[bit].elements());
        } else {
          PutIntegers(values[bit].elements());
        }
      }
    }
  }

  // Zeros to the next multiple; the end of the record.
  std::uint8_t* Close(const std::uint8_t* begin) {
    Store(at_, std::uint64_t{0});
    const auto used = static_cast<std::size_t>(at_ - begin);
    at_ += (format::Alignment - used % format::Alignment) % format::Alignment;
    return at_;
  }
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  template <typename Word>
  void Put(Word word) {
    Store(at_, word);
    at_ += sizeof word;
  }
  // For what a cell is about; less than nothing where there is no room.
  [[nodiscard]] std::ptrdiff_t RoomForText() const {
    return texts_end_ - at_ - static_cast<std::ptrdiff_t>(sizeof(Cell));
  }

  void PutText(std::string_view text) {
    std::size_t kept = text.size();
    Cell cell = 0;
    if (kept > format::TextBytesMax || static_cast<std::ptrdiff_t>(kept) > RoomForText())
        [[unlikely]] {
      const std::ptrdiff_t room = std::max<std::ptrdiff_t>(RoomForText(), 0);
      kept = std::min({kept, format::TextBytesMax, static_cast<std::size_t>(room)});
      cell = format::CellIsCut;
      is_cut_ = true;
    }
    Put(static_cast<Cell>(kept) | cell);
    CopyText(at_, text.data(), kept);
    at_ += kept;
  }

  void PutTexts(std::span<const Value> elements) {
    PutList(elements, 0, [&](const Value& element) {
      if (static_cast<std::ptrdiff_t>(element.size) > RoomForText()) return false;
      PutText(element.text());
      return true;
    });
  }
  void PutIntegers(std::span<const Value> elements) {
    PutList(elements, format::CellOfNumbers, [&](const Value& element) {
      if (RoomForText() < static_cast<std::ptrdiff_t>(sizeof element.integer)) return false;
      Put(element.integer);
      return true;
    });
  }
  // Its cell is written when it is known how many elements there was room for.
  template <typename PutElement>
  void PutList(std::span<const Value> elements, Cell cell, PutElement put) {
    std::uint8_t* const head = at_;
    at_ += sizeof(Cell);
    std::size_t count = 0;
    while (count < elements.size() && put(elements[count])) ++count;
    cell |= format::CellIsList | static_cast<Cell>(count);
    if (count < elements.size()) {
      cell |= format::CellIsCut;
      is_cut_ = true;
    }
    Store(head, cell);
  }

  std::uint8_t* at_;
  const std::uint8_t* const texts_end_;
  bool is_cut_ = false;
};

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
  header->numbers = Both(present, of.numbers);
  header->others = {present[0] & ~of.numbers[0], present[1] & ~of.numbers[1]};

  Pen pen(begin);
  header->denials = pen.PutRules(verdict.denials);
  header->allows = pen.PutRules(verdict.allows);
  header->trials = pen.PutRules(verdict.trials);
  pen.PutNumbers(header->numbers, said);
  pen.PutOthers(header->others, of, said);
  const auto bytes = static_cast<std::size_t>(pen.Close(begin) - begin);

  header->bytes = static_cast<std::uint32_t>(bytes);
  header->flags = static_cast<std::uint8_t>(
      If(verdict.effect == module::Effect::Allow, format::Allowed) |
      If(verdict.undecided, format::Undecided) | If(pen.is_cut(), format::FactsCut) |
      If(verdict.denials.count > header->denials, format::DenialsCut) |
      If(verdict.allows.count > header->allows, format::AllowsCut) |
      If(verdict.trials.count > header->trials, format::TrialsCut));
  ring_.Publish(bytes);
  return true;
}

}  // namespace curfew::record
