// A socket that another process finds by its name, for messages (message_socket.h). The name is an
// abstract one: it stands in no file system and goes with the last descriptor. Everybody may
// connect, so each side asks the kernel who the other is (peer.h).
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <optional>
#include <string>

namespace curfew::host {

// Close-on-exec and non-blocking, as are all below. Busy when the name is taken.
Result<OwnedFd> ListenAt(const std::string& name);
// Nothing when nobody waits.
Result<std::optional<OwnedFd>> AcceptOne(const OwnedFd& listener);
// NotFound when nobody listens.
Result<OwnedFd> ConnectTo(const std::string& name);

}  // namespace curfew::host
