#include "compiler/live/readers.h"

#include <algorithm>
#include <iterator>

namespace curfew::live {

Readers::~Readers() {
  for (const Line& line : lines_) {
    CURFEW_CHECK(!line.is_taken, "readers are gone before what they read");
  }
}

Readers::Line& Readers::Join() {
  const std::lock_guard lock(lines_lock_);
  const auto free =
      std::find_if(lines_.begin(), lines_.end(), [](const Line& other) { return !other.is_taken; });
  Line& line = free != lines_.end() ? *free : lines_.emplace_back();
  line.is_taken = true;
  return line;
}

void Readers::Part(Line& line) {
  CURFEW_CHECK(line.inside.load(std::memory_order_relaxed) == nullptr,
               "a reader leaves before it goes");
  const std::lock_guard lock(lines_lock_);
  line.is_taken = false;
}

void Readers::Swap(std::shared_ptr<Generation> next) {
  waiting_.push_back(owner_);
  owner_ = std::move(next);
  in_force_.store(owner_.get(), std::memory_order_seq_cst);
}

std::vector<std::shared_ptr<const Generation>> Readers::Reclaim() {
  std::vector<std::shared_ptr<const Generation>> gone;
  // Who looks at one of them has said so by now; who has not yet will find another in force.
  if (waiting_.empty() || !Cross(barrier_)) return gone;
  const std::lock_guard lock(lines_lock_);
  const auto is_held = [&](const std::shared_ptr<const Generation>& old) {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
      return line.inside.load(std::memory_order_seq_cst) == old.get();
    });
  };
  const auto free_from = std::stable_partition(waiting_.begin(), waiting_.end(), is_held);
  std::move(free_from, waiting_.end(), std::back_inserter(gone));
  waiting_.erase(free_from, waiting_.end());
  return gone;
}

}  // namespace curfew::live
