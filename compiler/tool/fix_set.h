// A policy set with the fixes made that its diagnostics and findings offer, again and again until
// nothing is left to do. No file is written here.
#pragma once

#include "compiler/base/result.h"
#include "compiler/tool/compile_set.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::tool {

struct FixOptions {
  std::int64_t now_ms = 0;           // for which findings are looked for
  std::vector<std::uint16_t> codes;  // only fixes of these; empty: of all
  std::string root;                  // as source::Naming has it
};

struct FixedSet {
  // Of the files of `sources`, in their order. Files that these name are read and never changed.
  std::vector<std::string> texts;
  std::vector<std::string> done;  // "p.curfew:3:7: write `kind` instead of `kid` [CUR3004]"
  Compilation made;               // of the texts
};

// Each round makes what can be made at once and compiles again. What leaves the set worse than it
// was (more errors, or errors of an earlier station) is taken back, and its fixes are tried one by
// one. The guesses of one round are the last: none is made where another was made before, on which
// it would rest.
Result<FixedSet> FixSet(const source::SourceMap& sources, const FixOptions& options);

// So many times a set is compiled; a set needs two rounds, seldom three.
inline constexpr int FixCompilationsMax = 64;

}  // namespace curfew::tool
