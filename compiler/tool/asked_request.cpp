#include "compiler/tool/asked_request.h"

#include "compiler/module/capability.h"
#include "compiler/values/quantity.h"

#include <chrono>
#include <vector>

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
  module::Request& request = decoded.request;
  if (!request.is_known(schema::slot::Now)) request.SetNow(now_ms);
  if (request.is_known(schema::slot::HostCapabilities)) return;
  std::vector<module::Value> all;
  for (const std::string_view word : module::capability::All) {
    all.push_back(module::Value::OfText(word));
  }
  request.Set(schema::slot::HostCapabilities,
              module::Value::OfItems(decoded.arena.Keep(std::move(all))));
}

}  // namespace curfew::tool
