// Readers: one pointer that many threads follow and one may swap, and when what it showed before
// can go. A reader says in a cache line of its own what it looks at, then sees that this is in
// force still; who swaps looks into all of these lines. Nobody who reads waits, writes what another
// writes, allocates or takes a lock, whatever is swapped; who stays inside keeps what it looks at
// from being freed, and nothing else.
#pragma once

#include "compiler/base/check.h"
#include "compiler/live/barrier.h"
#include "compiler/live/generation.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace curfew::live {

class Readers {
 public:
  static constexpr std::size_t CacheLineBytes = 64;

  // Of one reader; nothing while it is outside.
  struct alignas(CacheLineBytes) Line {
    std::atomic<const Generation*> inside = nullptr;
    bool is_taken = false;  // under the lock
  };

  Readers(std::shared_ptr<Generation> first, Barrier barrier)
      : in_force_(first.get()), barrier_(barrier), owner_(std::move(first)) {}
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;
  ~Readers();  // all readers are gone

  [[nodiscard]] Line& Join();
  void Part(Line& line);

  // Until Leave the generation stays. Repeats itself only where it was swapped in between.
  const Generation& Enter(Line& line) const {
    CURFEW_CHECK(line.inside.load(std::memory_order_relaxed) == nullptr,
                 "a reader holds one generation at a time");
    if (barrier_ == Barrier::Kernel) {
      for (;;) {
        const Generation* seen = in_force_.load(std::memory_order_acquire);
        line.inside.store(seen, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // Cross does the rest
        if (in_force_.load(std::memory_order_acquire) == seen) return *seen;
      }
    }
    for (;;) {
      const Generation* seen = in_force_.load(std::memory_order_seq_cst);
      line.inside.exchange(seen, std::memory_order_seq_cst);
      if (in_force_.load(std::memory_order_seq_cst) == seen) return *seen;
    }
  }
  static void Leave(Line& line) { line.inside.store(nullptr, std::memory_order_release); }

  // One at a time, under the caller's lock; so is what follows.
  void Swap(std::shared_ptr<Generation> next);
  // What nobody looks at any more, for the caller to let go where nobody waits for it.
  [[nodiscard]] std::vector<std::shared_ptr<const Generation>> Reclaim();
  // Generations that are in force no more and are not reclaimed.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] const std::shared_ptr<Generation>& in_force() const { return owner_; }
  [[nodiscard]] Barrier barrier() const { return barrier_; }

 private:
  // Read by everyone, and written by a swap only.
  alignas(CacheLineBytes) std::atomic<const Generation*> in_force_;
  const Barrier barrier_;

  alignas(CacheLineBytes) std::shared_ptr<Generation> owner_;
  std::vector<std::shared_ptr<const Generation>> waiting_;
  std::mutex lines_lock_;
  std::deque<Line> lines_;  // stay where they are
};

}  // namespace curfew::live
