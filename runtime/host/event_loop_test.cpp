#include "runtime/host/linux/event_loop.h"

#include "runtime/host/linux/linux_host.h"

#include <memory>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::host {
namespace {

class Bell final : public EventSource {
 public:
  explicit Bell(std::function<void()> rung) : rung_(std::move(rung)) {}
  void Ring() const {
    const std::uint64_t one = 1;
    REQUIRE(write(fd_.get(), &one, sizeof one) == sizeof one);
  }
  [[nodiscard]] std::vector<Watch> Watches() const override {
    return {{.fd = fd_.get(), .events = POLLIN}};
  }
  void OnReady() override {
    std::uint64_t count = 0;
    static_cast<void>(read(fd_.get(), &count, sizeof count));
    rung_();
  }

 private:
  OwnedFd fd_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::function<void()> rung_;
};

TEST_CASE("A source that another takes away in the same turn is not called any more") {
  const LinuxHost host;
  EventLoop loop(*host.clock);
  int rung = 0;
  std::unique_ptr<Bell> second;
  Bell first([&] {
    ++rung;
    loop.Remove(*second);
    second.reset();
  });
  second = std::make_unique<Bell>([&] { rung += 100; });
  loop.Add(first);
  loop.Add(*second);
  second->Ring();
  first.Ring();
  CHECK(loop.RunUntil([&] { return rung > 0; }, host.clock->MonotonicNowMs() + 60'000));
  CHECK(rung == 1);
}

TEST_CASE("The lock of a loop is free while it waits, and held while a source is called") {
  const LinuxHost host;
  std::mutex lock;
  EventLoop loop(*host.clock, &lock);
  bool rung = false;
  bool held = false;
  Bell bell([&] {
    rung = true;
    std::thread([&] { held = !lock.try_lock(); }).join();
  });
  loop.Add(bell);
  std::unique_lock holding(lock);
  std::thread other([&] {
    const std::lock_guard waits_for_the_wait(lock);
    bell.Ring();
  });
  CHECK(loop.RunUntil([&] { return rung; }, host.clock->MonotonicNowMs() + 60'000));
  other.join();
  CHECK(held);
  CHECK(holding.owns_lock());
}

}  // namespace
}  // namespace curfew::host
