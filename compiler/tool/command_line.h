// The frame that every verb hangs in: from arguments to a call and an exit status. It gives each
// verb its --help with an example, each flag its CURFEW_* variable, a typo the nearest name, and
// shells their completion. What the verbs do is theirs.
#pragma once

#include "compiler/base/verb.h"

#include <span>
#include <string>
#include <string_view>

namespace curfew::tool {

struct Program {
  std::string_view name;     // "curfew"
  std::string_view summary;  // one line
  std::string_view version;  // what --version prints
  Verbs verbs;
};

// Reads `arguments` (without the program's own name), runs one verb, and returns the exit status of
// the process: the verb's, or 1 with a complaint when the arguments could not be read or the
// results could not be written.
int RunCommandLine(const Program& program, std::span<const std::string> arguments,
                   Console& console);

enum class Shell { Bash, Zsh, Fish };
// A script that completes verbs, flags, their fixed values and file names, generated from the same
// tree that reads the arguments.
std::string CompletionScript(const Program& program, Shell shell);

}  // namespace curfew::tool
