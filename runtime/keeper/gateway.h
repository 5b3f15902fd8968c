// Where a gateway is fitted into a keeper: what it is given, and that it ends. Who answers the
// guest, and how, is the business of whoever the composition root chooses.
#pragma once

#include "compiler/base/result.h"
#include "runtime/gate/gate.h"
#include "runtime/host/linux/event_loop.h"
#include "runtime/keeper/questions.h"
#include "runtime/lifecycle/books.h"
#include "runtime/network/network.h"

#include <functional>
#include <memory>
#include <string>

namespace curfew::keeper {

// One that serves. Its end cuts every flow and closes everything that it took from the wire.
class RunningGateway {
 public:
  virtual ~RunningGateway() = default;
};

// References outlive the gateway. It may have a thread of its own; everything here but the wire's
// descriptors belongs to the keeper's.
struct GatewayRequest {
  network::Wire& wire;  // its listening ends are the gateway's to take
  const gate::Gate& gate;
  Questions& questions;
  lifecycle::Books& books;
  host::EventLoop& loop;
  // One line for the task to read inside. On the keeper's thread.
  std::function<void(std::string line)> note_denial;
};

using OpenGateway = std::function<Result<std::unique_ptr<RunningGateway>>(const GatewayRequest&)>;

}  // namespace curfew::keeper
