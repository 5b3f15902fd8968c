// One thread, one loop: waits until something that it was given is ready or due. A source owns its
// descriptors; the loop asks it each time what to wait for. Straight-line code says what it waits
// for (RunUntil), sources only note what came: a source never runs the loop.
#pragma once

#include "runtime/host/clock.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace curfew::host {

class EventSource {
 public:
  struct Watch {
    int fd;
    short events;  // of poll(2)
  };
  EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;
  virtual ~EventSource() = default;
  [[nodiscard]] virtual std::vector<Watch> Watches() const = 0;
  // One of them is ready; looks at all.
  virtual void OnReady() = 0;
  // Monotonic; OnTime is called then at the latest.
  [[nodiscard]] virtual std::optional<std::int64_t> due_ms() const { return std::nullopt; }
  virtual void OnTime() {}
};

class EventLoop {
 public:
  // Whoever runs the loop holds `lock`, if there is one, and it is let go while the loop waits:
  // what another thread shares with the sources.
  explicit EventLoop(const Clock& clock, std::mutex* lock = nullptr) : clock_(clock), lock_(lock) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // A source is removed before it goes; also from within another, not from within itself.
  void Add(EventSource& source) { sources_.push_back(&source); }
  void Remove(EventSource& source) { std::erase(sources_, &source); }

  // Until `done` holds (asked first, and after each event), or the monotonic time has come. Whether
  // `done` held.
  bool RunUntil(const std::function<bool()>& done, std::optional<std::int64_t> until_ms = {});

 private:
  void Turn(std::optional<std::int64_t> until_ms);
  [[nodiscard]] bool IsThere(const EventSource* source) const;

  const Clock& clock_;
  std::mutex* lock_;
  std::vector<EventSource*> sources_;
};

}  // namespace curfew::host
