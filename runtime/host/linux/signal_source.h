// Signals as events: blocked for the whole process from its start, read from a descriptor.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/host/linux/event_loop.h"

#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

namespace curfew::host {

class SignalSource final : public EventSource {
 public:
  // Blocks these signals; a program that is started later must unblock them (spawn.h does).
  static Result<std::unique_ptr<SignalSource>> Open(std::initializer_list<int> signals,
                                                    std::function<void(int)> on_signal);
  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;

 private:
  SignalSource(OwnedFd fd, std::function<void(int)> on_signal)
      : fd_(std::move(fd)), on_signal_(std::move(on_signal)) {}
  OwnedFd fd_;
  std::function<void(int)> on_signal_;
};

}  // namespace curfew::host
