// IP addresses and blocks of them. Every address is 16 bytes; IPv4 is ::ffff:a.b.c.d, and an IPv4
// address that hides in an IPv6 one (mapped, compatible, NAT64 64:ff9b::/96, 6to4 2002::/16) is
// that IPv4 address, so that no spelling dodges a rule.
//
//   address := dotted quad, four decimal numbers 0 to 255 without leading zeros
//            | IPv6 as RFC 4291 section 2.2 writes it; in a URL within brackets; never a zone id
//   cidr    := address "/" prefix length; bits behind the prefix are zero
#pragma once

#include "compiler/values/value_error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace curfew::values {

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const Address&, const Address&) = default;
};

Parsed<Address> ParseAddress(std::string_view text);
std::string ToString(const Address& address);
[[nodiscard]] bool IsIpv4(const Address& address);
// The address that a connection to these 16 bytes of network order reaches: embedded IPv4
// unwrapped.
Address Unwrap(const Address& address);

struct Cidr {
  Address base;
  std::uint8_t prefix = 128;  // of 128 bits: an IPv4 /16 is 112
  friend auto operator<=>(const Cidr&, const Cidr&) = default;
};

// A bare address is a block of one.
Parsed<Cidr> ParseCidr(std::string_view text);
std::string ToString(const Cidr& block);
bool Contains(const Cidr& block, const Address& address);
bool Meet(const Cidr& a, const Cidr& b);
bool Covers(const Cidr& outer, const Cidr& inner);

// What kind of place an address is (IANA special-purpose registries).
enum class Range : std::uint8_t {
  Public,
  Private,      // 10/8, 172.16/12, 192.168/16, fc00::/7
  CarrierNat,   // 100.64/10
  Reserved,     // protocol assignments, benchmarking, class E; not documentation blocks
  Loopback,     // from here on nothing can be pinned
  LinkLocal,    // 169.254/16, fe80::/10
  Multicast,    // 224/4, ff00::/8; broadcast too
  Unspecified,  // 0/8, ::
  Metadata      // where clouds hand out credentials: 169.254.169.254, fd00:ec2::254, …
};
std::string_view WordOf(Range range);
// The blocks that the ranges are made of; the first that contains an address names its range, and
// an address in none is public.
struct SpecialBlock {
  Cidr block;
  Range range;
};
std::span<const SpecialBlock> SpecialBlocks();
Range RangeOf(const Address& address);
// Whether egress to the range is barred unless a rule pins it (`builtin.address`).
[[nodiscard]] bool IsBarred(Range range);
// Whether a rule may pin it with `at`.
[[nodiscard]] bool CanBePinned(Range range);
// A range that forbids to pin `block`, if any. Within a block that may be pinned, addresses whose
// own range cannot stay barred.
std::optional<Range> UnpinnableIn(const Cidr& block);

}  // namespace curfew::values
