// What every engine does around a decision, by its conditions (decision.h).
#pragma once

#include "compiler/interpret/decision.h"
#include "compiler/module/engine.h"

#include <algorithm>
#include <optional>
#include <span>

namespace curfew::interpret {

template <typename Conditions>
module::PreparedRequest Prepare(const module::PolicyModule& policy, const Conditions& conditions,
                                const module::Request& request) {
  constexpr schema::Slot slot = schema::slot::SandboxClass;
  const bool is_in_sandbox = request.action() != schema::Action::Create && request.is_present(slot);
  if (!is_in_sandbox) return {request, std::nullopt};
  module::VerdictRoom room;
  return {request,
          Decision(policy, conditions, UseIndex::Yes, request, room.verdict).Fold(request)};
}

template <typename Conditions>
void DecidePrepared(const module::PolicyModule& policy, const Conditions& conditions,
                    const module::PreparedRequest& prepared, module::Verdict& verdict) {
  Decision decision(policy, conditions, UseIndex::Yes, prepared.request(), verdict);
  const module::PreparedRequest::Fold* fold = prepared.FoldOf(policy.manifest().content);
  if (fold == nullptr) return decision.Run(prepared.request());
  decision.RunPrepared(prepared.request(), *fold);
}

template <typename Conditions>
void DecideAll(const module::PolicyModule& policy, const Conditions& conditions,
               std::span<const module::Request* const> requests,
               std::span<module::Verdict> verdicts) {
  const std::size_t count = std::min(requests.size(), verdicts.size());
  for (std::size_t i = 0; i < count; ++i) {
    Decision(policy, conditions, UseIndex::Yes, *requests[i], verdicts[i]).Run(*requests[i]);
  }
}

}  // namespace curfew::interpret
