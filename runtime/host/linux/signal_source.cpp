#include "runtime/host/linux/signal_source.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace curfew::host {

Result<std::unique_ptr<SignalSource>> SignalSource::Open(std::initializer_list<int> signals,
                                                         std::function<void(int)> on_signal) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return SystemFailure(errno, "block signals");
  OwnedFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.is_open()) return SystemFailure(errno, "open a descriptor for signals");
  return std::unique_ptr<SignalSource>(new SignalSource(std::move(fd), std::move(on_signal)));
}

std::vector<EventSource::Watch> SignalSource::Watches() const {
  return {{.fd = fd_.get(), .events = POLLIN}};
}

void SignalSource::OnReady() {
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == sizeof info) {
    on_signal_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace curfew::host
