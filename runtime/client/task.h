// A task: who asks, for what, what to run, what to bring back. A versioned JSON file
// (task.schema.json), read strictly: an unknown, doubled, missing or ill-typed member is an error
// with its place. Whether its wishes and facts are allowed is policy's affair, not this file's.
#pragma once

#include "compiler/base/json.h"
#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/keeper/protocol.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace curfew::client {

struct TaskCommand {
  keeper::ExecMessage exec;
  std::optional<std::string> stdin_file;  // beside the task file
  bool allow_failure = false;
};

struct Task {
  std::string id;
  std::optional<keeper::StatedCaller> caller;
  std::string image;       // as the task names it: a name of the policy set, or a digest
  evidence::Json request;  // what the keeper is asked; create.image is still to be resolved
  std::vector<TaskCommand> commands;
  std::vector<std::string> exports;
};

// Malformed, with the JSON pointer of each mistake.
Result<Task> ReadTask(std::string_view text);

// Opens a file that stands at or below the task file's folder, through no link. NotFound,
// PermissionDenied.
Result<OwnedFd> OpenBeside(const std::string& task_path, const std::string& name);

}  // namespace curfew::client
