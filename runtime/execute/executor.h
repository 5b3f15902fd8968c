// Walks a plan: intent on record, act, record; on a failure everything back, in reverse. The end of
// a sandbox is the same walk back. It owns order and bookkeeping, and knows no kernel object: the
// driver does.
#pragma once

#include "compiler/base/result.h"
#include "runtime/gate/permit.h"
#include "runtime/plan/plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::execute {

// Something of the host that a step acquired. `identity` is exact: a name alone may be reused.
struct Resource {
  std::string resource_class;  // "machine", "cgroup", "disk", "key", "token", …
  std::string identity;
};

enum class Fate { Destroyed, Kept, Unknown };
struct Ended {
  Resource resource;
  Fate fate = Fate::Unknown;
  std::string detail;  // for Unknown: why
};

// Does the steps. It keeps what it acquired itself; the executor only says when.
class Driver {
 public:
  virtual ~Driver() = default;
  // What the step acquired. After a Failure the step may still hold something: Undo is called.
  virtual Result<std::vector<Resource>> Act(const plan::Step& step) = 0;
  // Gives back whatever the step holds, also half of it, also nothing. Never fails: what cannot be
  // shown to be gone is Unknown.
  virtual std::vector<Ended> Undo(const plan::Step& step) = 0;
};

// Where the walk is written down, so that a sweep can finish it.
class Journal {
 public:
  virtual ~Journal() = default;
  // The plan is about to be walked. Survives a power cut.
  virtual Outcome Intend(const plan::Plan& plan) = 0;
  // The step may from now on hold something. Survives the death of this process.
  virtual Outcome Begin(std::uint32_t index, const plan::Step& step) = 0;
  virtual Outcome Done(std::uint32_t index, const plan::Step& step,
                       const std::vector<Resource>& resources) = 0;
  virtual Outcome Undone(std::uint32_t index, const plan::Step& step,
                         const std::vector<Ended>& ended) = 0;
};

// Named moments between two effects, where a test may kill the process. Does nothing in a release.
using Checkpoint = std::function<void(std::string_view point)>;

class Executor {
 public:
  // Both outlive the executor. `on_step` hears of each step as it begins (nullptr result) and ends.
  struct Progress {
    std::function<void(const plan::Step&)> on_begin;
    std::function<void(const plan::Step&)> on_done;
    // Asked before each step: a Failure (Interrupted, TimedOut) stops the walk and undoes it.
    std::function<Outcome()> may_go_on;
  };
  Executor(Driver& driver, Journal& journal, Checkpoint checkpoint, Progress progress);

  // Does the whole plan or, after a Failure, has undone what it did. The permit must be the one
  // that the plan was drafted from.
  Outcome Create(gate::Permit<schema::Action::Create> permit, const plan::Plan& plan);

  // Ends everything that Create made, in reverse. Repeating it does nothing.
  void End();

  // Everything that was ever acquired and how it ended, in the order of ending.
  [[nodiscard]] const std::vector<Ended>& ended() const { return ended_; }

 private:
  Outcome Walk(const plan::Plan& plan);

  Driver& driver_;
  Journal& journal_;
  Checkpoint checkpoint_;
  Progress progress_;
  std::vector<plan::Step> begun_;
  std::vector<Ended> ended_;
};

}  // namespace curfew::execute
