#include "compiler/base/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew {

std::optional<CodePoint> DecodeUtf8(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return CodePoint{lead, 1};
  std::size_t length = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((lead & 0xE0) == 0xC0) {
    length = 2, value = lead & 0x1F, least = 0x80;
  } else if ((lead & 0xF0) == 0xE0) {
    length = 3, value = lead & 0x0F, least = 0x800;
  } else if ((lead & 0xF8) == 0xF0) {
    length = 4, value = lead & 0x07, least = 0x10000;
  } else {
    return std::nullopt;
  }
  if (text.size() < length) return std::nullopt;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(i) & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least || value > 0x10FFFF || surrogate) return std::nullopt;
  return CodePoint{value, length};
}

void AppendUtf8(std::string& text, char32_t code_point) {
  const auto push = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | (code_point >> 6));
    push(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    push(0xE0 | (code_point >> 12));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  } else {
    push(0xF0 | (code_point >> 18));
    push(0x80 | ((code_point >> 12) & 0x3F));
    push(0x80 | ((code_point >> 6) & 0x3F));
    push(0x80 | (code_point & 0x3F));
  }
}

std::string Hex(ByteView bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

std::optional<Bytes> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = digit(text[i]);
    const int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bytes;
}

namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string Encode64(ByteView bytes, std::string_view alphabet, bool padded) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = static_cast<std::uint32_t>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<std::uint32_t>(bytes[i + 1]) << 8;
    if (left > 2) group |= bytes[i + 2];
    for (std::size_t digit = 0; digit <= left; ++digit) {
      text.push_back(alphabet[(group >> (18 - 6 * digit)) & 63]);
    }
    if (padded) text.append(3 - left, '=');
  }
  return text;
}

std::optional<Bytes> Decode64(std::string_view text, std::string_view alphabet, bool padded) {
  if (padded) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  Bytes bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<std::uint8_t>(bits >> count));
      bits &= (1U << count) - 1;
    }
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

}  // namespace

std::string Base64(ByteView bytes) { return Encode64(bytes, kStandard, true); }
std::optional<Bytes> FromBase64(std::string_view text) {
  std::optional<Bytes> bytes = Decode64(text, kStandard, true);
  // Only the one spelling that the encoder writes is taken.
  if (bytes && Base64(*bytes) != text) return std::nullopt;
  return bytes;
}
std::string Base64Url(ByteView bytes) { return Encode64(bytes, kUrl, false); }
std::optional<Bytes> FromBase64Url(std::string_view text) { return Decode64(text, kUrl, false); }

std::string Printable(std::string_view text, std::size_t bytes_max) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= bytes_max) return out + "…";
    // Most text is plain: whole runs of it at once.
    const std::string_view room = text.substr(i, bytes_max - out.size());
    const auto run = std::find_if_not(room.begin(), room.end(), is_plain);
    if (run != room.begin()) {
      out.append(room.begin(), run);
      i += static_cast<std::size_t>(run - room.begin());
      continue;
    }
    const std::optional<CodePoint> point = DecodeUtf8(text.substr(i));
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (!point || point->value < 0x20 || (point->value >= 0x7F && point->value < 0xA0)) {
      out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : fmt::format("\\x{:02x}", byte);
      i += 1;
      continue;
    }
    const char32_t v = point->value;
    const bool invisible = (v >= 0x200B && v <= 0x200F) || (v >= 0x2028 && v <= 0x202E) ||
                           (v >= 0x2060 && v <= 0x206F) || v == 0xFEFF || v == 0x061C;
    if (invisible) {
      out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(v));
    } else {
      if (v == '"' || v == '\\') out.push_back('\\');
      out.append(text.substr(i, point->bytes));
    }
    i += point->bytes;
  }
  return out;
}

std::string Counted(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

std::size_t EditDistance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > limit || longer > 64) return a == b ? 0 : limit + 1;
  std::array<std::array<std::size_t, 65>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return std::min(rows[a.size() % 3][b.size()], limit + 1);
}

}  // namespace curfew
