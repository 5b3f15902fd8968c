// What a policy would have to say to grant a request, and no more than it.
#pragma once

#include "compiler/module/policy_module.h"
#include "compiler/module/request.h"

#include <optional>
#include <string>

namespace curfew::explain {

struct CoveringStatement {
  std::string plane;      // where it would stand
  std::string statement;  // allow GET "https://files.example/a"
};

// Nothing where one statement could not say it, or the request leaves out what it would name.
std::optional<CoveringStatement> StatementCovering(const module::PolicyModule& policy,
                                                   const module::Request& request);

}  // namespace curfew::explain
