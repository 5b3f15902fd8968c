// The wire of one sandbox: an anonymous network namespace that holds a tap, the gateway's listening
// sockets and nothing else. Whatever the guest sends reaches one of those sockets or is dropped by
// the kernel. Who answers on them is egress/'s business. Needs CAP_NET_ADMIN and CAP_SYS_ADMIN.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace curfew::network {

// The guest has no neighbour but the gateway: every other address, near or far, is behind it, and
// so reaches it.
//
// The same in every namespace, so that the clone of a machine needs no new settings: another MAC on
// the host's end would leave a stale neighbour in the guest, and its network would be dead.
inline constexpr std::string_view GuestAddress = "10.0.2.15";
inline constexpr std::string_view GatewayAddress = "10.0.2.2";  // default route and resolver
// The 32 bits of an address that is written out above.
constexpr std::uint32_t NumberOf(std::string_view address) {
  std::uint32_t number = 0;
  std::uint32_t part = 0;
  for (const char c : address) {
    if (c == '.') {
      number = number << 8 | part;
      part = 0;
    } else {
      part = part * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  return number << 8 | part;
}
static_assert(NumberOf(GuestAddress) == 0x0a00020f);

inline constexpr std::string_view GuestMac = "52:54:00:12:34:56";
inline constexpr std::string_view GatewayMac = "52:54:00:12:34:02";
inline constexpr std::uint16_t DnsPort = 53;

// Where the gateway takes the addresses from that it answers names with: one for each name and
// sandbox, 65,536 in all. A part of 198.18.0.0/15, which RFC 2544 sets aside for use inside a test
// bed: no host of the internet has one, and no guest takes one for its own network. They need no
// route: the packets are redirected before one is looked for.
inline constexpr std::string_view NamesNetwork = "198.18.0.0";
inline constexpr unsigned NamesPrefixLength = 16;

// What to look for when it should be gone. An inode number is used again at once, a cookie never
// until the next boot.
struct WireIdentity {
  std::uint64_t namespace_inode = 0;
  std::uint64_t namespace_cookie = 0;
  std::string tap_name;  // the first characters of the sandbox's id, as many as a link may have
  unsigned tap_index = 0;
  std::string table_name;  // the sandbox's id; of the family inet
  std::uint64_t table_handle = 0;
};

// The namespace lives as long as somebody holds one of these descriptors, or a socket accepted from
// one: nothing has a name. All are close-on-exec and non-blocking.
struct Wire {
  OwnedFd namespace_fd;
  // For QEMU: a frame is preceded by a virtio_net_hdr. The tap is gone with its last descriptor.
  OwnedFd tap;
  // Every TCP connection of the guest, whatever its destination was, except to the resolver.
  OwnedFd tcp_listener;
  // Datagrams and connections to GatewayAddress:53.
  OwnedFd dns_udp;
  OwnedFd dns_tcp;
  WireIdentity identity;
};

// Makes one, with every rule in force before its link goes up. `sandbox` is a sandbox's id.
// Unsupported, with the remedy, when the kernel lacks a part or forbids it. About 15 ms.
Result<Wire> MakeWire(const std::string& sandbox);

// Whether this host can: makes one and drops it.
Outcome TryWire();

// Where the guest meant to go: `connection` was accepted from tcp_listener.
struct Destination {
  std::uint32_t address = 0;  // IPv4, host byte order
  std::uint16_t port = 0;
};
Result<Destination> OriginalDestination(int connection);

}  // namespace curfew::network
