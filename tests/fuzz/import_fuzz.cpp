// Whatever is imported: the result parses (import holds that itself), no credential gets into it,
// and what must be filled in is in it when there are errors.
#include "compiler/base/check.h"
#include "compiler/import/import.h"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  std::string text(reinterpret_cast<const char*>(data), size);
  // As YAML and, where it is that, as JSON.
  for (const std::string_view name : {"input.yaml", "input.json"}) {
    const import::Imported made = import::Import({std::string(name), text}, "input", {});
    if (!made.policy) {
      CURFEW_CHECK(made.diagnostics.has_errors(), "what is not read has an error");
      continue;
    }
    CURFEW_CHECK(import::FindCredentials(*made.policy, 0).empty(), "no credential is copied");
    CURFEW_CHECK(made.policy->find("fill in: digest") != std::string::npos,
                 "no such policy has an image");
  }
  return 0;
}
