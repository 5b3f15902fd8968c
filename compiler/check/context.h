// What the checkers of all constructs share while one set is checked.
#pragma once

#include "compiler/base/limits.h"
#include "compiler/check/names.h"
#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::check {

struct Context {
  model::PolicyModel& model;
  diagnostics::Sink& sink;
  const Names& names;
  // Trees with syntax errors lack statements: what is missing is then not reported.
  bool partial = false;

  // Places of attributes in the model's expressions, by path and whether absence must be asked for.
  std::map<std::pair<std::string, bool>, std::uint32_t, std::less<>> attribute_uses = {};

  struct ClaimedId {
    std::string text;  // what the rule says
    Span span;
  };
  std::map<std::string, ClaimedId, std::less<>> ids = {};
  bool too_many_rules = false;
  // Elements of lists, for each place that names one; bounded, and the first beyond is reported.
  std::size_t named_elements = 0;
  // Lists with mistakes of their own, which are not said again where the list is named.
  std::set<std::string, std::less<>> broken_lists = {};
  // Classes, and the floor, whose `tls` or `secrets` has a mistake: what rests on it is not judged.
  std::set<std::string, std::less<>> unread_tls = {};
  std::set<std::string, std::less<>> unread_secrets = {};
};

// The id of a rule that says `text`: `scope.label`, or `scope.effect_HHHHHHHHHHHH`. Nothing when
// the same rule is there already, which is no mistake, or when the id is another's, which was
// reported.
std::optional<std::string> ClaimId(Context& context, std::string_view scope,
                                   const std::optional<syntax::Name>& label,
                                   std::string_view effect, std::string_view text, Span span);

// "unknown {what} `{name}`; did you mean …?", with its fix.
void ReportUnknown(Context& context, std::string_view what, const syntax::Name& name,
                   std::span<const std::string_view> candidates);

// The same of names that are many: `candidates` gathers them where somebody sees the report.
template <typename Candidates>
  requires std::invocable<const Candidates&>
void ReportUnknown(Context& context, std::string_view what, const syntax::Name& name,
                   const Candidates& candidates) {
  const bool is_shown = context.sink.error_count() < limits::DiagnosticsMax;
  const std::vector<std::string_view> names =
      is_shown ? candidates() : std::vector<std::string_view>();
  ReportUnknown(context, what, name, std::span(names));
}

}  // namespace curfew::check
