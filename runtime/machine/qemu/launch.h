// Turning a child of ours into a QEMU without privileges: everything that must happen between fork
// and exec, in the order in which it works.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace curfew::machine::qemu {

struct LaunchRequest {
  std::vector<std::string> command_line;  // the zeroth is the path of the program
  std::vector<int> descriptors;           // become 3, 4, …; nothing else is inherited
  int standard_error = -1;
  std::vector<std::string> cgroup_procs;
  uid_t uid = 0;
  gid_t gid = 0;
  bool kvm = false;
};

// Joins the cgroups, leaves the network, IPC, host name and mounts behind, gives up every
// capability and the way to get one back, becomes the uid, and executes. The process dies with the
// thread that called. A Failure names the step that did not work; nothing is then left.
Result<pid_t> Launch(const LaunchRequest& request);

}  // namespace curfew::machine::qemu
