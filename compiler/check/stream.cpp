// Byte streams beside rules of the network plane, along a chain: a stream shows no method and no
// path, so it must not lead where rules judge by those (language.md section 6).
#include "compiler/check/chain.h"
#include "compiler/check/grant_meeting.h"
#include "compiler/model/chain.h"

#include <algorithm>

namespace curfew::check {
namespace {

using model::EgressRule;
using model::EgressTarget;

// Whether a byte stream to `stream` could carry what `rule` judges by more than host and port.
bool GoesAround(const EgressTarget& stream, const EgressRule& rule) {
  const bool allow = rule.effect == EgressRule::Effect::Allow;
  const std::vector<model::PortRange> web = {{80, 80}, {443, 443}};
  return std::any_of(rule.targets.begin(), rule.targets.end(), [&](const EgressTarget& target) {
    // A rule that covers streams itself is not gone around.
    if (target.tcp || (!target.http && !target.https)) return false;
    const bool judges_more = rule.websocket || !rule.methods.empty() || !rule.query.empty();
    if (allow && !judges_more && !target.path) return false;
    if (!PlacesMeet(stream, target) || !PortsMeet(stream.ports, target.ports)) {
      return false;
    }
    return allow || target.place.has_value() || PortsMeet(stream.ports, web);
  });
}

bool IsStream(const EgressRule& rule) {
  return rule.effect == EgressRule::Effect::Allow && rule.targets.front().tcp;
}

// The first rule by id that the stream goes around; null where there is none.
const EgressRule* FirstAround(const EgressRule& stream, const RuleIndex& rules) {
  const EgressRule* first = nullptr;
  for (const EgressTarget& target : stream.targets) {
    static_cast<void>(rules.Any(target, [&](const EgressRule& rule) {
      if ((first == nullptr || rule.id < first->id) && GoesAround(target, rule)) first = &rule;
      return false;
    }));
  }
  return first;
}

}  // namespace

void CheckStreams(Context& context, const model::Class& of, ClassIndexes& indexes) {
  const auto writers = WritersOf(context.model, of, model::Grant::Egress);
  if (writers.empty()) return;
  // Of a chain's streams those pass that the last one who writes allows lets pass too.
  const model::Class* last = writers.back();
  for (const EgressRule& stream : last->network.rules) {
    if (!IsStream(stream)) continue;
    const EgressRule* around = nullptr;
    for (const model::Class* link : ChainOf(context.model, of)) {
      // What stands above this class was said there.
      if (last != &of && link != &of) continue;
      if (around == nullptr) around = FirstAround(stream, indexes.Of(*link).rules);
    }
    if (around == nullptr) continue;
    context.sink.Report(stream.span, diag::StreamAroundRule, around->id)
        .Note(around->span, diag::DeclaredHere, around->id);
  }
}

}  // namespace curfew::check
