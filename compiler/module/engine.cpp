#include "compiler/module/engine.h"

#include <algorithm>
#include <optional>

namespace curfew::module {

void DecisionEngine::DecidePrepared(const PreparedRequest& prepared, Verdict& verdict) const {
  Decide(prepared.request(), verdict);
}

void DecisionEngine::DecideAll(std::span<const Request* const> requests,
                               std::span<Verdict> verdicts) const {
  const std::size_t count = std::min(requests.size(), verdicts.size());
  for (std::size_t i = 0; i < count; ++i) Decide(*requests[i], verdicts[i]);
}

PreparedRequest DecisionEngine::Prepare(const Request& request) const {
  return {request, std::nullopt};
}

// Of no module.
InternedText DecisionEngine::Intern(std::string_view text) const {
  return InternedText(text, KeyHits());
}

}  // namespace curfew::module
