// ClientHellos for tests: right ones, and wrong in one thing each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::egress {

inline std::string BigEndian(std::size_t value, std::size_t bytes) {
  std::string text;
  while (bytes-- > 0) text.push_back(static_cast<char>(value >> 8 * bytes));
  return text;
}
inline std::string WithLength(std::size_t length_bytes, std::string_view body) {
  return BigEndian(body.size(), length_bytes).append(body);
}
inline std::string Extension(std::uint16_t kind, std::string_view body) {
  return BigEndian(kind, 2) + WithLength(2, body);
}
inline std::string ServerName(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += std::string(1, '\0') + WithLength(2, name);
  return Extension(0, WithLength(2, list));
}
// A key share as large as today's post-quantum ones.
inline std::string LargeKeyShare() {
  return Extension(51, WithLength(2, BigEndian(0x11ec, 2) + WithLength(2, std::string(1216, 'k'))));
}
inline std::string HelloMessage(std::string_view extensions) {
  const std::string body = "\x03\x03" + std::string(32, 'r') + WithLength(1, std::string(32, 's')) +
                           WithLength(2, std::string("\x13\x01\x13\x02", 4)) +
                           WithLength(1, std::string(1, '\0')) + WithLength(2, extensions);
  return "\x01" + WithLength(3, body);
}
// In records of at most `fragment` bytes.
inline std::string InRecords(std::string_view message, std::size_t fragment = 16384) {
  std::string records;
  while (!message.empty()) {
    records += "\x16\x03\x01" + WithLength(2, message.substr(0, fragment));
    message.remove_prefix(std::min(fragment, message.size()));
  }
  return records;
}
inline std::string HelloFor(const std::string& name) {
  return InRecords(HelloMessage(ServerName({name}) + LargeKeyShare()));
}

}  // namespace curfew::egress
