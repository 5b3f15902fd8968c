#include "compiler/tool/color_option.h"

#include <CLI/CLI.hpp>

namespace curfew::tool {

void ColorOption::Configure(CLI::App& app) {
  app.add_option("--color", when_,
                 "colour: auto (on a terminal, without NO_COLOR), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void ColorOption::Apply(Console& console) const {
  if (when_ != "auto") console.set_colour(when_ == "always");
}

}  // namespace curfew::tool
