// What a chain of classes puts on record: everything that some class of it wants there, for the
// longest time that one asks for.
#include "compiler/lower/lowering.h"

#include <utility>

namespace curfew::lower {
namespace {

// Where no class of the chain says it.
constexpr std::int64_t kSilentRetainMs = std::int64_t{90} * 24 * 3600 * 1000;

}  // namespace

module::Evidence EvidenceOf(const model::PolicyModel& model, const model::Class& of) {
  model::EvidencePlane plane = BoundsOf(model, of).evidence;
  module::Evidence evidence;
  if (plane.record) evidence.unrecorded_allows = plane.record->except_allows_of;
  evidence.redacted_headers = std::move(plane.redacted_headers);
  evidence.retain_ms = plane.retain_ms.value_or(kSilentRetainMs);
  return evidence;
}

}  // namespace curfew::lower
