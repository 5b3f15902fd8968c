// LivePolicy: the policy set in force, for a program that is asked all the time and is given
// another set now and then. A set that is adopted decides at once, by the interpreter; native code
// is made behind it, on a thread that runs only when nothing else does, and takes its place.
// Whoever decides holds one generation for as long as a decision takes and sees nothing of any of
// this.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/live/readers.h"

#include <condition_variable>
#include <functional>
#include <optional>
#include <string>
#include <thread>

namespace curfew::live {

// A generation that stays while this does; of the thread that took it.
class Held {
 public:
  explicit Held(const Readers& readers, Readers::Line& line)
      : line_(line), generation_(readers.Enter(line)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { Readers::Leave(line_); }

  const Generation& operator*() const { return generation_; }
  const Generation* operator->() const { return &generation_; }

 private:
  Readers::Line& line_;
  const Generation& generation_;
};

class LivePolicy {
 public:
  // The sealed native image of a module, made on the thread that calls it.
  using Compile = std::function<Result<OwnedFd>(ByteView module)>;

  // `first` is in force at once. Without `compile` nothing becomes native here.
  explicit LivePolicy(std::shared_ptr<Generation> first, Compile compile = {},
                      Barrier barrier = BarrierHere());
  LivePolicy(const LivePolicy&) = delete;
  LivePolicy& operator=(const LivePolicy&) = delete;
  // All readers are gone. Waits for a compilation that is under way, which nothing can break off.
  ~LivePolicy();

  // From any thread; one may wait for another. `next` decides from here on, and where it is not
  // native yet code for it is begun; what was wanted for the set before is dropped. After a failure
  // the old set is in force: Usage where its number is not higher, or what opening it can meet.
  Outcome Adopt(std::shared_ptr<Generation> next);
  Outcome Adopt(Bytes module, std::uint64_t number);

  // As the thread that asks finds it.
  struct Standing {
    std::uint64_t generation = 0;
    Digest policy;
    std::string_view engine;     // its kind
    std::string why_not_native;  // as Generation says it
    bool is_compiling = false;
    std::size_t waiting = 0;  // old generations that a reader keeps, or that are not let go yet
  };
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] Barrier barrier() const { return readers_.barrier(); }

  // False where native code for what is in force was neither made nor given up by then.
  bool AwaitNative(std::chrono::milliseconds at_most) const;

 private:
  friend class Reader;
  // Under the lock.
  [[nodiscard]] bool is_compiling() const {
    return wanted_ != nullptr || compiling_ == readers_.in_force();
  }
  void RunBehind();
  void CompileWanted(std::unique_lock<std::mutex>& lock);
  void Reclaim(std::unique_lock<std::mutex>& lock);

  const Compile compile_;
  Readers readers_;
  mutable std::mutex lock_;
  mutable std::condition_variable changed_;
  std::shared_ptr<Generation> wanted_;     // to be compiled next
  std::shared_ptr<Generation> compiling_;  // at this moment
  bool is_ending_ = false;
  std::thread behind_;  // the last, so that all of the above is there
};

// The one way in, one for each thread that decides; gone before its policy.
class Reader {
 public:
  explicit Reader(LivePolicy& policy) : readers_(policy.readers_), line_(readers_.Join()) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { readers_.Part(line_); }

  // The generation in force. One at a time.
  [[nodiscard]] Held Hold() { return Held(readers_, line_); }

  // The same in two halves, for callers that have no scopes. Null where it holds one already.
  const Generation* Enter() { return is_inside() ? nullptr : &readers_.Enter(line_); }
  void Leave() { Readers::Leave(line_); }

 private:
  [[nodiscard]] bool is_inside() const {
    return line_.inside.load(std::memory_order_relaxed) != nullptr;
  }

  Readers& readers_;
  Readers::Line& line_;
};

}  // namespace curfew::live
