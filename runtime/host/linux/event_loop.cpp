#include "runtime/host/linux/event_loop.h"

#include <algorithm>
#include <limits>
#include <poll.h>

namespace curfew::host {

bool EventLoop::RunUntil(const std::function<bool()>& done, std::optional<std::int64_t> until_ms) {
  while (!done()) {
    if (until_ms && clock_.MonotonicNowMs() >= *until_ms) return false;
    Turn(until_ms);
  }
  return true;
}

bool EventLoop::IsThere(const EventSource* source) const {
  return std::find(sources_.begin(), sources_.end(), source) != sources_.end();
}

void EventLoop::Turn(std::optional<std::int64_t> until_ms) {
  const std::vector<EventSource*> sources = sources_;
  std::vector<pollfd> polled;
  std::vector<EventSource*> owners;
  std::optional<std::int64_t> next = until_ms;
  for (EventSource* source : sources) {
    for (const EventSource::Watch& watch : source->Watches()) {
      polled.push_back({.fd = watch.fd, .events = watch.events, .revents = 0});
      owners.push_back(source);
    }
    if (const std::optional<std::int64_t> due = source->due_ms()) {
      next = next ? std::min(*next, *due) : *due;
    }
  }
  int wait_ms = -1;
  if (next) {
    wait_ms = static_cast<int>(std::clamp<std::int64_t>(*next - clock_.MonotonicNowMs(), 0,
                                                        std::numeric_limits<int>::max()));
  }
  if (lock_ != nullptr) lock_->unlock();
  const int ready = poll(polled.data(), polled.size(), wait_ms);
  if (lock_ != nullptr) lock_->lock();
  // An interrupted or failed wait is a turn in which nothing was ready.
  if (ready < 0) polled.clear();
  EventSource* last = nullptr;
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0 || owners[i] == last || !IsThere(owners[i])) continue;
    last = owners[i];
    last->OnReady();
  }
  for (EventSource* source : sources) {
    if (!IsThere(source)) continue;
    const std::optional<std::int64_t> due = source->due_ms();
    if (due && clock_.MonotonicNowMs() >= *due) source->OnTime();
  }
}

}  // namespace curfew::host
