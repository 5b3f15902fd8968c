// One sandbox from its request to its receipt: the runtime's line.
//
//   request ─► gate ─► verdict ─► plan ─► execute ─► serve ─► end ─► receipt
//
// It owns the machine and the sandbox's time, so that authority ends even when whoever started it
// is dead.
#pragma once

#include "compiler/module/engine.h"
#include "runtime/execute/executor.h"
#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"
#include "runtime/host/files.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/host/networks.h"
#include "runtime/host/processes.h"
#include "runtime/keeper/gateway.h"
#include "runtime/keeper/protocol.h"

#include <functional>
#include <memory>

namespace curfew::keeper {

struct LoadedEngine {
  std::unique_ptr<module::DecisionEngine> engine;
  std::string why_not_native;  // where there was native code, and it cannot run
};

// What a composition root gives. References outlive the call.
struct World {
  host::Files& files;
  host::Processes& processes;
  host::Networks& networks;
  const host::Clock& clock;
  host::Entropy& entropy;
  // An engine over the bytes of a module, which outlive it. `native_code` is the module's sealed
  // image, or closed: then, or where this machine cannot run it, the interpreter decides.
  std::function<Result<LoadedEngine>(ByteView bytes, std::uint64_t generation,
                                     const OwnedFd& native_code)>
      load_engine;
  // Who judges what leaves a sandbox. Empty: nobody, and a class that lets anything out is denied
  // (builtin.unsupported).
  OpenGateway open_gateway;
  // Moments at which a test may kill this process.
  execute::Checkpoint checkpoint;
};

// Serves the client at the other end of `control` until its sandbox is closed. The exit status of
// the program: 0 when the books are closed.
int Keep(World& world, OwnedFd control);

}  // namespace curfew::keeper
