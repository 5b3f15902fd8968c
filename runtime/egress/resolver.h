// Asks the world's resolvers for the addresses of a name that is allowed, by c-ares over the
// sockets of Outside: UDP, and TCP where an answer does not fit. Every alias on the way is told.
// Nothing is kept: each new connection asks anew and dials exactly what was judged.
#pragma once

#include "compiler/base/result.h"
#include "compiler/values/address.h"
#include "runtime/egress/gateway.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace curfew::egress {

struct Resolved {
  std::vector<values::Address> addresses;  // IPv4 first; never empty
  std::vector<std::string> aliases;        // canonical, without the name that was asked for
};

class Resolver {
 public:
  static Result<std::unique_ptr<Resolver>> Make(boost::asio::io_context& io, Outside& outside,
                                                const std::vector<Endpoint>& servers,
                                                std::int64_t resolve_ms);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // TimedOut: no resolver answered. NotFound: the name has no address. Malformed: an answer that
  // cannot be used.
  boost::asio::awaitable<Result<Resolved>> Resolve(std::string name);
  // Every question that is open fails now.
  void Cancel();
  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  struct State;
  explicit Resolver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  std::uint64_t asked_ = 0;
};

}  // namespace curfew::egress
