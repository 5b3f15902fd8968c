// Every frame that crosses a link of one network namespace from now on, in both directions, whether
// or not the kernel then drops it. In lines for a person and a comparison.
#pragma once

#include "compiler/base/owned_fd.h"

#include <string>
#include <vector>

namespace curfew::tests {

class Capture {
 public:
  explicit Capture(int namespace_fd);

  // What crossed since the last call, oldest first, in the form of
  //   "guest: arp for 10.0.2.2", "gateway: arp from 10.0.2.2", "guest: udp to 10.0.2.2:53",
  //   "guest: kind 86dd"
  std::vector<std::string> Lines();
  // The namespace's links: what could carry a frame away.
  [[nodiscard]] const std::vector<std::string>& links() const { return links_; }

 private:
  OwnedFd socket_;
  std::vector<std::string> links_;
};

}  // namespace curfew::tests
