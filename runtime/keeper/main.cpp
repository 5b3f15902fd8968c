// curfew-keeper: one sandbox, from its request to its receipt. Started by `curfew`, never by hand:
// its control socket is descriptor 3. It starts itself once more as its machine's watchdog.
#include "compiler/interpret/interpreter.h"
#include "compiler/native/native_engine.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/keeper/egress_desk.h"
#include "runtime/keeper/keeper.h"
#include "runtime/keeper/kill_point.h"
#include "runtime/keeper/watchdog.h"
#include "runtime/network/kernel_networks.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace {

constexpr int ControlFd = 3;

bool IsSocket(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

// An image that is not what it says is refused; one that this machine cannot run is passed over.
curfew::Result<curfew::keeper::LoadedEngine> LoadEngine(curfew::ByteView bytes,
                                                        std::uint64_t generation,
                                                        const curfew::OwnedFd& native_code) {
  CURFEW_TRY(curfew::module::PolicyModule policy,
             curfew::module::PolicyModule::Load(bytes, generation));
  curfew::keeper::LoadedEngine loaded;
  if (native_code.is_open()) {
    auto native = curfew::native::NativeEngine::Make(policy, native_code.get());
    if (native) {
      loaded.engine = *std::move(native);
      return loaded;
    }
    if (native.error().code == curfew::FailureCode::Malformed) return std::move(native).error();
    loaded.why_not_native = native.error().message;
  }
  loaded.engine = std::make_unique<curfew::interpret::Interpreter>(std::move(policy));
  return loaded;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view(curfew::keeper::WatchdogWord)) {
    return curfew::keeper::RunWatchdog();
  }
  if (!IsSocket(ControlFd)) {
    std::fputs("curfew-keeper is started by `curfew run`, not by hand\n", stderr);
    return 1;
  }
  // Disk keys and tokens are in this memory: it is never written to a disk.
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
  // A gateway holds two descriptors for each connection of its guest.
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
  try {
    curfew::host::LinuxHost host;
    curfew::network::KernelNetworks networks;
    curfew::keeper::World world{.files = *host.files,
                                .processes = *host.processes,
                                .networks = networks,
                                .clock = *host.clock,
                                .entropy = *host.entropy,
                                .load_engine = LoadEngine,
                                .open_gateway = curfew::keeper::OpenEgressGateway,
                                .checkpoint = curfew::keeper::KillPoint()};
    return curfew::keeper::Keep(world, curfew::OwnedFd(ControlFd));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "curfew-keeper: %s\n", failure.what());
    return 1;
  }
}
