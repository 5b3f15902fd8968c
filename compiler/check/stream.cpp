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

}  // namespace

void CheckStreams(Context& context, const model::Class& of) {
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
      for (const EgressRule& rule : link->network.rules) {
        const bool goes = around == nullptr &&
                          std::any_of(stream.targets.begin(), stream.targets.end(),
                                      [&](const EgressTarget& t) { return GoesAround(t, rule); });
        if (goes) around = &rule;
      }
    }
    if (around == nullptr) continue;
    context.sink.Report(stream.span, diag::StreamAroundRule, around->id)
        .Note(around->span, diag::DeclaredHere, around->id);
  }
}

}  // namespace curfew::check
