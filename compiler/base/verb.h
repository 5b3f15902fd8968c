// A verb of the command line, as both halves give theirs to a program's main: what it is called,
// what it takes, and what it does. How arguments become calls is compiler/tool/command_line.h.
#pragma once

#include "compiler/base/console.h"

#include <memory>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace curfew {

// What a command ends with. `run` and `exec` end with their task's own status instead; when Curfew
// itself stops them it is one of the last three.
namespace exit_status {
inline constexpr int Fine = 0;           // fine, or allowed
inline constexpr int CouldNotRun = 1;    // usage, input and output, internal, nothing matched
inline constexpr int No = 2;             // denied, a failed test, would reformat, tampered
inline constexpr int InvalidPolicy = 3;  // the policy set has errors
inline constexpr int Undecided = 4;      // a fact is missing
inline constexpr int TaskTimedOut = 124;
inline constexpr int TaskCouldNotRun = 125;
inline constexpr int TaskDenied = 126;
}  // namespace exit_status

// Of --trust, which verbs of both halves take.
inline constexpr std::string_view TrustHelp =
    "take nothing but a bundle that the owner of this key signed: a public key of Ed25519 in PEM; "
    "repeatable";

// Of --root, likewise.
inline constexpr std::string_view RootHelp =
    "the folder at or below which files of the set may name others (default: the folder of the "
    "file that names one)";

class Verb {
 public:
  Verb() = default;
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;
  virtual ~Verb() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  // One line for the list of verbs, without a full stop.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // What stands at the end of its --help: one example a line, and what the answers mean.
  [[nodiscard]] virtual std::string_view example() const = 0;
  // Adds options, positionals and subcommands, bound to members of the verb. Each flag gets its
  // CURFEW_* variable from the frame.
  virtual void Configure(CLI::App& app) = 0;
  // Called once, after the arguments were read. The exit status.
  virtual int Run(Console& console) = 0;
};

using Verbs = std::vector<std::unique_ptr<Verb>>;

}  // namespace curfew
