// A real machine under test: image, scratch disk, control groups, QEMU, agent, and the poll loop
// that a keeper would be.
#pragma once

#include "runtime/disk/scratch.h"
#include "runtime/guest/session.h"
#include "runtime/image/image.h"
#include "runtime/machine/cgroups.h"
#include "runtime/machine/machine.h"
#include "runtime/network/network.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace curfew::tests {

// What a command did, once it is over.
struct Ran {
  guest::Prepared prepared;
  Result<guest::Exited> exited = Failure(FailureCode::Undecided, "it did not end");
  std::string out;
  std::string error;
};

class GuestRig {
 public:
  // Why no machine can be booted here; empty when one can.
  static std::string Missing();

  // Boots up to Ready, with a scratch disk at /work. With a network: on a wire whose gateway is the
  // test; `on_wired` sees the wire before there is a machine.
  enum class Network { None, Wired };
  explicit GuestRig(Network network = Network::None,
                    const std::function<void(const network::Wire&)>& on_wired = {});
  ~GuestRig();

  // Polls everything until `done`; false when that took more than `patience_ms`.
  bool Drive(const std::function<bool()>& done, std::int64_t patience_ms = 120'000);
  // What else is done on each turn, at least each 50 ms.
  std::function<void()> on_turn;

  // Asks, runs, feeds `input`, and reads to the end.
  Ran Run(std::vector<std::string> arguments, const std::string& input = {},
          std::int64_t timeout_ms = 0, const std::string& user = "agent");
  std::string Fetch(const guest::File& file);

  machine::Machine& vm() { return *machine_; }
  guest::Session& session() { return *session_; }
  network::Wire& wire() { return *wire_; }
  const machine::Cgroups& cgroups() const { return *cgroups_; }
  // Drops the machine and its session, as the death of their owner would.
  void Lose();

  static std::int64_t NowMs();

 private:
  std::string state_;
  std::optional<image::Image> image_;
  std::optional<machine::Cgroups> cgroups_;
  std::optional<network::Wire> wire_;
  std::unique_ptr<machine::Machine> machine_;
  std::unique_ptr<guest::Session> session_;
};

}  // namespace curfew::tests
