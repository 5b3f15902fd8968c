// curfew: every verb, of the compiler and of the runtime, in one program.
#include "compiler/native/native_engine.h"
#include "compiler/tool/command_line.h"
#include "compiler/tool/engine_choice.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/verbs.h"
#include "runtime/client/verbs.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/network/kernel_networks.h"

#include <exception>
#include <fcntl.h>
#include <iterator>
#include <signal.h>
#include <unistd.h>

namespace {

// A descriptor 0 to 2 that is closed at the start would be given to the next file that is opened,
// and results would be written into it. Open it so that writing fails.
bool OccupyStandardDescriptors() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDONLY);
  } while (fd >= 0 && fd <= 2);
  if (fd < 0) return false;
  close(fd);
  return true;
}

// The keeper stands beside this program, wherever that is.
std::string KeeperProgram() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + "curfew-keeper";
}

int Run(int argc, char** argv, curfew::Console& console) {
  const curfew::host::LinuxHost host;
  curfew::network::KernelNetworks networks;
  const curfew::client::Means means{.files = *host.files,
                                    .processes = *host.processes,
                                    .networks = networks,
                                    .clock = *host.clock,
                                    .entropy = *host.entropy,
                                    .open_policy = curfew::tool::OpenModule,
                                    .make_native_code = curfew::tool::MakeNativeCode,
                                    .seal_native_code = curfew::native::SealImage,
                                    .native_code_maker = curfew::tool::NativeCodeMaker,
                                    .keeper_program = KeeperProgram(),
                                    .try_native_code = curfew::tool::TryNativeCode};
  curfew::Verbs verbs = curfew::tool::CompilerVerbs();
  for (auto& verb : curfew::client::ClientVerbs(means)) verbs.push_back(std::move(verb));
  curfew::tool::Program program{"curfew",
                                "Curfew: policies for agent computers: what a sandbox may do, for "
                                "how long, and that it ends.",
                                curfew::tool::VersionLine(), std::move(verbs)};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return curfew::tool::RunCommandLine(program, arguments, console);
}

}  // namespace

int main(int argc, char** argv) {
  if (!OccupyStandardDescriptors()) return curfew::exit_status::CouldNotRun;
  // A reader that goes away is told by write(2), and must not end a run in its middle.
  static_cast<void>(signal(SIGPIPE, SIG_IGN));
  curfew::Console console(1, 2, curfew::WantsColour(1), curfew::WantsColour(2));
  try {
    return Run(argc, argv, console);
  } catch (const std::exception& error) {
    console.Complain(std::string("internal fault: ") + error.what());
    return curfew::exit_status::CouldNotRun;
  }
}
