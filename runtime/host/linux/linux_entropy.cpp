#include "runtime/host/linux/linux_host.h"

#include <cerrno>
#include <sys/random.h>

namespace curfew::host {

namespace {

class LinuxEntropy final : public Entropy {
 public:
  Result<Bytes> Draw(std::size_t bytes) override {
    Bytes drawn(bytes);
    for (std::size_t have = 0; have < bytes;) {
      const ssize_t got = getrandom(drawn.data() + have, bytes - have, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return SystemFailure(errno, "draw random bytes");
      have += static_cast<std::size_t>(got);
    }
    return drawn;
  }
};

}  // namespace

std::unique_ptr<Entropy> MakeLinuxEntropy() { return std::make_unique<LinuxEntropy>(); }

}  // namespace curfew::host
