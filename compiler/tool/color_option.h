// --color: of every verb that prints for people. Without it a terminal gets colour, unless NO_COLOR
// or TERM speak against it (base/console.h); `always` and `never` have the last word.
#pragma once

#include "compiler/base/console.h"

#include <string>

namespace CLI {
class App;
}

namespace curfew::tool {

class ColorOption {
 public:
  void Configure(CLI::App& app);
  void Apply(Console& console) const;

 private:
  std::string when_ = "auto";
};

}  // namespace curfew::tool
