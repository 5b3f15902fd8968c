#include "compiler/tool/result_verb.h"

namespace curfew::tool {

void ResultVerb::Configure(CLI::App& app) {
  ConfigureRest(app);
  color_.Configure(app);
}

int ResultVerb::Run(Console& console) {
  color_.Apply(console);
  const Result<int> status = TryRun(console);
  if (status) return *status;
  console.Complain(status.error().message);
  return ExitStatusOf(status.error().code);
}

}  // namespace curfew::tool
