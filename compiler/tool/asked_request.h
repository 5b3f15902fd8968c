// A request that somebody tries on the command line: what it leaves out.
#pragma once

#include "compiler/base/result.h"
#include "compiler/module/request_json.h"

#include <cstdint>
#include <string>

namespace curfew::tool {

// `--now`: the time it says, in milliseconds since 1970, or the present where it is empty.
Result<std::int64_t> TimeOf(const std::string& now);

// Where the document is silent: the time, and a host that can do everything.
void Complete(module::DecodedRequest& decoded, std::int64_t now_ms);

}  // namespace curfew::tool
