// The names that a sandbox asked for, and the address that each was given: one of the gateway's
// own, for good, and never given to a second name. A connection to the address is a request for the
// name.
#pragma once

#include "compiler/values/address.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace curfew::egress {

class Names {
 public:
  static constexpr std::size_t Max = 65'536;

  // `base` is the first of 65,536 IPv4 addresses. `known` are those of a sandbox that was frozen,
  // in their order.
  explicit Names(const values::Address& base, const std::vector<std::string>& known = {});

  // `name` is canonical. Nothing when every address has its name.
  std::optional<values::Address> AddressOf(std::string_view name);
  // Nothing for an address that has no name.
  [[nodiscard]] std::optional<std::string> NameAt(const values::Address& address) const;
  // Whether the address is one of the gateway's own, with a name or without.
  [[nodiscard]] bool IsOwn(const values::Address& address) const;
  // In the order of their addresses.
  [[nodiscard]] std::vector<std::string> All() const { return {names_.begin(), names_.end()}; }

 private:
  [[nodiscard]] std::optional<std::size_t> PlaceOf(const values::Address& address) const;

  std::uint32_t base_;
  std::deque<std::string> names_;  // its elements never move: the index borrows them
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

}  // namespace curfew::egress
