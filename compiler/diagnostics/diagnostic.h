// What a diagnostic is, and the typed constants made from registry.def. To report one, see sink.h;
// to print, render.h. A mistake of the author is a diagnostic; a failure of the world is a Failure.
#pragma once

#include "compiler/source/source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::diagnostics {

enum class Severity { Error, Warning, Info };
std::string_view NameOf(Severity severity);

// What a message is made from. Both are formatted at once, so nothing has to outlive the report.
using Text = std::string_view;
using Number = std::int64_t;

// One kind of diagnostic, and the types of what its message needs.
template <typename... Args>
struct Kind {
  std::uint16_t code;
  Severity severity;
  std::string_view format;
};
// A remark about a second location.
template <typename... Args>
struct NoteKind {
  std::string_view format;
};

struct Note {
  source::Span span;
  std::string message;
};

// Text that a tool may put in the place of `span` (an empty span inserts).
struct Fix {
  source::Span span;
  std::string replacement;
};

struct Diagnostic {
  std::uint16_t code = 0;
  Severity severity = Severity::Error;
  source::Span span;
  std::string message;
  std::vector<Note> notes;
  std::vector<Fix> fixes;
};

// "CUR2014"
std::string CodeName(std::uint16_t code);

struct RegistryEntry {
  std::uint16_t code;
  std::string_view name;
  Severity severity;
  std::string_view format;
  std::size_t argument_count;
};
// Every diagnostic, ascending by code.
std::span<const RegistryEntry> Registry();
// Null for a code that is none.
const RegistryEntry* FindEntry(std::uint16_t code);

// The entry's message before anything was seen: `…` stands for what will be.
std::string PatternOf(const RegistryEntry& entry);

// Whether `format` uses exactly {0} to {count - 1}.
constexpr bool HasArity(std::string_view format, std::size_t count) {
  std::uint32_t used = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '}' && i + 1 < format.size() && format[i + 1] == '}') ++i;
    if (format[i] != '{') continue;
    if (i + 1 < format.size() && format[i + 1] == '{') {
      ++i;
      continue;
    }
    if (i + 2 >= format.size() || format[i + 2] != '}') return false;
    if (format[i + 1] < '0' || format[i + 1] > '9') return false;
    used |= 1U << (format[i + 1] - '0');
  }
  return used == (1U << count) - 1;
}

}  // namespace curfew::diagnostics

// `diag::UnknownAttribute` and so on: what Sink::Report and Draft::Note take.
namespace curfew::diag {

using diagnostics::Number;
using diagnostics::Text;

#define CURFEW_RETIRED(code)
#define CURFEW_NOTE(name, format, ...) \
  inline constexpr diagnostics::NoteKind<__VA_ARGS__> name{format};
#define CURFEW_DIAGNOSTIC(code, name, severity, format, ...)                                  \
  inline constexpr diagnostics::Kind<__VA_ARGS__> name{code, diagnostics::Severity::severity, \
                                                       format};
#include "compiler/diagnostics/registry.def"
#undef CURFEW_DIAGNOSTIC
#undef CURFEW_NOTE
#undef CURFEW_RETIRED

}  // namespace curfew::diag
