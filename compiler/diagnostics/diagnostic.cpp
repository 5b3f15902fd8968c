#include "compiler/diagnostics/diagnostic.h"

#include "compiler/base/check.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::diagnostics {

namespace {

template <typename... Args>
constexpr std::size_t CountOf(const Kind<Args...>&) {
  return sizeof...(Args);
}
template <typename... Args>
constexpr std::size_t CountOf(const NoteKind<Args...>&) {
  return sizeof...(Args);
}

constexpr RegistryEntry Entries[] = {
#define CURFEW_RETIRED(code)
#define CURFEW_NOTE(name, format, ...)
#define CURFEW_DIAGNOSTIC(code, name, severity, format, ...) \
  {code, #name, Severity::severity, format, CountOf(diag::name)},
#include "compiler/diagnostics/registry.def"
#undef CURFEW_DIAGNOSTIC
#undef CURFEW_NOTE
#undef CURFEW_RETIRED
};

// With the retired ones: a code is never used twice.
constexpr std::uint16_t Codes[] = {
#define CURFEW_RETIRED(code) code,
#define CURFEW_NOTE(name, format, ...)
#define CURFEW_DIAGNOSTIC(code, name, severity, format, ...) code,
#include "compiler/diagnostics/registry.def"
#undef CURFEW_DIAGNOSTIC
#undef CURFEW_NOTE
#undef CURFEW_RETIRED
};

constexpr bool CodesAscend() {
  for (std::size_t i = 1; i < std::size(Codes); ++i) {
    if (Codes[i - 1] >= Codes[i]) return false;
  }
  return true;
}
static_assert(CodesAscend(), "registry.def is sorted by code and no code stands twice");

#define CURFEW_RETIRED(code)
#define CURFEW_NOTE(name, format, ...) \
  static_assert(HasArity(format, CountOf(diag::name)), #name " uses each of its arguments");
#define CURFEW_DIAGNOSTIC(code, name, severity, format, ...) \
  static_assert(HasArity(format, CountOf(diag::name)), #name " uses each of its arguments");
#include "compiler/diagnostics/registry.def"
#undef CURFEW_DIAGNOSTIC
#undef CURFEW_NOTE
#undef CURFEW_RETIRED

}  // namespace

std::string_view NameOf(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "info";
  }
  CURFEW_UNREACHABLE("the switch names every severity");
}

std::string CodeName(std::uint16_t code) { return fmt::format("CUR{:04}", code); }

std::span<const RegistryEntry> Registry() { return Entries; }

const RegistryEntry* FindEntry(std::uint16_t code) {
  const auto* const found = std::lower_bound(
      std::begin(Entries), std::end(Entries), code,
      [](const RegistryEntry& entry, std::uint16_t wanted) { return entry.code < wanted; });
  return found != std::end(Entries) && found->code == code ? found : nullptr;
}

std::string PatternOf(const RegistryEntry& entry) {
  std::string text;
  for (std::size_t i = 0; i < entry.format.size(); ++i) {
    const char c = entry.format[i];
    const bool is_brace = c == '{' || c == '}';
    if (is_brace && i + 1 < entry.format.size() && entry.format[i + 1] == c) {
      ++i;
      text += c;
    } else if (c == '{') {
      i = entry.format.find('}', i);
      text += "…";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace curfew::diagnostics
