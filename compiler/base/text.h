// Text and bytes in the few forms that every room needs: strict UTF-8, hexadecimal, base64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline ByteView AsBytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view AsText(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One code point decoded from the front of `text`: RFC 3629 without overlong forms and surrogates.
// Nothing when the bytes are not UTF-8; `bytes` is then meaningless.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
std::optional<CodePoint> DecodeUtf8(std::string_view text);
void AppendUtf8(std::string& text, char32_t code_point);

// Lower-case hexadecimal.
std::string Hex(ByteView bytes);
// Strict: an even number of lower-case digits.
std::optional<Bytes> FromHex(std::string_view text);

// RFC 4648 section 4, with padding.
std::string Base64(ByteView bytes);
// Strict: canonical padding, no white space, unused bits zero.
std::optional<Bytes> FromBase64(std::string_view text);
// RFC 4648 section 5, without padding (as JOSE uses it).
std::string Base64Url(ByteView bytes);
std::optional<Bytes> FromBase64Url(std::string_view text);

// For messages: control bytes, quotes and backslashes escaped, cut at `bytes_max` with an ellipsis.
// The result is safe to print on a terminal whatever `text` holds.
std::string Printable(std::string_view text, std::size_t bytes_max = 200);

// "1 process", "2 processes": a count with its noun, which takes an s unless `many` is given.
std::string Counted(std::uint64_t count, std::string_view one, std::string_view many = {});

// How many single-character edits (insert, delete, replace, swap neighbours) turn `a` into `b`; for
// "did you mean". Stops counting at `limit` + 1.
std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit);

}  // namespace curfew
