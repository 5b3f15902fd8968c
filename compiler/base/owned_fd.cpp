#include "compiler/base/owned_fd.h"

#include <unistd.h>

namespace curfew {

void OwnedFd::Reset() {
  // Linux frees the number even when close reports EINTR, so it is never tried again.
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace curfew
