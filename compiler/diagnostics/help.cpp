#include "compiler/diagnostics/help.h"

#include "compiler/base/text.h"
#include "compiler/diagnostics/fitting.h"
#include "compiler/source/shown.h"

#include <fmt/format.h>

namespace curfew::diagnostics {

namespace {

using source::Shown;

std::string Shortened(std::string_view text) { return ShortenedTo(text, 60); }

// What a reader sees of it: its first line, without the blanks around it where there is more.
std::string_view SeenOf(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text;
  text = text.substr(first);
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

std::string HelpOf(const Fix& fix, const source::SourceMap& sources) {
  const std::string_view old = SeenOf(sources.text(fix.span));
  const bool is_hidden = Shown(old) != old;
  if (fix.replacement.empty()) {
    return is_hidden ? "remove the character" : fmt::format("remove `{}`", Shortened(old));
  }
  const bool has_controls = Shown(fix.replacement) != fix.replacement;
  const std::string replacement =
      has_controls ? Printable(fix.replacement) : ShortenedTo(fix.replacement, 1000);
  if (old.empty() || is_hidden) return fmt::format("put `{}` there", replacement);
  return fmt::format("write `{}` instead of `{}`", replacement, Shortened(old));
}

}  // namespace curfew::diagnostics
