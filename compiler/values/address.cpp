#include "compiler/values/address.h"

#include "compiler/base/text.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace curfew::values {
namespace {

using Bytes16 = std::array<std::uint8_t, 16>;

constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

Address FromIpv4(const std::uint8_t* four) {
  Address address;
  std::copy(std::begin(kMapped), std::end(kMapped), address.bytes.begin());
  std::copy(four, four + 4, address.bytes.begin() + 12);
  return address;
}

// The strict dotted quad; no other spelling of IPv4 is an address here.
std::optional<std::array<std::uint8_t, 4>> ReadQuad(std::string_view text) {
  std::array<std::uint8_t, 4> quad{};
  for (std::size_t part = 0; part < 4; ++part) {
    std::size_t digits = 0;
    unsigned value = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      if (digits == 3) return std::nullopt;
      value = value * 10 + static_cast<unsigned>(text[digits] - '0');
      ++digits;
    }
    if (digits == 0 || value > 255 || (digits > 1 && text[0] == '0')) return std::nullopt;
    quad[part] = static_cast<std::uint8_t>(value);
    text.remove_prefix(digits);
    if (part < 3) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  if (!text.empty()) return std::nullopt;
  return quad;
}

std::optional<unsigned> ReadGroup(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    unsigned digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<unsigned>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<unsigned>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
    value = value * 16 + digit;
  }
  return value;
}

// Groups of one side of `::`, as bytes; a dotted quad may end the text.
bool ReadGroups(std::string_view text, bool quad_may_end, std::vector<std::uint8_t>& bytes) {
  if (text.empty()) return true;
  while (true) {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, end);
    if (quad_may_end && end == text.size() && part.find('.') != std::string_view::npos) {
      const auto quad = ReadQuad(part);
      if (!quad) return false;
      bytes.insert(bytes.end(), quad->begin(), quad->end());
      return bytes.size() <= 16;
    }
    const auto group = ReadGroup(part);
    if (!group) return false;
    bytes.push_back(static_cast<std::uint8_t>(*group >> 8));
    bytes.push_back(static_cast<std::uint8_t>(*group & 0xff));
    if (bytes.size() > 16) return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

std::optional<Bytes16> ReadIpv6(std::string_view text) {
  Bytes16 bytes{};
  const std::size_t gap = text.find("::");
  std::vector<std::uint8_t> front;
  if (gap == std::string_view::npos) {
    if (!ReadGroups(text, true, front) || front.size() != 16) return std::nullopt;
    std::copy(front.begin(), front.end(), bytes.begin());
    return bytes;
  }
  std::vector<std::uint8_t> back;
  if (!ReadGroups(text.substr(0, gap), false, front) ||
      !ReadGroups(text.substr(gap + 2), true, back)) {
    return std::nullopt;
  }
  if (front.size() + back.size() > 14) return std::nullopt;
  std::copy(front.begin(), front.end(), bytes.begin());
  std::copy(back.begin(), back.end(), bytes.end() - static_cast<std::ptrdiff_t>(back.size()));
  return bytes;
}

// Where IPv4 hides in IPv6: the IPv4 bytes start at bit `prefix`.
struct Embedding {
  Bytes16 base;
  std::uint8_t prefix;
};
constexpr Embedding kEmbeddings[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},  // mapped: the canonical form
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96},  // translated (RFC 2765)
    {{0, 0x64, 0xff, 0x9b}, 96},                       // NAT64
    {{0x20, 0x02}, 16},                                // 6to4
};

bool SharesBits(const Bytes16& a, const Bytes16& b, unsigned bits) {
  const unsigned whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + whole, b.begin())) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits % 8));
  return ((a[whole] ^ b[whole]) & mask) == 0;
}

// ::a.b.c.d, long deprecated; :: and ::1 are addresses of their own.
bool IsCompatible(const Bytes16& bytes) {
  return std::all_of(bytes.begin(), bytes.begin() + 12, [](std::uint8_t b) { return b == 0; }) &&
         (bytes[12] != 0 || bytes[13] != 0 || bytes[14] != 0 || bytes[15] > 1);
}

constexpr Cidr V4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, unsigned prefix) {
  return {Address{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d}},
          static_cast<std::uint8_t>(96 + prefix)};
}
constexpr Cidr V6(std::uint16_t first, std::uint16_t second, std::uint16_t third,
                  std::uint16_t last, unsigned prefix) {
  Cidr block{Address{}, static_cast<std::uint8_t>(prefix)};
  const auto put = [&](std::size_t group, std::uint16_t value) {
    block.base.bytes[2 * group] = static_cast<std::uint8_t>(value >> 8);
    block.base.bytes[2 * group + 1] = static_cast<std::uint8_t>(value & 0xff);
  };
  put(0, first);
  put(1, second);
  put(2, third);
  put(7, last);
  return block;
}

constexpr SpecialBlock kSpecial[] = {
    {V4(169, 254, 169, 254, 32), Range::Metadata},         // AWS, GCP, Azure and most others
    {V4(169, 254, 170, 2, 32), Range::Metadata},           // AWS ECS tasks
    {V4(169, 254, 170, 23, 32), Range::Metadata},          // AWS EKS pods
    {V4(100, 100, 100, 200, 32), Range::Metadata},         // Alibaba
    {V4(192, 0, 0, 192, 32), Range::Metadata},             // Oracle
    {V4(168, 63, 129, 16, 32), Range::Metadata},           // Azure's wire server
    {V6(0xfd00, 0x0ec2, 0, 0x254, 128), Range::Metadata},  // AWS
    {V6(0xfd00, 0x0ec2, 0, 0x23, 128), Range::Metadata},   // AWS EKS pods
    {V6(0xfd20, 0x00ce, 0, 0x254, 128), Range::Metadata},  // GCP
    {V4(0, 0, 0, 0, 8), Range::Unspecified},
    {V6(0, 0, 0, 0, 128), Range::Unspecified},
    {V4(127, 0, 0, 0, 8), Range::Loopback},
    {V6(0, 0, 0, 1, 128), Range::Loopback},
    {V4(169, 254, 0, 0, 16), Range::LinkLocal},
    {V6(0xfe80, 0, 0, 0, 10), Range::LinkLocal},
    {V4(224, 0, 0, 0, 4), Range::Multicast},
    {V4(255, 255, 255, 255, 32), Range::Multicast},
    {V6(0xff00, 0, 0, 0, 8), Range::Multicast},
    {V4(10, 0, 0, 0, 8), Range::Private},
    {V4(172, 16, 0, 0, 12), Range::Private},
    {V4(192, 168, 0, 0, 16), Range::Private},
    {V6(0xfc00, 0, 0, 0, 7), Range::Private},
    {V6(0xfec0, 0, 0, 0, 10), Range::Private},
    {V4(100, 64, 0, 0, 10), Range::CarrierNat},
    {V4(192, 0, 0, 0, 24), Range::Reserved},
    {V4(198, 18, 0, 0, 15), Range::Reserved},
    {V4(240, 0, 0, 0, 4), Range::Reserved},
    {V6(0x0064, 0xff9b, 1, 0, 48), Range::Reserved},  // NAT64 for local use
    {V6(0x0100, 0, 0, 0, 64), Range::Reserved},       // discard
    {V6(0x2001, 0, 0, 0, 23), Range::Reserved},       // protocol assignments, Teredo among them
    {V6(0x5f00, 0, 0, 0, 16), Range::Reserved},       // segment routing
};

Error NotAnAddress() {
  return {ErrorKind::Malformed,
          "an address is four numbers from 0 to 255 with dots, or IPv6 without a zone"};
}

}  // namespace

Address Unwrap(const Address& address) {
  for (const Embedding& embedding : kEmbeddings) {
    if (SharesBits(address.bytes, embedding.base, embedding.prefix)) {
      return FromIpv4(address.bytes.data() + embedding.prefix / 8);
    }
  }
  if (IsCompatible(address.bytes)) return FromIpv4(address.bytes.data() + 12);
  return address;
}

bool IsIpv4(const Address& address) {
  return std::equal(std::begin(kMapped), std::end(kMapped), address.bytes.begin());
}

Parsed<Address> ParseAddress(std::string_view text) {
  if (const auto quad = ReadQuad(text)) return FromIpv4(quad->data());
  if (text.find('%') != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "an address has no zone (`%…`)"};
  }
  const auto bytes = ReadIpv6(text);
  if (!bytes) return NotAnAddress();
  return Unwrap(Address{*bytes});
}

std::string ToString(const Address& address) {
  const Bytes16& b = address.bytes;
  if (IsIpv4(address)) return fmt::format("{}.{}.{}.{}", b[12], b[13], b[14], b[15]);
  // RFC 5952: the longest run of two or more zero groups becomes `::`, the first of equals.
  std::size_t run_begin = 8;
  std::size_t run_size = 1;
  for (std::size_t i = 0; i < 8;) {
    std::size_t end = i;
    while (end < 8 && b[2 * end] == 0 && b[2 * end + 1] == 0) ++end;
    if (end - i > run_size) {
      run_begin = i;
      run_size = end - i;
    }
    i = std::max(end, i + 1);
  }
  std::string text;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == run_begin) {
      text += "::";
      i += run_size - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", (b[2 * i] << 8) | b[2 * i + 1]);
  }
  return text;
}

Parsed<Cidr> ParseCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    auto address = ParseAddress(text);
    if (!address) return address.error();
    return Cidr{*address, 128};
  }
  const std::string_view base = text.substr(0, slash);
  const std::string_view length = text.substr(slash + 1);
  unsigned prefix = 0;
  if (length.empty() || length.size() > 3 || (length.size() > 1 && length[0] == '0')) {
    return Error{ErrorKind::Malformed, "a block is an address, `/` and the length of its prefix"};
  }
  for (const char c : length) {
    if (c < '0' || c > '9') {
      return Error{ErrorKind::Malformed, "a block is an address, `/` and the length of its prefix"};
    }
    prefix = prefix * 10 + static_cast<unsigned>(c - '0');
  }
  Bytes16 bytes{};
  if (const auto quad = ReadQuad(base)) {
    if (prefix > 32)
      return Error{ErrorKind::OutOfRange, "the prefix of an IPv4 block is at most 32"};
    bytes = FromIpv4(quad->data()).bytes;
    prefix += 96;
  } else if (const auto ipv6 = ReadIpv6(base)) {
    if (prefix > 128) {
      return Error{ErrorKind::OutOfRange, "the prefix of an IPv6 block is at most 128"};
    }
    bytes = *ipv6;
  } else {
    return NotAnAddress();
  }
  Bytes16 masked{};
  for (unsigned bit = 0; bit < prefix; ++bit) {
    masked[bit / 8] =
        static_cast<std::uint8_t>(masked[bit / 8] | (bytes[bit / 8] & (0x80U >> (bit % 8))));
  }
  if (masked != bytes) {
    const bool ipv4 = prefix >= 96 && IsIpv4(Address{bytes});
    return Error{ErrorKind::Malformed, "the bits of a block behind its prefix are zero",
                 fmt::format("{}/{}", ToString(Address{masked}), ipv4 ? prefix - 96 : prefix)};
  }
  // IPv4 in another dress is judged as IPv4, so a block of it is one of IPv4 or nothing.
  for (const Embedding& embedding : kEmbeddings) {
    const unsigned begin = embedding.prefix;
    if (!SharesBits(bytes, embedding.base, std::min(prefix, begin))) continue;
    if (prefix < begin) continue;
    if (prefix > begin + 32 && prefix < 128) {
      return Error{ErrorKind::Malformed,
                   "IPv4 within IPv6 is judged as IPv4; write the IPv4 block"};
    }
    return Cidr{FromIpv4(bytes.data() + begin / 8),
                static_cast<std::uint8_t>(96 + std::min(prefix - begin, 32U))};
  }
  if (prefix > 96 && IsCompatible(bytes)) {
    return Cidr{FromIpv4(bytes.data() + 12), static_cast<std::uint8_t>(prefix)};
  }
  return Cidr{Address{bytes}, static_cast<std::uint8_t>(prefix)};
}

std::string ToString(const Cidr& block) {
  if (block.prefix == 128) return ToString(block.base);
  const bool ipv4 = block.prefix >= 96 && IsIpv4(block.base);
  return fmt::format("{}/{}", ToString(block.base), ipv4 ? block.prefix - 96 : block.prefix);
}

bool Contains(const Cidr& block, const Address& address) {
  // Families do not mix: `::/0` is every IPv6 address and no IPv4 one.
  if (IsIpv4(address) != (block.prefix >= 96 && IsIpv4(block.base))) return false;
  return SharesBits(block.base.bytes, address.bytes, block.prefix);
}

bool Covers(const Cidr& outer, const Cidr& inner) {
  return outer.prefix <= inner.prefix && Contains(outer, inner.base);
}

bool Meet(const Cidr& a, const Cidr& b) { return Covers(a, b) || Covers(b, a); }

std::string_view WordOf(Range range) {
  switch (range) {
    case Range::Public:
      return "public";
    case Range::Private:
      return "private";
    case Range::CarrierNat:
      return "carrier-NAT";
    case Range::Reserved:
      return "reserved";
    case Range::Loopback:
      return "loopback";
    case Range::LinkLocal:
      return "link-local";
    case Range::Multicast:
      return "multicast";
    case Range::Unspecified:
      return "unspecified";
    case Range::Metadata:
      return "metadata";
  }
  CURFEW_UNREACHABLE("the switch names every range");
}

std::span<const SpecialBlock> SpecialBlocks() { return kSpecial; }

Range RangeOf(const Address& address) {
  const Address reached = Unwrap(address);
  for (const SpecialBlock& special : kSpecial) {
    if (Contains(special.block, reached)) return special.range;
  }
  return Range::Public;
}

bool IsBarred(Range range) { return range != Range::Public; }

bool CanBePinned(Range range) {
  return range == Range::Public || range == Range::Private || range == Range::CarrierNat ||
         range == Range::Reserved;
}

std::optional<Range> UnpinnableIn(const Cidr& block) {
  for (const SpecialBlock& special : kSpecial) {
    if (CanBePinned(special.range)) continue;
    // Metadata addresses lie within blocks that may well be pinned; they stay barred one by one.
    const bool whole = special.range == Range::Metadata;
    if (whole ? Covers(special.block, block) : Meet(special.block, block)) return special.range;
  }
  return std::nullopt;
}

}  // namespace curfew::values
