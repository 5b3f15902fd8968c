// Which file a command means, found as the user would find it, and kept open: the file that was
// named to the host is the file that runs.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/guest/protocol.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace curfew::guest {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string home;
  std::string shell;
};

// By the guest's /etc/passwd.
Result<User> FindUser(const std::string& name);

// `defaults`, then what the user's account says, then `wanted`; the last word on a name counts.
std::vector<std::string> MergeEnvironment(const std::vector<std::string>& defaults,
                                          const User& user, const std::vector<std::string>& wanted);

struct Program {
  OwnedFd file;      // O_PATH
  std::string path;  // absolute, without links
  bool script = false;
};

// Looks `name` up in PATH of `environment`, or takes it as a path from `directory` when it has a
// slash. Links are followed, also across mounts, but not the magic ones of /proc.
Result<Program> FindProgram(const std::string& name, const std::string& directory,
                            const std::vector<std::string>& environment, const User& user);

}  // namespace curfew::guest
