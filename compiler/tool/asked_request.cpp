#include "compiler/tool/asked_request.h"

#include "compiler/values/quantity.h"

#include <chrono>

namespace curfew::tool {

Result<std::int64_t> TimeOf(const std::string& now) {
  using namespace std::chrono;
  if (now.empty()) {
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  }
  const auto parsed = values::ParseTime(now);
  if (!parsed) return Failure(FailureCode::Usage, "--now: " + parsed.error().message);
  return *parsed;
}

void Complete(module::DecodedRequest& decoded, std::int64_t now_ms) {
  if (!decoded.request.is_known(schema::slot::Now)) decoded.request.SetNow(now_ms);
  module::GiveWholeHost(decoded);
}

}  // namespace curfew::tool
