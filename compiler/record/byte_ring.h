// A ring of length-prefixed records between two threads: one writes, one reads. Each takes its turn
// by one atomic number and waits for nobody, except for a writer that was told to wait for room;
// nothing is allocated once it is made. What the records say is record_format.h's; the ring knows
// that a record begins with its length, in four bytes.
#pragma once

#include "compiler/base/text.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace curfew::record {

// What a writer does whose reader is behind: it waits, so that every decision is on record, or it
// goes on, and the ring counts what was dropped.
enum class WhenFull : std::uint8_t { Block, Count };

class ByteRing {
 public:
  // No record is longer, so that a writer can ask for room before it knows what it will need.
  static constexpr std::size_t RecordBytesMax = std::size_t{16} * 1024;
  static constexpr std::size_t BytesMin = 4 * RecordBytesMax;
  static constexpr std::size_t BytesMax = std::size_t{1} << 30;

  // Room for `bytes` or the next power of two, within the bounds above.
  ByteRing(std::size_t bytes, WhenFull when_full);
  ByteRing(const ByteRing&) = delete;
  ByteRing& operator=(const ByteRing&) = delete;

  // ---- The writer -------------------------------------------------------------------------------

  // RecordBytesMax bytes at a multiple of 8, or null where the record is dropped. They may be
  // written in any order, and are nothing to the reader before Publish; asking again gives the same
  // room.
  [[nodiscard]] std::uint8_t* Reserve() {
    if (written_ + RecordBytesMax - seen_released_ > capacity_ && !MakeRoom()) [[unlikely]] {
      return nullptr;
    }
    return room_.get() + (written_ & (capacity_ - 1));
  }
  // The record that lies in the room now: its first four bytes are `bytes`, a multiple of 8 that is
  // not 0.
  void Publish(std::size_t bytes) {
    written_ = Behind(written_, bytes);
    published_.store(written_, std::memory_order_release);
  }

  // ---- The reader -------------------------------------------------------------------------------

  // The next record, good until it is released; empty where there is none yet. The reader looks
  // again at its own pace: a writer that told it would pay for that with every decision.
  [[nodiscard]] ByteView Next() {
    const ByteView record = Peek();
    if (!record.empty()) read_ = Behind(read_, record.size());
    return record;
  }
  // The same record, which stays the next one.
  [[nodiscard]] ByteView Peek();
  // Gives back all that Next has returned.
  void Release();
  // The reader is gone: whoever waits for room goes on, and from here on what finds none is
  // dropped.
  void Close();

  // ---- Both -------------------------------------------------------------------------------------

  // How many records found no room so far. Of two records that stand beside each other, their
  // sequence numbers say what was dropped between them.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] WhenFull when_full() const { return when_full_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  static constexpr std::size_t CacheLine = 64;

  // Positions count bytes and never wrap. A record that begins before the end of the room may lie
  // over it, and the next one then begins at its start: so no record is in two pieces, and none is
  // needed to fill what is left.
  [[nodiscard]] std::uint64_t Behind(std::uint64_t position, std::size_t bytes) const {
    const std::uint64_t end = (position & (capacity_ - 1)) + bytes;
    return end < capacity_ ? position + bytes : (position | (capacity_ - 1)) + 1;
  }
  [[nodiscard]] bool HasRoom();
  [[nodiscard]] bool MakeRoom();
  [[nodiscard]] bool WaitForRoom();

  const std::size_t capacity_;  // a power of two; RecordBytesMax more lie behind it
  const WhenFull when_full_;
  const std::unique_ptr<std::uint8_t[]> room_;

  // The writer's.
  alignas(CacheLine) std::uint64_t written_ = 0;
  std::uint64_t seen_released_ = 0;
  std::atomic<std::uint64_t> published_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
  // The reader's.
  alignas(CacheLine) std::uint64_t read_ = 0;
  std::uint64_t seen_published_ = 0;
  std::atomic<std::uint64_t> released_ = 0;
  std::atomic<bool> closed_ = false;
  // Of both, and touched only where a writer waits.
  alignas(CacheLine) std::atomic<std::uint32_t> waits_ = 0;
};

}  // namespace curfew::record
