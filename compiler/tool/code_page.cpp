#include "compiler/tool/code_page.h"

#include "compiler/base/check.h"
#include "compiler/lint/rule.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

// Codes that say the same kind of thing, ascending; a band ends where the next one begins.
struct Band {
  std::uint16_t first;
  std::string_view name;
  std::string_view why;
  std::string_view how;
};
constexpr Band kBands[] = {
    {1000, "source and tokens",
     "People and the compiler must read the same text. What one of them does not see, or reads\n"
     "otherwise, is refused before anything is decided by it.",
     "Write the text at that place anew; `curfew fix` makes the replacement where one is offered."},
    {2000, "syntax",
     "What does not fit the grammar is no part of a rule: one that is half understood may allow\n"
     "what it was written to deny. Reading goes on at the next statement, so that other mistakes "
     "are\nsaid as well.",
     "The message names what was seen, and what could stand there or what it is near to.\n"
     "`grammar/README.md` has every form with an example."},
    {3000, "names",
     "A rule about something that is not there holds for nothing, and a name with two meanings "
     "for\n"
     "something else than its reader thinks. So every name is declared once, in some file of the "
     "set.",
     "Write the name that was meant, declare it, or give the set the file that does. What a name "
     "is\nnear to is a guess: read it before `curfew fix` writes it."},
    {4000, "types",
     "Nothing is converted. A comparison of unlike things, or of a fact that may be absent, would\n"
     "have to mean something, and whichever it is surprises somebody.",
     "Write the literal in the form of the type that is named; ask `has` before an optional fact "
     "is\nread; compare what has an order by order."},
    {5000, "meaning",
     "The text is understood, and what it says cannot be meant: it contradicts itself, lacks what "
     "is\nobligatory, or opens more than the language lets any rule open.",
     "The message names the rule that is broken; a second location is what it is held against. "
     "State\nwhat is missing, or leave out one of the two."},
    {6000, "limits",
     "Every decision ends, in a time that is known beforehand. What a set may hold is bounded for "
     "it.",
     "Split the set, or say the same by fewer rules, shorter lists and shallower conditions."},
    {6500, "proofs",
     "A `never` is in force only where it is proven of every request. What is refuted has a "
     "request\nthat the set allows; what is not decided may have one.",
     "Narrow what allows the request that is named, or deny it; or say less by the `never`."},
    {9000, "suppressions",
     "A finding that is meant is suppressed for a time and with a reason, so that somebody looks "
     "at "
     "it\nagain. A suppression that hides nothing, or forever, would hide the next mistake.",
     "Write `# curfew: allow CODE until TIME because \"…\"` above the line or behind it, for a "
     "year "
     "at\nmost; or mend what it hides, and take it away."},
    {9700, "import",
     "What another product's policy says is carried over only where it means the same here. A\n"
     "restriction that is lost without a word would be a policy that allows more than its source.",
     "Decide what stands in the place of what is not carried over, and write it by hand where the\n"
     "message says so."},
};

const Band& BandOf(std::uint16_t code) {
  const Band* band = std::upper_bound(std::begin(kBands), std::end(kBands), code,
                                      [](std::uint16_t of, const Band& b) { return of < b.first; });
  CURFEW_CHECK(band != std::begin(kBands), "no code is below the first band");
  return *(band - 1);
}

}  // namespace

std::string CodePage(const diagnostics::RegistryEntry& entry) {
  const std::string_view page = lint::PageOf(entry.code);
  if (!page.empty()) return std::string(page);
  const Band& band = BandOf(entry.code);
  return fmt::format("# {} {}\n\n{}\n\n`{}`, {}\n\n## Why\n\n{}\n\n## How to fix\n\n{}\n",
                     diagnostics::CodeName(entry.code), entry.name, PatternOf(entry), band.name,
                     diagnostics::NameOf(entry.severity), band.why, band.how);
}

}  // namespace curfew::tool
