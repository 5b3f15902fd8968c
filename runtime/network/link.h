// Links, addresses and neighbours of the calling thread's network namespace, by libnl. One use,
// one thread: a conversation belongs to the namespace in which it was opened.
#pragma once

#include "compiler/base/result.h"
#include "runtime/host/networks.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct nl_sock;

namespace curfew::network {

class Links {
 public:
  static Result<Links> Open();

  Result<std::vector<host::LinkSeen>> All();
  // Its MAC, and a text for whoever finds it. Before it is up.
  Outcome Dress(const host::LinkSeen& link, std::string_view mac, const std::string& alias);
  Outcome AddAddress(const host::LinkSeen& link, std::string_view address, unsigned prefix_length);
  Outcome Raise(const host::LinkSeen& link);
  // No packet changes this neighbour. After the link is up.
  Outcome FixNeighbour(const host::LinkSeen& link, std::string_view address, std::string_view mac);

 private:
  struct Close {
    void operator()(nl_sock* socket) const;
  };
  explicit Links(std::unique_ptr<nl_sock, Close> socket) : socket_(std::move(socket)) {}
  std::unique_ptr<nl_sock, Close> socket_;
};

}  // namespace curfew::network
