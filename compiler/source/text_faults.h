// What no text of a policy may hold, wherever it stands: what a reader cannot see, or what two
// readers would read differently. Found here, reported by syntax::Lex.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace curfew::source {

enum class TextFaultKind {
  NotUtf8,             // and nothing behind it is judged
  Nul,                 // and nothing behind it is judged
  ByteOrderMark,       //
  LoneCarriageReturn,  // without a line feed
  HiddenCharacter,     // bidirectional, invisible or control
};

struct TextFault {
  TextFaultKind kind;
  std::uint32_t begin;
  std::uint32_t end;
  char32_t code_point;  // 0 where there is none
};

// In order, at most limits::DiagnosticsMax + 1. Linear.
std::vector<TextFault> FindTextFaults(std::string_view text);

// Whether a character changes how text looks without being seen itself.
bool IsHidden(char32_t code_point);

}  // namespace curfew::source
