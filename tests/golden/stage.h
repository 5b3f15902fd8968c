// A stage of the compiler as the golden tests see it: a set of files in, printed text out.
#pragma once

#include "compiler/source/source.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace curfew::golden {

struct Printed {
  std::string text;     // what the stage made, or its diagnostics
  bool failed = false;  // whether there was an error: such a file is named fail_…
};

struct Stage {
  std::string_view name;  // of its folder
  Printed (*run)(const source::SourceMap& sources);
  // Every diagnostic of these codes is emitted by some fail_ file, or is in uncovered.txt with its
  // reason.
  std::uint16_t first_code;
  std::uint16_t last_code;
  std::string_view extension = ".curfew";  // of its files
};

// Every stage. A new one is a line here and a folder beside it.
std::span<const Stage> Stages();

}  // namespace curfew::golden
