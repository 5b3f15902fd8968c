// Completion scripts for shells, generated from the same tree that reads the arguments (CLI11 has
// none of its own).
#pragma once

#include "compiler/tool/command_line.h"

#include <optional>

namespace curfew::tool {

enum class Shell { Bash, Zsh, Fish };
std::optional<Shell> ShellOf(std::string_view word);

// Completes verbs, flags, the words that a flag takes, and file names everywhere else.
std::string CompletionScript(const Program& program, Shell shell);

}  // namespace curfew::tool
