#include "compiler/live/live_policy.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <sched.h>

#include <fmt/format.h>

namespace curfew::live {
namespace {

// How often who waits for a reader to leave looks again: soon, and then less and less.
constexpr std::chrono::milliseconds kFirstPause(5);
constexpr std::chrono::milliseconds kLongestPause(1'000);

// Where that is refused the thread runs as any other, and no answer changes.
void RunWhenNothingElseDoes() {
  const sched_param none{};
  static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none));
}

}  // namespace

LivePolicy::LivePolicy(std::shared_ptr<Generation> first, Compile compile, Barrier barrier)
    : compile_(std::move(compile)), readers_(std::move(first), barrier) {
  if (compile_ && !readers_.in_force()->is_native()) wanted_ = readers_.in_force();
  behind_ = std::thread([this] { RunBehind(); });
}

LivePolicy::~LivePolicy() {
  {
    const std::lock_guard lock(lock_);
    is_ending_ = true;
  }
  changed_.notify_all();
  behind_.join();
}

Outcome LivePolicy::Adopt(Bytes module, std::uint64_t number) {
  CURFEW_TRY(auto next, Generation::Open(std::move(module), number));
  return Adopt(std::move(next));
}

Outcome LivePolicy::Adopt(std::shared_ptr<Generation> next) {
  std::unique_lock lock(lock_);
  const std::uint64_t now = readers_.in_force()->number();
  if (next->number() <= now) {
    return Failure(FailureCode::Usage, fmt::format("generation {} is in force, and {} is not later",
                                                   now, next->number()));
  }
  wanted_ = compile_ && !next->is_native() ? next : nullptr;
  readers_.Swap(std::move(next));
  Reclaim(lock);
  changed_.notify_all();
  return Ok();
}

LivePolicy::Standing LivePolicy::standing() const {
  const std::lock_guard lock(lock_);
  const Generation& now = *readers_.in_force();
  return {.generation = now.number(),
          .policy = now.policy().manifest().policy,
          .engine = now.engine().kind(),
          .why_not_native = std::string(now.why_not_native()),
          .is_compiling = is_compiling(),
          .waiting = readers_.waiting()};
}

bool LivePolicy::AwaitNative(std::chrono::milliseconds at_most) const {
  std::unique_lock lock(lock_);
  return changed_.wait_for(lock, at_most, [&] { return !is_compiling(); });
}

// To free a set takes a while, and whoever wants the lock need not wait for it.
void LivePolicy::Reclaim(std::unique_lock<std::mutex>& lock) {
  auto gone = readers_.Reclaim();
  lock.unlock();
  gone.clear();
  lock.lock();
}

void LivePolicy::CompileWanted(std::unique_lock<std::mutex>& lock) {
  compiling_ = std::exchange(wanted_, nullptr);
  const std::shared_ptr<Generation> of = compiling_;
  lock.unlock();
  const Result<OwnedFd> image = compile_(of->bytes());
  // If it is in force no more, it is native for who still looks at it.
  const Outcome made = image ? of->BecomeNative(image->get()) : Outcome(image.error());
  if (!made) of->StayInterpreted(made.error().message);
  lock.lock();
  compiling_ = nullptr;
  changed_.notify_all();
}

void LivePolicy::RunBehind() {
  RunWhenNothingElseDoes();
  std::unique_lock lock(lock_);
  std::chrono::milliseconds pause = kFirstPause;
  while (!is_ending_) {
    if (wanted_ != nullptr) {
      CompileWanted(lock);
      pause = kFirstPause;
    }
    Reclaim(lock);
    const auto is_called = [&] { return is_ending_ || wanted_ != nullptr; };
    if (readers_.waiting() == 0) {
      changed_.wait(lock, [&] { return is_called() || readers_.waiting() > 0; });
      pause = kFirstPause;
    } else if (!changed_.wait_for(lock, pause, is_called)) {
      pause = std::min(pause * 2, kLongestPause);
    }
  }
}

}  // namespace curfew::live
