// Comments that say a finding is known and why:
//   # curfew: allow CUR9205 until 2027-03-01T00:00:00Z because "the mirror has no other layout"
// Behind a statement it is about that line; on a line of its own, about the next line that says
// something. Each names one code, a time at which it ends and a reason. Errors cannot be
// suppressed.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/source/source.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace curfew::lint {

struct Suppression {
  source::Span comment;
  source::Span code_span;
  std::uint16_t code = 0;
  std::int64_t until_ms = 0;
  std::string reason;
  // A finding that begins in here is meant.
  source::Span line;
  bool used = false;
};

// What the words of a comment say; `wrong` is what is wrong with them.
struct ReadComment {
  std::optional<Suppression> suppression;
  std::string wrong;
};
// Nothing where the comment is none of these. `comment` is the whole of it with its marks; spans in
// the result are relative to it.
std::optional<ReadComment> ReadSuppression(std::string_view comment);

// The suppressions of one file; what is wrong with them is reported.
std::vector<Suppression> FindSuppressions(const source::SourceMap& sources, source::FileId file,
                                          std::int64_t now_ms, diagnostics::Sink& sink);

// The longest time that one may last from now on; who still means it then says so again.
inline constexpr std::int64_t SuppressionMsMax = std::int64_t{366} * 24 * 3600 * 1000;

}  // namespace curfew::lint
