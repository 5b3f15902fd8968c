// Who is at the other end of a local socket, as the kernel knows it: whoever made the socket pair.
#pragma once

#include "compiler/base/result.h"
#include "runtime/host/processes.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace curfew::host {

struct Peer {
  std::string id;                   // "user:ana"
  std::vector<std::string> groups;  // "group:staff", sorted, each once
  bool is_root = false;
  uid_t uid = 0;
  pid_t pid = 0;
};

// Names that are no principals (language.md section 4) are left out of the groups; a user without
// a name is "user:1234", by number.
Result<Peer> PeerOf(int socket);

}  // namespace curfew::host
