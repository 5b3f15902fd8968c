#include "compiler/record/byte_ring.h"

#include "compiler/base/short_text.h"

#include <array>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

namespace curfew::record {
namespace {

// Sizes of every kind, the longest among them.
std::size_t SizeOf(std::uint64_t number) {
  constexpr std::array<std::size_t, 6> kSizes = {16, 24, 312, 4096, 8, ByteRing::RecordBytesMax};
  return number % 7 == 6 ? 16 + number * 40 % 2000 / 8 * 8 : kSizes[number % 6];
}

// A record of that size: its length, and its number in every word behind.
bool Write(ByteRing& ring, std::uint64_t number) {
  std::uint8_t* const room = ring.Reserve();
  if (room == nullptr) return false;
  const std::size_t bytes = SizeOf(number);
  const auto size = static_cast<std::uint32_t>(bytes);
  const auto low = static_cast<std::uint32_t>(number);
  std::memcpy(room, &size, sizeof size);
  std::memcpy(room + 4, &low, sizeof low);
  for (std::size_t at = 8; at < bytes; at += 8) std::memcpy(room + at, &number, sizeof number);
  ring.Publish(bytes);
  return true;
}

// Its number; the check of its words fails where another record lies over it.
std::uint32_t NumberOf(ByteView record) {
  const auto* bytes = reinterpret_cast<const char*>(record.data());
  const auto number = LoadWord<std::uint32_t>(bytes + 4);
  if (record.size() != SizeOf(number)) return ~number;
  for (std::size_t at = 8; at < record.size(); at += 8) {
    if (LoadWord<std::uint64_t>(bytes + at) != number) return ~number;
  }
  return number;
}

TEST_CASE("records come out as they went in, over many laps") {
  ByteRing ring(1, WhenFull::Count);
  REQUIRE(ring.capacity() == ByteRing::BytesMin);
  CHECK(ring.Next().empty());
  std::uint64_t read = 0;
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    REQUIRE(Write(ring, number));
    // Two stay behind, so that records lie over the end while others are read.
    if (number < 2) continue;
    const ByteView record = ring.Next();
    REQUIRE(NumberOf(record) == read++);
    CHECK(reinterpret_cast<std::uintptr_t>(record.data()) % 8 == 0);
    ring.Release();
  }
  CHECK(ring.dropped() == 0);
}

TEST_CASE("a ring that is full counts what it drops, and takes more when it was read") {
  ByteRing ring(ByteRing::BytesMin, WhenFull::Count);
  std::uint64_t written = 0;
  while (Write(ring, written)) ++written;
  CHECK(written > 3);
  CHECK(ring.dropped() == 1);
  CHECK_FALSE(Write(ring, written));
  CHECK(ring.dropped() == 2);
  for (std::uint64_t number = 0; number < written; ++number) {
    REQUIRE(NumberOf(ring.Next()) == number);
  }
  CHECK(ring.Next().empty());
  // What is read and not given back is still the reader's.
  CHECK_FALSE(Write(ring, written));
  ring.Release();
  CHECK(Write(ring, written));
  CHECK(NumberOf(ring.Next()) == written);
}

TEST_CASE("every record is there, in its order, where a writer waits for its reader") {
  constexpr std::uint64_t kRecords = 30'000;
  ByteRing ring(ByteRing::BytesMin, WhenFull::Block);
  std::thread writer([&] {
    for (std::uint64_t number = 0; number < kRecords; ++number) {
      if (!Write(ring, number)) return;
    }
  });
  std::uint64_t read = 0;
  std::size_t wrong = 0;
  while (read < kRecords) {
    std::size_t taken = 0;
    for (ByteView record = ring.Next(); !record.empty(); record = ring.Next()) {
      wrong += NumberOf(record) == read++ ? 0 : 1;
      if (++taken == 3) break;
    }
    // Long enough for the writer to go to sleep.
    if (read % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ring.Release();
  }
  writer.join();
  CHECK(wrong == 0);
  CHECK(ring.dropped() == 0);
  CHECK(ring.Next().empty());
}

TEST_CASE("what was dropped between two threads is what the reader misses") {
  constexpr std::uint64_t kRecords = 30'000;
  ByteRing ring(ByteRing::BytesMin, WhenFull::Count);
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (std::uint64_t number = 0; number < kRecords; ++number) (void)Write(ring, number);
    is_done.store(true, std::memory_order_release);
  });
  std::uint64_t read = 0;
  std::uint64_t next = 0;
  std::size_t wrong = 0;
  while (true) {
    const bool was_done = is_done.load(std::memory_order_acquire);
    const ByteView record = ring.Next();
    if (record.empty()) {
      if (was_done) break;
      ring.Release();
      continue;
    }
    const std::uint64_t number = NumberOf(record);
    wrong += number >= next && number < kRecords ? 0 : 1;
    next = number + 1;
    ++read;
    ring.Release();
  }
  writer.join();
  CHECK(wrong == 0);
  CHECK(read + ring.dropped() == kRecords);
}

TEST_CASE("a writer does not wait for a reader that is gone") {
  ByteRing ring(ByteRing::BytesMin, WhenFull::Block);
  std::uint64_t written = 0;
  std::thread writer([&] {
    while (Write(ring, written)) ++written;
  });
  // Until it waits, more often than not; what is checked holds in either case.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ring.Close();
  writer.join();
  CHECK(written > 3);
  CHECK(ring.dropped() == 1);
  CHECK_FALSE(Write(ring, written));
}

}  // namespace
}  // namespace curfew::record
