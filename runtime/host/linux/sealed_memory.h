// Bytes in memory that nobody can change any more, handed from process to process as a descriptor.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <string>
#include <utility>

namespace curfew::host {

// A memfd with these bytes, sealed against every change.
Result<OwnedFd> SealBytes(const std::string& name, ByteView bytes);

// A sealed memfd, mapped read-only for as long as this lives.
class SealedMemory {
 public:
  // Tampered when it could still be changed, TooLarge past `bytes_max`.
  static Result<SealedMemory> Map(const OwnedFd& fd, std::size_t bytes_max);
  SealedMemory(SealedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SealedMemory& operator=(SealedMemory&&) = delete;
  ~SealedMemory();
  [[nodiscard]] ByteView bytes() const { return {data_, size_}; }

 private:
  SealedMemory(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  const std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace curfew::host
