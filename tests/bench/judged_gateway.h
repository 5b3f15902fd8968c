// A gateway as a keeper has it, for the benchmark: the keeper's own desk, questions and books in
// front of it, native code behind them, every flow on record. What is played is the wire alone: the
// guest is whoever connects to `port`; at the loopback's address that is the gateway as a proxy, at
// the address of a name port 80 of that name.
#pragma once

#include "compiler/base/result.h"
#include "runtime/egress/gateway.h"

#include <cstdint>
#include <memory>
#include <string>

namespace curfew::bench {

class JudgedGateway {
 public:
  // By the policy set in this file, whose one class is `work`; state is kept below `directory`.
  // Asks the resolver at `resolver`, port 53.
  static Result<std::unique_ptr<JudgedGateway>> Open(const std::string& policy_path,
                                                     const std::string& directory,
                                                     const std::string& resolver);
  ~JudgedGateway();

  [[nodiscard]] std::uint16_t port() const;
  // What the gateway's name server answers for a name.
  [[nodiscard]] Result<std::string> AddressOf(const std::string& name) const;
  [[nodiscard]] egress::Gateway& gateway();
  // What decides: native or interpreter.
  [[nodiscard]] std::string engine() const;

 private:
  struct Parts;
  explicit JudgedGateway(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace curfew::bench
