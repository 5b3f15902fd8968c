// What a chain of classes puts on record: everything that some class of it wants there, for the
// longest time that one asks for.
#include "compiler/lower/lowering.h"

#include <algorithm>

namespace curfew::lower {
namespace {

// Where no class of the chain says it.
constexpr std::int64_t kSilentRetainMs = std::int64_t{90} * 24 * 3600 * 1000;

}  // namespace

module::Evidence EvidenceOf(const model::PolicyModel& model, const model::Class& of) {
  module::Evidence evidence;
  std::optional<model::ActionSet> unrecorded;
  std::optional<std::int64_t> retain_ms;
  for (const model::Class* link : ChainOf(model, of)) {
    const model::EvidencePlane& plane = link->evidence;
    if (plane.record) {
      const model::ActionSet& except = plane.record->except_allows_of;
      unrecorded = unrecorded ? *unrecorded & except : except;
    }
    evidence.redacted_headers.insert(evidence.redacted_headers.end(),
                                     plane.redacted_headers.begin(), plane.redacted_headers.end());
    if (plane.retain_ms) retain_ms = std::max(retain_ms.value_or(0), *plane.retain_ms);
  }
  evidence.unrecorded_allows = unrecorded.value_or(model::ActionSet());
  auto& headers = evidence.redacted_headers;
  std::sort(headers.begin(), headers.end());
  headers.erase(std::unique(headers.begin(), headers.end()), headers.end());
  evidence.retain_ms = retain_ms.value_or(kSilentRetainMs);
  return evidence;
}

}  // namespace curfew::lower
