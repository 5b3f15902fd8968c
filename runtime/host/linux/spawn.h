// Starts a program that outlives this one: a session of its own, in "/", with no descriptor but
// those that are given.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace curfew::host {

struct Detached {
  pid_t pid = 0;  // a child: whoever started it waits for it, if still there
  OwnedFd pidfd;
};

// `fds[i]` becomes descriptor 3 + i; standard input and output are /dev/null, standard error is
// `errors`. NotFound when there is no such program.
Result<Detached> SpawnDetached(const std::string& program,
                               const std::vector<std::string>& arguments,
                               const std::vector<int>& fds, int errors);

// How a child ended: an exit status, or 128 and its signal. Waits.
int WaitFor(pid_t pid);

}  // namespace curfew::host
