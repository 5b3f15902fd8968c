// The wire under a real guest: programs inside try every way out, and the test, which plays the
// gateway, says what arrived. One boot serves all of it.
#include "runtime/network/namespace.h"
#include "tests/end_to_end/capture.h"
#include "tests/end_to_end/guest_rig.h"

#include <arpa/inet.h>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

// As root inside, since a task that broke out of its user is still a guest. Each attempt prints its
// name and what came of it; what must stay silent waits for an answer first.
constexpr char Attempts[] = R"(
import os, socket, struct, subprocess, time
PATIENCE = 0.4

def attempt(name, act):
    try:
        said = act()
    except OSError as error:
        said = "error " + (error.strerror or str(error))
    print(name + ": " + said, flush=True)

def udp(address, port, source=None):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(PATIENCE)
    if source:
        s.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND
        s.bind((source, 0))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    s.sendto(b"escape", (address, port))
    return "answer " + repr(s.recv(100))

def icmp(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.settimeout(PATIENCE)
    body = struct.pack("!BBHHH", 8, 0, 0, 1, 1)
    total = sum(struct.unpack("!4H", body))
    s.sendto(struct.pack("!BBHHH", 8, 0, ~total & 0xffff, 1, 1), (address, 0))
    return "answer " + repr(s.recv(100))

def raw(protocol, address):
    s = socket.socket(socket.AF_INET, socket.SOCK_RAW, protocol)
    s.settimeout(PATIENCE)
    s.sendto(b"escape" * 4, (address, 0))
    return "answer " + repr(s.recv(100))

def six(address, scope=0):
    s = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
    s.settimeout(PATIENCE)
    s.connect((address, 80, 0, scope))
    return "connected"

def frame(kind, payload, destination=b"\x52\x54\x00\x12\x34\x02"):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("eth0", 0))
    s.send(destination + b"\x52\x54\x00\x12\x34\x56" + struct.pack("!H", kind) + payload)
    return "sent"

def ip_packet(source, destination, protocol, payload, flags=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 7, flags, 64, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(destination))
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    return head[:10] + struct.pack("!H", ~total & 0xffff) + head[12:] + payload

def dns_from(source):
    datagram = struct.pack("!HHHH", 999, 53, 14, 0) + b"escape"
    return frame(0x0800, ip_packet(source, "10.0.2.2", 17, datagram))

def syn_from(source):
    segment = struct.pack("!HHIIBBHHH", 999, 80, 1, 0, 0x50, 2, 1000, 0, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton("198.18.0.9") + struct.pack("!HH", 6, 20)
    total = sum(struct.unpack("!16H", pseudo + segment))
    total = (total & 0xffff) + (total >> 16)
    total = (total & 0xffff) + (total >> 16)
    segment = segment[:16] + struct.pack("!H", ~total & 0xffff) + segment[18:]
    return frame(0x0800, ip_packet(source, "198.18.0.9", 6, segment))

for port in (1, 53, 123, 443, 9999):
    attempt("udp elsewhere %d" % port, lambda: udp("198.51.100.7", port))
attempt("udp to a name's address", lambda: udp("198.18.0.1", 443))
attempt("udp to the bait", lambda: udp("10.0.2.2", 9999))
attempt("dns by broadcast", lambda: udp("10.0.2.255", 53))
attempt("dns by multicast", lambda: udp("224.0.0.251", 5353))
attempt("dhcp", lambda: udp("255.255.255.255", 67))
attempt("dns from a spoofed address", lambda: udp("10.0.2.2", 53, "10.0.2.77"))
attempt("ping the gateway", lambda: icmp("10.0.2.2"))
attempt("ping the world", lambda: icmp("198.51.100.7"))
for protocol in (2, 4, 41, 47, 50, 132, 136):
    attempt("protocol %d" % protocol, lambda: raw(protocol, "10.0.2.2"))
attempt("ipv6 world", lambda: six("2001:db8::1"))
attempt("ipv6 link", lambda: six("fe80::5054:ff:fe12:3402", socket.if_nametoindex("eth0")))
open("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "w").write("0")
time.sleep(2.5)  # until the address is tried out
attempt("ipv6 link, switched on", lambda: six("fe80::5054:ff:fe12:3402", socket.if_nametoindex("eth0")))
for source in ("10.0.2.2", "10.0.2.77", "127.0.0.1", "192.0.2.1", "198.18.0.1"):
    attempt("frame from " + source, lambda: dns_from(source))
    attempt("syn from " + source, lambda: syn_from(source))
attempt("fragments", lambda: frame(0x0800, ip_packet("10.0.2.15", "10.0.2.2", 17,
        struct.pack("!HHHH", 999, 53, 24, 0), 0x2000)) +
        frame(0x0800, ip_packet("10.0.2.15", "10.0.2.2", 17, b"escapeescapeesca", 1)))
for kind in (0x8100, 0x88a8, 0x86dd, 0x8847, 0x1234):
    attempt("frame of kind %x" % kind, lambda: frame(kind, b"escape" * 10))
)";

constexpr char Connections[] = R"(
import socket, sys
for target in sys.argv[1:]:
    address, port = target.split(":")
    s = socket.create_connection((address, int(port)), 30)
    s.sendall(target.encode())
    print(target, s.recv(100).decode(), s.getpeername()[0], flush=True)
    s.close()
)";

// Answers what reaches the gateway, and remembers it.
class PlayedGateway {
 public:
  explicit PlayedGateway(network::Wire& wire) : wire_(wire) {}

  void Turn() {
    for (const OwnedFd* listener : {&wire_.tcp_listener, &wire_.dns_tcp}) {
      for (;;) {
        OwnedFd accepted(accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!accepted.is_open()) break;
        const Result<network::Destination> meant = network::OriginalDestination(accepted.get());
        if (listener == &wire_.tcp_listener && meant) {
          arrived.push_back(fmt::format("{}.{}.{}.{}:{}", meant->address >> 24,
                                        meant->address >> 16 & 255, meant->address >> 8 & 255,
                                        meant->address & 255, meant->port));
        } else {
          arrived.push_back("resolver");
        }
        open_.push_back(std::move(accepted));
      }
    }
    char bytes[2048];
    for (OwnedFd& connection : open_) {
      const ssize_t got = read(connection.get(), bytes, sizeof bytes);
      if (got > 0) {
        said.emplace_back(bytes, static_cast<std::size_t>(got));
        CHECK(write(connection.get(), "welcome", 7) == 7);
      } else if (got == 0) {
        connection.Reset();
      }
    }
    std::erase_if(open_, [](const OwnedFd& connection) { return !connection.is_open(); });
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got = recvfrom(wire_.dns_udp.get(), bytes, sizeof bytes, 0,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) return;
    asked.emplace_back(bytes, static_cast<std::size_t>(got));
    // The question itself, as an answer that says "no such name".
    bytes[2] = static_cast<char>(0x81);
    bytes[3] = static_cast<char>(0x83);
    CHECK(sendto(wire_.dns_udp.get(), bytes, static_cast<std::size_t>(got), 0,
                 reinterpret_cast<sockaddr*>(&from), size) == got);
  }

  std::vector<std::string> arrived;  // where each connection meant to go
  std::vector<std::string> said;     // on connections
  std::vector<std::string> asked;    // datagrams of the resolver

 private:
  network::Wire& wire_;
  std::vector<OwnedFd> open_;
};

bool IsQuiet(int fd) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&ready, 1, 0) == 0;
}

// In a namespace that the guest must not reach.
OwnedFd BoundBait(int type, const char* address, std::uint16_t port) {
  OwnedFd bait(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = inet_addr(address);
  REQUIRE(bind(bait.get(), reinterpret_cast<sockaddr*>(&place), sizeof place) == 0);
  if (type == SOCK_STREAM) REQUIRE(listen(bait.get(), 5) == 0);
  return bait;
}

struct Baits {
  OwnedFd gateway;   // in the sandbox's own namespace, on a port without a rule
  OwnedFd host;      // the host's loopback
  OwnedFd host_any;  // every address of the host
  network::Wire other = std::move(network::MakeWire("cf-otheraaaaaaaaaaa")).value();

  explicit Baits(const network::Wire& wire)
      : host(BoundBait(SOCK_DGRAM, "127.0.0.1", 9999)),
        host_any(BoundBait(SOCK_STREAM, "0.0.0.0", 0)) {
    REQUIRE(network::InNamespace(wire.namespace_fd.get(), [&] {
      gateway = BoundBait(SOCK_DGRAM, "0.0.0.0", 9999);
      return Ok();
    }));
  }
  [[nodiscard]] bool AreQuiet() const {
    return IsQuiet(gateway.get()) && IsQuiet(host.get()) && IsQuiet(host_any.get()) &&
           IsQuiet(other.tcp_listener.get()) && IsQuiet(other.dns_udp.get()) &&
           IsQuiet(other.dns_tcp.get()) && IsQuiet(other.tap.get());
  }
  [[nodiscard]] std::uint16_t HostPort() const {
    sockaddr_in place{};
    socklen_t size = sizeof place;
    getsockname(host_any.get(), reinterpret_cast<sockaddr*>(&place), &size);
    return ntohs(place.sin_port);
  }
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

void CheckSettings(GuestRig& rig) {
  const Ran ran = rig.Run({"sh", "-c",
                           "cat /sys/class/net/eth0/address /etc/resolv.conf "
                           "/proc/sys/net/ipv6/conf/eth0/disable_ipv6; cat /proc/net/route"});
  CHECK(ran.out.rfind("52:54:00:12:34:56\nnameserver 10.0.2.2\n1\n", 0) == 0);
  CHECK(ran.out.find("eth0\t00000000\t0202000A\t") != std::string::npos);
  CHECK(ran.out.find("eth0\t0202000A\t00000000\t") != std::string::npos);
}

void CheckConnections(GuestRig& rig, PlayedGateway& gateway, const Baits& baits) {
  const std::vector<std::string> targets = {
      "198.51.100.7:80",      "198.18.0.1:443",
      "198.18.255.254:65535", "10.0.2.2:9999",
      "10.0.2.2:15001",       "10.0.2.99:22",
      "8.8.8.8:53",           "169.254.169.254:80",
      "192.168.0.1:445",      fmt::format("172.17.0.1:{}", baits.HostPort())};
  std::vector<std::string> arguments = {"python3", "-c", Connections};
  arguments.insert(arguments.end(), targets.begin(), targets.end());
  const Ran ran = rig.Run(arguments);
  INFO(ran.error);
  std::vector<std::string> expected;
  for (const std::string& target : targets) {
    expected.push_back(target + " welcome " + target.substr(0, target.find(':')));
  }
  CHECK(LinesOf(ran.out) == expected);
  CHECK(gateway.arrived == targets);
  CHECK(gateway.said == targets);
  gateway.arrived.clear();
  const Ran resolver = rig.Run({"python3", "-c", Connections, "10.0.2.2:53"});
  CHECK(resolver.out == "10.0.2.2:53 welcome 10.0.2.2\n");
  CHECK(gateway.arrived == std::vector<std::string>{"resolver"});
  CHECK(baits.AreQuiet());
}

void CheckNames(GuestRig& rig, PlayedGateway& gateway) {
  const Ran ran = rig.Run({"python3", "-c",
                           "import socket\ntry: socket.getaddrinfo('name.example', 80)\n"
                           "except socket.gaierror as e: print(e.errno == socket.EAI_NONAME)"});
  CHECK(ran.out == "True\n");
  REQUIRE_FALSE(gateway.asked.empty());
  CHECK(gateway.asked[0].find(std::string("\4name\7example\0", 14)) != std::string::npos);
}

// From before the machine was there until its first command: a guest that boots says nothing, to
// anybody, and nothing is said to it.
void CheckBoot(GuestRig& rig, PlayedGateway& gateway, Capture& capture) {
  CHECK(capture.links() == std::vector<std::string>{"lo", rig.wire().identity.tap_name});
  CHECK(capture.Lines().empty());
  CHECK(rig.Run({"true"}).exited->value == 0);
  CHECK(capture.Lines().empty());
  gateway.Turn();
  CHECK(gateway.arrived.empty());
  CHECK(gateway.asked.empty());
  // The first command that asks for a name is the first to be heard, by its gateway alone.
  CheckNames(rig, gateway);
  gateway.asked.clear();
  const std::vector<std::string> lines = capture.Lines();
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0] == "guest: arp for 10.0.2.2");
  CHECK(lines[1] == "gateway: arp from 10.0.2.2");
  CHECK(lines[2] == "guest: udp to 10.0.2.2:53");
  for (const std::string& line : lines) {
    INFO(line);
    const bool is_expected = line == "guest: udp to 10.0.2.2:53" ||
                             line.starts_with("gateway: udp to 10.0.2.15:") ||
                             line.find(": arp for ") != std::string::npos ||
                             line.find(": arp from ") != std::string::npos;
    CHECK(is_expected);
  }
}

void CheckEscapes(GuestRig& rig, PlayedGateway& gateway, const Baits& baits) {
  gateway.arrived.clear();
  gateway.said.clear();
  gateway.asked.clear();
  const Ran ran = rig.Run({"python3", "-"}, Attempts, 0, "root");
  INFO(ran.out << ran.error);
  REQUIRE(ran.exited);
  CHECK(ran.exited->value == 0);
  const std::vector<std::string> lines = LinesOf(ran.out);
  CHECK(lines.size() == 39);
  for (const std::string& line : lines) {
    const bool is_silent = line.ends_with(": sent") || line.ends_with(": sentsent") ||
                           line.find(": error ") != std::string::npos;
    INFO(line);
    CHECK(is_silent);
    CHECK(line.find("refused") == std::string::npos);  // no answer is no answer
  }
  CHECK(gateway.arrived.empty());
  CHECK(gateway.said.empty());
  CHECK(gateway.asked.empty());
  CHECK(baits.AreQuiet());
}

void CheckDenials(GuestRig& rig) {
  CHECK(rig.Run({"sh", "-c", "cat /run/curfew/denials && ls -l /run/curfew"})
            .out.rfind("total 0\n-r--r--r-- 1 root root 0 ", 0) == 0);
  int noted = 0;
  for (const char* line : {"egress tcp 198.18.0.1:22: coding.network.default", "second"}) {
    rig.session().NoteDenial(line, [&](Outcome done) { noted += done.has_value() ? 1 : 0; });
  }
  REQUIRE(rig.Drive([&] { return noted == 2; }));
  const Ran read = rig.Run({"cat", "/run/curfew/denials"});
  CHECK(read.out == "egress tcp 198.18.0.1:22: coding.network.default\nsecond\n");
  CHECK(rig.Run({"sh", "-c", "echo forged >> /run/curfew/denials || rm -f /run/curfew/denials"})
            .exited->value != 0);
}

}  // namespace

TEST_CASE("a guest on its wire reaches its gateway, whatever it asks for, and nothing else") {
  const std::string missing = GuestRig::Missing();
  if (!missing.empty()) {
    WARN("not run: " << missing);
    return;
  }
  std::optional<Capture> capture;
  GuestRig rig(GuestRig::Network::Wired,
               [&](const network::Wire& wire) { capture.emplace(wire.namespace_fd.get()); });
  const Baits baits(rig.wire());
  PlayedGateway gateway(rig.wire());
  rig.on_turn = [&] { gateway.Turn(); };
  CheckBoot(rig, gateway, *capture);
  CheckSettings(rig);
  CheckConnections(rig, gateway, baits);
  CheckEscapes(rig, gateway, baits);
  CheckDenials(rig);
}

}  // namespace curfew::tests
