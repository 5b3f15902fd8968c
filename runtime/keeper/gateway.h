// Where a gateway is fitted into a keeper: what it is given, and that it ends. Who answers the
// guest, and how, is the business of whoever the composition root chooses.
#pragma once

#include "compiler/base/result.h"
#include "runtime/gate/gate.h"
#include "runtime/host/linux/event_loop.h"
#include "runtime/keeper/questions.h"
#include "runtime/lifecycle/books.h"
#include "runtime/network/network.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace curfew::keeper {

// One that serves. Its end cuts every flow and closes everything that it took from the wire.
class RunningGateway {
 public:
  // Both are called with the lock held, and let it go while they wait for the gateway.
  virtual ~RunningGateway() = default;
  // Judges every live flow again; how many it had to cut.
  virtual std::size_t Rejudge() = 0;
};

// Lets go of a lock that is held, and takes it again.
class LetGo {
 public:
  explicit LetGo(std::mutex& lock) : lock_(lock) { lock_.unlock(); }
  ~LetGo() { lock_.lock(); }
  LetGo(const LetGo&) = delete;
  LetGo& operator=(const LetGo&) = delete;

 private:
  std::mutex& lock_;
};

// References outlive the gateway. Whoever touches the sandbox's books, gate, questions or time
// holds `lock`: the gateway's thread for each of its calls, and the keeper's always but while it
// waits, for its loop or for the gateway, and while it makes the engine of the next policy set.
struct GatewayRequest {
  network::Wire& wire;  // its listening ends are the gateway's to take
  const gate::Gate& gate;
  Questions& questions;
  lifecycle::Books& books;
  const host::Clock& clock;
  std::mutex& lock;
  host::EventLoop& loop;
  int dial_from = -1;                  // the network namespace to dial from; -1: the keeper's own
  std::vector<std::string> resolvers;  // to ask; empty: those of this host
  std::function<SandboxFacts()> sandbox_facts;  // with the lock held, on any thread
  // How long the class of the sandbox counts a request for; so too.
  std::function<std::int64_t()> window_ms;
  // One line for the task to read inside; and how many there was no room for. On the keeper's
  // thread.
  std::function<void(std::string line)> note_denial;
  std::function<void(std::size_t count)> note_untold_denials;
  // At the end: so many flows could not be put on record.
  std::function<void(std::uint64_t count)> note_lost_flows;
};

using OpenGateway = std::function<Result<std::unique_ptr<RunningGateway>>(const GatewayRequest&)>;

}  // namespace curfew::keeper
