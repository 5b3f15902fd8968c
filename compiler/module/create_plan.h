// What an allowed create comes to: every wish, or its bound's default, as numbers. `eval`, the
// in-language tests and whoever explains a plan ask here; runtime/plan turns the same facts into
// steps of one host.
#pragma once

#include "compiler/module/plan_template.h"
#include "compiler/module/request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace curfew::module {

struct CreatePlan {
  ImageGrant image;
  std::int64_t cpu = 0;
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> disk_bytes;
  std::int64_t ttl_ms = 0;
  Isolation isolation = Isolation::Kvm;
  std::vector<Volume> volumes;           // those that are attached
  std::vector<std::string> secrets;      // that were wished for
  std::vector<std::string> env;          // so too
  std::optional<std::int64_t> token_ms;  // how long the token lives: never longer than the sandbox
};

// Of a create that was allowed in the template's class. Nothing where the two do not fit each
// other, which an allowed create never shows.
std::optional<CreatePlan> PlanOf(const PlanTemplate& granted, const Request& create);

}  // namespace curfew::module
