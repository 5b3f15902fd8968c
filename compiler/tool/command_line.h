// The frame that every verb hangs in: from arguments to a call and an exit status. It gives each
// verb its --help with an example, each flag its CURFEW_* variable, a typo the nearest name, and
// shells their completion (completion.h). What the verbs do is theirs.
#pragma once

#include "compiler/base/verb.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::tool {

struct Program {
  std::string_view name;     // "curfew"
  std::string_view summary;  // one line
  std::string version;       // what --version prints
  Verbs verbs;
};

// Reads `arguments` (without the program's own name), runs one verb, and returns the exit status of
// the process: the verb's, or 1 with a complaint when the arguments could not be read or the
// results could not be written. `help [VERB]` and `completion SHELL` are the frame's own.
int RunCommandLine(const Program& program, std::span<const std::string> arguments,
                   Console& console);

// A verb's options in CLI11's own form, as the frame reads and completes them.
std::unique_ptr<CLI::App> TreeOf(const Program& program, Verb& verb);

// "; did you mean `check`?", or nothing where no name is near.
std::string DidYouMean(std::string_view written, std::span<const std::string_view> names);

}  // namespace curfew::tool
