#include "compiler/tool/root_option.h"

#include "compiler/base/verb.h"

#include <CLI/CLI.hpp>

namespace curfew::tool {

void RootOption::Configure(CLI::App& app) {
  app.add_option("--root", folder_, std::string(RootHelp))->check(CLI::ExistingDirectory);
}

}  // namespace curfew::tool
