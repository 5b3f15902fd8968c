#include "tests/end_to_end/capture.h"

#include "compiler/base/result.h"
#include "runtime/network/namespace.h"

#include <arpa/inet.h>
#include <cerrno>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdexcept>
#include <string_view>
#include <sys/socket.h>

#include <fmt/format.h>

namespace curfew::tests {
namespace {

constexpr std::size_t EthernetBytes = 14;
constexpr std::size_t Ipv4Bytes = 20;
constexpr int RoomBytes = 16 << 20;

// Numbers of a frame; 0 beyond its end.
unsigned ByteAt(std::string_view frame, std::size_t at) {
  return at < frame.size() ? static_cast<unsigned char>(frame[at]) : 0;
}
unsigned ShortAt(std::string_view frame, std::size_t at) {
  return ByteAt(frame, at) << 8 | ByteAt(frame, at + 1);
}
std::string AddressAt(std::string_view frame, std::size_t at) {
  return fmt::format("{}.{}.{}.{}", ByteAt(frame, at), ByteAt(frame, at + 1), ByteAt(frame, at + 2),
                     ByteAt(frame, at + 3));
}

std::string Describe(std::string_view frame) {
  const unsigned kind = ShortAt(frame, 12);
  if (kind == ETH_P_ARP) {
    const bool asks = ShortAt(frame, EthernetBytes + 6) == 1;
    return asks ? "arp for " + AddressAt(frame, EthernetBytes + 24)
                : "arp from " + AddressAt(frame, EthernetBytes + 14);
  }
  if (kind != ETH_P_IP || ByteAt(frame, EthernetBytes) != 0x45) {
    return fmt::format("kind {:04x}", kind);
  }
  const unsigned protocol = ByteAt(frame, EthernetBytes + 9);
  const std::string to = AddressAt(frame, EthernetBytes + 16);
  if (protocol != IPPROTO_UDP && protocol != IPPROTO_TCP) {
    return fmt::format("protocol {} to {}", protocol, to);
  }
  return fmt::format("{} to {}:{}", protocol == IPPROTO_UDP ? "udp" : "tcp", to,
                     ShortAt(frame, EthernetBytes + Ipv4Bytes + 2));
}

}  // namespace

Capture::Capture(int namespace_fd) {
  const Outcome opened = network::InNamespace(namespace_fd, [this]() -> Outcome {
    socket_ = OwnedFd(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL)));
    if (!socket_.is_open()) return SystemFailure(errno, "listen to a namespace");
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &RoomBytes, sizeof RoomBytes);
    struct if_nameindex* names = if_nameindex();
    for (const struct if_nameindex* name = names; name != nullptr && name->if_index != 0; ++name) {
      links_.emplace_back(name->if_name);
    }
    if_freenameindex(names);
    return Ok();
  });
  if (!opened) throw std::runtime_error(opened.error().message);
}

std::vector<std::string> Capture::Lines() {
  std::vector<std::string> lines;
  char room[65'536];
  for (;;) {
    sockaddr_ll from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        recvfrom(socket_.get(), room, sizeof room, 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return lines;
    lines.push_back((from.sll_pkttype == PACKET_OUTGOING ? "gateway: " : "guest: ") +
                    Describe(std::string_view(room, static_cast<std::size_t>(got))));
  }
}

}  // namespace curfew::tests
