#include "compiler/source/text_faults.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"

#include <algorithm>
#include <array>

namespace curfew::source {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Format characters (Unicode category Cf), variation selectors, fillers, line and paragraph
// separators, and all controls but tab, line feed and carriage return. Sorted.
constexpr std::array Hidden{
    Range{0x0000, 0x0008},   Range{0x000B, 0x000C},   Range{0x000E, 0x001F},
    Range{0x007F, 0x009F},   Range{0x00AD, 0x00AD},   Range{0x034F, 0x034F},
    Range{0x0600, 0x0605},   Range{0x061C, 0x061C},   Range{0x06DD, 0x06DD},
    Range{0x070F, 0x070F},   Range{0x0890, 0x0891},   Range{0x08E2, 0x08E2},
    Range{0x115F, 0x1160},   Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},
    Range{0x200B, 0x200F},   Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0x3164, 0x3164},   Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},
    Range{0xFFA0, 0xFFA0},   Range{0xFFF0, 0xFFFB},   Range{0x110BD, 0x110BD},
    Range{0x110CD, 0x110CD}, Range{0x13430, 0x1345F}, Range{0x1BCA0, 0x1BCA3},
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF},
};

constexpr char32_t ByteOrderMark = 0xFEFF;

}  // namespace

bool IsHidden(char32_t code_point) {
  if (code_point == '\t' || code_point == '\n' || code_point == '\r') return false;
  const auto* after =
      std::upper_bound(Hidden.begin(), Hidden.end(), code_point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return after != Hidden.begin() && code_point <= (after - 1)->last;
}

std::vector<TextFault> FindTextFaults(std::string_view text) {
  std::vector<TextFault> faults;
  std::size_t at = 0;
  const auto add = [&](TextFaultKind kind, std::size_t bytes, char32_t code_point) {
    faults.push_back(
        {kind, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + bytes), code_point});
  };
  while (at < text.size() && faults.size() <= limits::DiagnosticsMax) {
    const auto byte = static_cast<unsigned char>(text[at]);
    std::size_t bytes = 1;
    if (byte == 0) {
      add(TextFaultKind::Nul, 1, 0);
      break;
    }
    if (byte == '\r') {
      if (at + 1 == text.size() || text[at + 1] != '\n') {
        add(TextFaultKind::LoneCarriageReturn, 1, '\r');
      }
    } else if (byte < 0x80) {
      if (IsHidden(byte)) add(TextFaultKind::HiddenCharacter, 1, byte);
    } else {
      const auto code_point = DecodeUtf8(text.substr(at));
      if (!code_point) {
        add(TextFaultKind::NotUtf8, 1, 0);
        break;
      }
      bytes = code_point->bytes;
      if (code_point->value == ByteOrderMark && at == 0) {
        add(TextFaultKind::ByteOrderMark, bytes, ByteOrderMark);
      } else if (IsHidden(code_point->value)) {
        add(TextFaultKind::HiddenCharacter, bytes, code_point->value);
      }
    }
    at += bytes;
  }
  return faults;
}

}  // namespace curfew::source
