// A guest that is played by a test at the other end of the tap: it sends frames of its own making,
// right ones and wrong ones, and says what came back. The kernel at the host's end is the real one.
#pragma once

#include "compiler/base/text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::network {

// A packet of IPv4, made field by field.
struct PlayedPacket {
  std::string source = "10.0.2.15";
  std::string destination = "10.0.2.2";
  std::uint8_t protocol = 17;
  std::uint16_t fragment = 0;  // flags and offset as they stand in the header
  Bytes payload;               // from the header of TCP, UDP or ICMP on
  bool is_whole = true;        // its checksum is set
};

Bytes UdpPayload(std::uint16_t source_port, std::uint16_t destination_port, std::string_view data);
Bytes PingPayload();
struct TcpSegment {
  std::uint16_t source_port = 40000;
  std::uint16_t destination_port = 80;
  std::uint32_t sequence = 1000;
  std::uint32_t acknowledged = 0;
  std::uint8_t flags = 0;
  std::string data;
};
inline constexpr std::uint8_t TcpSyn = 0x02;
inline constexpr std::uint8_t TcpReset = 0x04;
inline constexpr std::uint8_t TcpAck = 0x10;
Bytes TcpPayload(const TcpSegment& segment);

// The same packet in two fragments, the first with `bytes` (a multiple of 8) of the payload.
std::vector<PlayedPacket> Split(const PlayedPacket& packet, std::size_t bytes);

class PlayedGuest {
 public:
  // `tap` is borrowed.
  explicit PlayedGuest(int tap) : tap_(tap) {}

  void Send(const PlayedPacket& packet);
  // Any frame: the destination is the gateway's MAC.
  void SendFrame(std::uint16_t ether_type, const Bytes& payload);

  // The next IPv4 packet that comes within `patience_ms`, from its header on.
  std::optional<Bytes> ReceiveIp(int patience_ms);
  // The next frame of any kind, without its virtio header.
  std::optional<Bytes> ReceiveFrame(int patience_ms);

 private:
  int tap_;
};

}  // namespace curfew::network
