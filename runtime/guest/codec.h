// The payload of a frame, field by field. A message lists its fields once (`Fields`), with the
// bound of each, and both directions follow from that list: an Encoder that refuses to write what a
// Decoder would refuse to read.
//
// Numbers are little endian; text is u32 length and bytes (any bytes, also NUL); a list is u32
// count and elements; a flag is one byte, 0 or 1.
#pragma once

#include "compiler/base/text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace curfew::guest {

class Encoder {
 public:
  template <typename T>
    requires std::is_unsigned_v<T>
  void Number(const T& value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
  }
  void Flag(const bool& value) { bytes_.push_back(value ? 1 : 0); }
  // An enumerator from 0 to `max`.
  template <typename T>
  void Choice(const T& value, T max) {
    Bound(static_cast<std::size_t>(value), static_cast<std::size_t>(max));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void Text(const std::string& value, std::size_t bytes_max) { Append(AsBytes(value), bytes_max); }
  void Blob(const Bytes& value, std::size_t bytes_max) { Append(value, bytes_max); }
  void TextList(const std::vector<std::string>& values, std::size_t count_max,
                std::size_t bytes_max) {
    Bound(values.size(), count_max);
    Number(static_cast<std::uint32_t>(values.size()));
    for (const std::string& value : values) Text(value, bytes_max);
  }
  template <typename T>
  void List(const std::vector<T>& values, std::size_t count_max) {
    Bound(values.size(), count_max);
    Number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) const_cast<T&>(value).Fields(*this);
  }

  // False when some field was over its bound; the bytes are then not to be sent.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  void Bound(std::size_t value, std::size_t max) { ok_ = ok_ && value <= max; }
  void Append(ByteView value, std::size_t bytes_max) {
    Bound(value.size(), bytes_max);
    Number(static_cast<std::uint32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  Bytes bytes_;
  bool ok_ = true;
};

class Decoder {
 public:
  // `bytes` is borrowed for the life of the decoder.
  explicit Decoder(ByteView bytes) : rest_(bytes) {}

  template <typename T>
    requires std::is_unsigned_v<T>
  void Number(T& value) {
    value = 0;
    if (!Take(sizeof(T))) return;
    std::uint64_t wide = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) wide |= std::uint64_t{taken_[i]} << (8 * i);
    value = static_cast<T>(wide);
  }
  void Flag(bool& value) {
    std::uint8_t byte = 0;
    Number(byte);
    ok_ = ok_ && byte <= 1;
    value = ok_ && byte == 1;
  }
  template <typename T>
  void Choice(T& value, T max) {
    std::uint8_t byte = 0;
    Number(byte);
    ok_ = ok_ && byte <= static_cast<std::uint8_t>(max);
    value = ok_ ? static_cast<T>(byte) : T{};
  }
  void Text(std::string& value, std::size_t bytes_max) {
    value.clear();
    if (TakeCounted(bytes_max)) value = AsText(taken_);
  }
  void Blob(Bytes& value, std::size_t bytes_max) {
    value.clear();
    if (TakeCounted(bytes_max)) value.assign(taken_.begin(), taken_.end());
  }
  void TextList(std::vector<std::string>& values, std::size_t count_max, std::size_t bytes_max) {
    values.clear();
    for (std::uint32_t left = Count(count_max); left > 0 && ok_; --left) {
      Text(values.emplace_back(), bytes_max);
    }
  }
  template <typename T>
  void List(std::vector<T>& values, std::size_t count_max) {
    values.clear();
    for (std::uint32_t left = Count(count_max); left > 0 && ok_; --left) {
      values.emplace_back().Fields(*this);
    }
  }

  // True when every field was there, within its bound, and nothing is left over.
  [[nodiscard]] bool Finished() const { return ok_ && rest_.empty(); }

 private:
  bool Take(std::size_t bytes) {
    ok_ = ok_ && bytes <= rest_.size();
    if (!ok_) return false;
    taken_ = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return true;
  }
  std::uint32_t Count(std::size_t max) {
    std::uint32_t count = 0;
    Number(count);
    ok_ = ok_ && count <= max;
    return ok_ ? count : 0;
  }
  bool TakeCounted(std::size_t bytes_max) {
    const std::uint32_t bytes = Count(bytes_max);
    return ok_ && Take(bytes);
  }
  ByteView rest_;
  ByteView taken_;
  bool ok_ = true;
};

}  // namespace curfew::guest
