#include "compiler/record/byte_ring.h"

#include "compiler/base/check.h"
#include "compiler/base/short_text.h"

#include <algorithm>
#include <bit>

namespace curfew::record {
namespace {

// A reader that is at work gives room within this many looks; for one that is not, the writer
// sleeps.
constexpr int kLooks = 200;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ByteRing::ByteRing(std::size_t bytes, WhenFull when_full)
    : capacity_(std::bit_ceil(std::clamp(bytes, BytesMin, BytesMax))),
      when_full_(when_full),
      room_(new std::uint8_t[capacity_ + RecordBytesMax]()) {}

bool ByteRing::HasRoom() { return written_ + RecordBytesMax - seen_released_ <= capacity_; }

bool ByteRing::MakeRoom() {
  seen_released_ = released_.load(std::memory_order_acquire);
  if (HasRoom() || (when_full_ == WhenFull::Block && WaitForRoom())) return true;
  // Only the writer counts, so that no more than a store is needed.
  dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return false;
}

bool ByteRing::WaitForRoom() {
  for (int look = 0; look < kLooks; ++look) {
    Pause();
    seen_released_ = released_.load(std::memory_order_acquire);
    if (HasRoom()) return true;
  }
  while (true) {
    // In this order, as the reader's is the other one: either it sees that somebody waits, or what
    // it released is seen here.
    waits_.store(1, std::memory_order_seq_cst);
    seen_released_ = released_.load(std::memory_order_seq_cst);
    const bool has_room = HasRoom();
    if (has_room || closed_.load(std::memory_order_seq_cst)) {
      waits_.store(0, std::memory_order_relaxed);
      return has_room;
    }
    waits_.wait(1);
  }
}

ByteView ByteRing::Peek() {
  if (read_ == seen_published_) {
    seen_published_ = published_.load(std::memory_order_acquire);
    if (read_ == seen_published_) return {};
  }
  const std::uint8_t* record = room_.get() + (read_ & (capacity_ - 1));
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, record, sizeof bytes);
  return {record, bytes};
}

void ByteRing::Release() {
  released_.store(read_, std::memory_order_seq_cst);
  if (waits_.load(std::memory_order_seq_cst) == 0) return;
  waits_.store(0, std::memory_order_seq_cst);
  waits_.notify_one();
}

void ByteRing::Close() {
  closed_.store(true, std::memory_order_seq_cst);
  waits_.store(0, std::memory_order_seq_cst);
  waits_.notify_one();
}

}  // namespace curfew::record
