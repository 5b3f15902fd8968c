#include "runtime/network/played_guest.h"

#include "compiler/base/check.h"

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <poll.h>
#include <unistd.h>

namespace curfew::network {
namespace {

constexpr std::size_t VirtioHeaderBytes = 10;
constexpr std::size_t EtherHeaderBytes = 14;
constexpr std::array<std::uint8_t, 6> GuestHardware = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56};
constexpr std::array<std::uint8_t, 6> GatewayHardware = {0x52, 0x54, 0x00, 0x12, 0x34, 0x02};
constexpr std::uint16_t EtherIp = 0x0800;

void Put16(Bytes& bytes, std::uint16_t value) {
  bytes.push_back(static_cast<std::uint8_t>(value >> 8));
  bytes.push_back(static_cast<std::uint8_t>(value));
}
void Put32(Bytes& bytes, std::uint32_t value) {
  Put16(bytes, static_cast<std::uint16_t>(value >> 16));
  Put16(bytes, static_cast<std::uint16_t>(value));
}
void Set16(Bytes& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::uint8_t>(value >> 8);
  bytes[at + 1] = static_cast<std::uint8_t>(value);
}

// RFC 1071.
std::uint16_t Checksum(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const std::uint32_t low = i + 1 < bytes.size() ? bytes[i + 1] : 0;
    sum += (std::uint32_t{bytes[i]} << 8) | low;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::uint32_t AddressOf(const std::string& text) {
  in_addr address{};
  CURFEW_CHECK(inet_pton(AF_INET, text.c_str(), &address) == 1, "a test writes addresses right");
  return ntohl(address.s_addr);
}

std::size_t ChecksumPlace(std::uint8_t protocol) {
  return protocol == IPPROTO_TCP ? 16 : protocol == IPPROTO_UDP ? 6 : 2;
}

Bytes Sealed(const PlayedPacket& packet) {
  Bytes payload = packet.payload;
  const std::size_t place = ChecksumPlace(packet.protocol);
  if (!packet.is_whole || payload.size() < place + 2) return payload;
  Bytes summed;
  if (packet.protocol != IPPROTO_ICMP) {
    Put32(summed, AddressOf(packet.source));
    Put32(summed, AddressOf(packet.destination));
    Put16(summed, packet.protocol);
    Put16(summed, static_cast<std::uint16_t>(payload.size()));
  }
  summed.insert(summed.end(), payload.begin(), payload.end());
  Set16(payload, place, Checksum(summed));
  return payload;
}

}  // namespace

Bytes UdpPayload(std::uint16_t source_port, std::uint16_t destination_port, std::string_view data) {
  Bytes bytes;
  Put16(bytes, source_port);
  Put16(bytes, destination_port);
  Put16(bytes, static_cast<std::uint16_t>(8 + data.size()));
  Put16(bytes, 0);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

Bytes PingPayload() { return {8, 0, 0, 0, 0, 1, 0, 1, 'p', 'i', 'n', 'g'}; }

Bytes TcpPayload(const TcpSegment& segment) {
  Bytes bytes;
  Put16(bytes, segment.source_port);
  Put16(bytes, segment.destination_port);
  Put32(bytes, segment.sequence);
  Put32(bytes, segment.acknowledged);
  bytes.push_back(5 << 4);
  bytes.push_back(segment.flags);
  Put16(bytes, 0xffff);
  Put16(bytes, 0);
  Put16(bytes, 0);
  bytes.insert(bytes.end(), segment.data.begin(), segment.data.end());
  return bytes;
}

std::vector<PlayedPacket> Split(const PlayedPacket& packet, std::size_t bytes) {
  constexpr std::uint16_t MoreFragments = 0x2000;
  const Bytes whole = Sealed(packet);
  PlayedPacket first = packet;
  PlayedPacket second = packet;
  first.is_whole = second.is_whole = false;
  const auto cut = whole.begin() + static_cast<std::ptrdiff_t>(bytes);
  first.fragment = MoreFragments;
  first.payload.assign(whole.begin(), cut);
  second.fragment = static_cast<std::uint16_t>(bytes / 8);
  second.payload.assign(cut, whole.end());
  return {first, second};
}

void PlayedGuest::Send(const PlayedPacket& packet) {
  const Bytes payload = Sealed(packet);
  Bytes header = {0x45, 0};
  Put16(header, static_cast<std::uint16_t>(20 + payload.size()));
  Put16(header, 77);
  Put16(header, packet.fragment);
  header.push_back(64);
  header.push_back(packet.protocol);
  Put16(header, 0);
  Put32(header, AddressOf(packet.source));
  Put32(header, AddressOf(packet.destination));
  Set16(header, 10, Checksum(header));
  header.insert(header.end(), payload.begin(), payload.end());
  SendFrame(EtherIp, header);
}

void PlayedGuest::SendFrame(std::uint16_t ether_type, const Bytes& payload) {
  Bytes frame(VirtioHeaderBytes, 0);
  frame.insert(frame.end(), GatewayHardware.begin(), GatewayHardware.end());
  frame.insert(frame.end(), GuestHardware.begin(), GuestHardware.end());
  Put16(frame, ether_type);
  frame.insert(frame.end(), payload.begin(), payload.end());
  CURFEW_CHECK(write(tap_, frame.data(), frame.size()) == static_cast<ssize_t>(frame.size()),
               "the tap takes a frame of a test");
}

std::optional<Bytes> PlayedGuest::ReceiveFrame(int patience_ms) {
  pollfd ready{.fd = tap_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, patience_ms) != 1) return std::nullopt;
  Bytes frame(64 * 1024);
  const ssize_t got = read(tap_, frame.data(), frame.size());
  if (got < static_cast<ssize_t>(VirtioHeaderBytes + EtherHeaderBytes)) return std::nullopt;
  return Bytes(frame.begin() + VirtioHeaderBytes, frame.begin() + got);
}

std::optional<Bytes> PlayedGuest::ReceiveIp(int patience_ms) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(patience_ms);
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left < 0) return std::nullopt;
    const std::optional<Bytes> frame = ReceiveFrame(static_cast<int>(left));
    if (!frame) return std::nullopt;
    if ((*frame)[12] == EtherIp >> 8 && (*frame)[13] == (EtherIp & 0xff)) {
      return Bytes(frame->begin() + EtherHeaderBytes, frame->end());
    }
  }
}

}  // namespace curfew::network
