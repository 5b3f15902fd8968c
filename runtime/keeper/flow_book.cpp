#include "runtime/keeper/flow_book.h"

#include <algorithm>
#include <utility>

namespace curfew::keeper {
namespace {

// Refused before anything passed.
bool IsPlainRefusal(const egress::Flow& flow) {
  return flow.is_refused() && flow.bytes_out == 0 && flow.bytes_in == 0 && flow.end.empty();
}

// Of two plain refusals: whether their records say the same but for their times. What differs most
// often is looked at first.
bool AreAlike(const egress::Flow& one, const egress::Flow& other) {
  const egress::EgressFacts& a = one.facts;
  const egress::EgressFacts& b = other.facts;
  return a.path == b.path && a.host == b.host && a.port == b.port && a.method == b.method &&
         a.query == b.query && a.ip == b.ip && a.scheme == b.scheme && a.stage == b.stage &&
         one.status == other.status && one.answer.generation == other.answer.generation &&
         one.answer.class_name == other.answer.class_name &&
         one.answer.reasons == other.answer.reasons && one.answer.trials == other.answer.trials;
}

}  // namespace

void FlowBook::Add(const egress::Flow& flow) {
  if (!IsPlainRefusal(flow)) return write_(flow, 1);
  if (Kind* kind = Alike(flow)) {
    if (kind->times == 0) kind->flow.started_ms = flow.started_ms;
    ++kind->times;
    kind->last_wall_ms = flow.started_ms + flow.duration_ms;
    return;
  }
  write_(flow, 1);
  if (kinds_.size() < KindsMax) {
    kinds_.push_back({.flow = flow, .began_ms = clock_.MonotonicNowMs()});
  }
}

FlowBook::Kind* FlowBook::Alike(const egress::Flow& flow) {
  // Who insists does so now: the youngest first.
  const auto found = std::find_if(kinds_.rbegin(), kinds_.rend(),
                                  [&](const Kind& kind) { return AreAlike(kind.flow, flow); });
  return found == kinds_.rend() ? nullptr : &*found;
}

void FlowBook::WriteDue() {
  if (kinds_.empty()) return;
  const std::int64_t now_ms = clock_.MonotonicNowMs();
  while (!kinds_.empty() && now_ms >= kinds_.front().began_ms + TogetherMs) WriteOldest();
}

void FlowBook::WriteAll() {
  while (!kinds_.empty()) WriteOldest();
}

void FlowBook::WriteOldest() {
  Kind kind = std::move(kinds_.front());
  kinds_.pop_front();
  if (kind.times == 0) return;
  // The wall clock may have been set back meanwhile.
  kind.flow.duration_ms = std::max<std::int64_t>(kind.last_wall_ms - kind.flow.started_ms, 0);
  write_(kind.flow, kind.times);
}

}  // namespace curfew::keeper
