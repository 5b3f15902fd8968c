#include "compiler/model/policy_model.h"

#include <algorithm>

namespace curfew::model {

bool ReadsInsideTls(const EgressRule& rule) {
  const bool reads_all =
      rule.websocket || !rule.methods.empty() || !rule.query.empty() || rule.secret.has_value();
  return std::any_of(rule.targets.begin(), rule.targets.end(), [&](const EgressTarget& target) {
    const bool reads_path = target.path && target.path->text != "/**";
    return target.https && (reads_all || reads_path);
  });
}

}  // namespace curfew::model
