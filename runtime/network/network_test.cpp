#include "runtime/network/network.h"

#include "runtime/network/kernel_networks.h"
#include "runtime/network/namespace.h"
#include "runtime/network/played_guest.h"
#include "runtime/network/ruleset.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace curfew;
using namespace curfew::network;

namespace {

constexpr char One[] = "cf-wiretestaaaaaaaa";
constexpr char Other[] = "cf-wiretestbbbbbbbb";
constexpr int SoonMs = 10'000;  // what must come
constexpr int SilenceMs = 300;  // what must not
constexpr std::uint8_t Tcp = IPPROTO_TCP;
constexpr std::uint8_t Udp = IPPROTO_UDP;
constexpr std::uint8_t Icmp = IPPROTO_ICMP;

Wire Made(const char* sandbox = One) {
  Result<Wire> wire = MakeWire(sandbox);
  INFO((wire ? std::string() : wire.error().message));
  REQUIRE(wire);
  return *std::move(wire);
}

bool BecomesReadable(int fd, int patience_ms) {
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&ready, 1, patience_ms) == 1;
}

struct Datagram {
  std::string data;
  sockaddr_in from{};
};
Datagram TakeDatagram(int fd) {
  Datagram taken;
  char bytes[2048];
  socklen_t size = sizeof taken.from;
  REQUIRE(BecomesReadable(fd, SoonMs));
  const ssize_t got =
      recvfrom(fd, bytes, sizeof bytes, 0, reinterpret_cast<sockaddr*>(&taken.from), &size);
  REQUIRE(got >= 0);
  taken.data.assign(bytes, static_cast<std::size_t>(got));
  return taken;
}

// A socket in the wire's namespace, on an address and port that no guest may reach.
OwnedFd Bait(const Wire& wire, int family, int type, std::uint16_t port) {
  OwnedFd bait;
  const Outcome placed = InNamespace(wire.namespace_fd.get(), [&]() -> Outcome {
    bait = OwnedFd(
        socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, type == SOCK_RAW ? IPPROTO_ICMP : 0));
    if (!bait.is_open()) return SystemFailure(errno, "make a bait");
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    const bool is_six = family == AF_INET6;
    if (type != SOCK_RAW &&
        bind(bait.get(),
             is_six ? reinterpret_cast<sockaddr*>(&six) : reinterpret_cast<sockaddr*>(&four),
             is_six ? sizeof six : sizeof four) != 0) {
      return SystemFailure(errno, "bind a bait");
    }
    if (type == SOCK_STREAM && listen(bait.get(), 5) != 0) return SystemFailure(errno, "listen");
    return Ok();
  });
  REQUIRE(placed);
  return bait;
}

std::string Text(const Bytes& packet, std::size_t at) {
  return std::string(packet.begin() + static_cast<std::ptrdiff_t>(at), packet.end());
}
std::uint16_t Number16(const Bytes& bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}
std::uint32_t Number32(const Bytes& bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}
std::string AddressText(const Bytes& packet, std::size_t at) {
  return fmt::format("{}.{}.{}.{}", packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
}

constexpr std::size_t TcpAt = 20;  // behind a header of IPv4 without options

// Opens a connection as a guest's kernel would, and returns what the gateway's end accepted.
OwnedFd Connect(PlayedGuest& guest, int listener, const std::string& address, std::uint16_t port,
                std::uint16_t source_port, std::uint32_t* next_sequence = nullptr) {
  TcpSegment segment{.source_port = source_port,
                     .destination_port = port,
                     .sequence = 1000,
                     .acknowledged = 0,
                     .flags = TcpSyn,
                     .data = {}};
  guest.Send({.destination = address, .protocol = Tcp, .payload = TcpPayload(segment)});
  std::optional<Bytes> answer;
  do {  // past what connections before it still say
    answer = guest.ReceiveIp(SoonMs);
    REQUIRE(answer);
  } while (Number16(*answer, TcpAt + 2) != source_port);
  CHECK(AddressText(*answer, 12) == address);
  CHECK(Number16(*answer, TcpAt) == port);
  REQUIRE(((*answer)[TcpAt + 13] & (TcpSyn | TcpAck)) == (TcpSyn | TcpAck));
  segment.sequence = 1001;
  segment.acknowledged = Number32(*answer, TcpAt + 4) + 1;
  segment.flags = TcpAck;
  guest.Send({.destination = address, .protocol = Tcp, .payload = TcpPayload(segment)});
  segment.data = "hello";
  guest.Send({.destination = address, .protocol = Tcp, .payload = TcpPayload(segment)});
  if (next_sequence != nullptr) *next_sequence = segment.acknowledged;
  REQUIRE(BecomesReadable(listener, SoonMs));
  OwnedFd accepted(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  REQUIRE(accepted.is_open());
  char bytes[16];
  REQUIRE(BecomesReadable(accepted.get(), SoonMs));
  REQUIRE(read(accepted.get(), bytes, sizeof bytes) == 5);
  return accepted;
}

// The link answers what it must, so that silence before it says something.
void CheckAlive(PlayedGuest& guest, const Wire& wire) {
  guest.Send({.protocol = Udp, .payload = UdpPayload(5353, DnsPort, "alive")});
  CHECK(TakeDatagram(wire.dns_udp.get()).data == "alive");
}

}  // namespace

TEST_CASE("A wire has the same ends in every namespace, and an identity of its own") {
  const Wire one = Made();
  const Wire other = Made(Other);
  CHECK(one.identity.namespace_cookie != other.identity.namespace_cookie);
  CHECK(one.identity.namespace_inode != other.identity.namespace_inode);
  CHECK(one.identity.tap_name == "cf-wiretestaaaa");
  CHECK(one.identity.table_name == One);
  CHECK(one.identity.table_handle != 0);
  struct stat status{};
  REQUIRE(fstat(one.namespace_fd.get(), &status) == 0);
  CHECK(status.st_ino == one.identity.namespace_inode);
  for (const OwnedFd* fd :
       {&one.namespace_fd, &one.tap, &one.tcp_listener, &one.dns_udp, &one.dns_tcp}) {
    CHECK((fcntl(fd->get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  for (const OwnedFd* fd : {&one.tap, &one.tcp_listener, &one.dns_udp, &one.dns_tcp}) {
    CHECK((fcntl(fd->get(), F_GETFL) & O_NONBLOCK) != 0);
  }

  KernelNetworks networks;
  const Result<host::NetworkSeen> seen =
      networks.Look(fmt::format("/proc/self/fd/{}", one.namespace_fd.get()));
  REQUIRE(seen);
  CHECK(seen->cookie == one.identity.namespace_cookie);
  CHECK(seen->inode == one.identity.namespace_inode);
  REQUIRE(seen->tables.size() == 1);
  CHECK(seen->tables[0].family == "inet");
  CHECK(seen->tables[0].name == One);
  CHECK(seen->tables[0].handle == one.identity.table_handle);
  REQUIRE(seen->links.size() == 2);
  CHECK(seen->links[0].name == "lo");
  CHECK(seen->links[1].name == one.identity.tap_name);
  CHECK(seen->links[1].index == one.identity.tap_index);
  CHECK(seen->links[1].alias == One);
}

TEST_CASE("The caller stays where it was, and the tap dies with its last descriptor") {
  const Result<NamespaceIdentity> before = IdentifyOwnNamespace();
  REQUIRE(before);
  Wire wire = Made();
  const Result<NamespaceIdentity> after = IdentifyOwnNamespace();
  REQUIRE(after);
  CHECK(after->cookie == before->cookie);
  KernelNetworks networks;
  const std::string path = fmt::format("/proc/self/fd/{}", wire.namespace_fd.get());
  wire.tap.Reset();
  const Result<host::NetworkSeen> seen = networks.Look(path);
  REQUIRE(seen);
  REQUIRE(seen->links.size() == 1);
  CHECK(seen->links[0].name == "lo");
}

TEST_CASE("A connection to any address and port arrives with its original destination") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  struct Target {
    const char* address;
    std::uint16_t port;
  };
  std::uint16_t source_port = 40000;
  for (const Target target :
       {Target{"198.51.100.7", 80}, Target{"198.18.0.1", 443}, Target{"198.18.255.255", 65535},
        Target{"10.0.2.2", 15001}, Target{"10.0.2.99", 22}, Target{"8.8.8.8", 53},
        Target{"169.254.169.254", 80}, Target{"10.0.2.2", 1}}) {
    CAPTURE(target.address, target.port);
    const OwnedFd accepted =
        Connect(guest, wire.tcp_listener.get(), target.address, target.port, ++source_port);
    const Result<Destination> meant = OriginalDestination(accepted.get());
    REQUIRE(meant);
    CHECK(meant->address == ntohl(inet_addr(target.address)));
    CHECK(meant->port == target.port);
  }
}

TEST_CASE("What the gateway answers comes from where the guest meant to go") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  std::uint32_t next = 0;
  const OwnedFd accepted =
      Connect(guest, wire.tcp_listener.get(), "198.51.100.7", 80, 40000, &next);
  REQUIRE(write(accepted.get(), "answer", 6) == 6);
  std::string data;
  for (int i = 0; i < 5 && data.empty(); ++i) {  // past bare acknowledgements
    const std::optional<Bytes> packet = guest.ReceiveIp(SoonMs);
    REQUIRE(packet);
    CHECK(AddressText(*packet, 12) == "198.51.100.7");
    CHECK(AddressText(*packet, 16) == "10.0.2.15");
    data = Text(*packet, TcpAt + static_cast<std::size_t>((*packet)[TcpAt + 12] >> 4) * 4);
  }
  CHECK(data == "answer");
}

TEST_CASE("The resolver is reached by datagram and by connection, and answers") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  guest.Send({.protocol = Udp, .payload = UdpPayload(5353, DnsPort, "question")});
  const Datagram asked = TakeDatagram(wire.dns_udp.get());
  CHECK(asked.data == "question");
  CHECK(ntohl(asked.from.sin_addr.s_addr) == ntohl(inet_addr("10.0.2.15")));
  REQUIRE(sendto(wire.dns_udp.get(), "reply", 5, 0, reinterpret_cast<const sockaddr*>(&asked.from),
                 sizeof asked.from) == 5);
  const std::optional<Bytes> reply = guest.ReceiveIp(SoonMs);
  REQUIRE(reply);
  CHECK(AddressText(*reply, 12) == "10.0.2.2");
  CHECK(Text(*reply, 28) == "reply");

  const OwnedFd stream = Connect(guest, wire.dns_tcp.get(), "10.0.2.2", DnsPort, 40001);
  CHECK_FALSE(BecomesReadable(wire.tcp_listener.get(), 0));
}

TEST_CASE("Nothing else passes: other protocols, addresses, ports, sources, fragments") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  const OwnedFd bait = Bait(wire, AF_INET, SOCK_DGRAM, 9999);
  const OwnedFd bait_dns_elsewhere = Bait(wire, AF_INET, SOCK_DGRAM, 5354);
  const OwnedFd bait_tcp = Bait(wire, AF_INET, SOCK_STREAM, 8080);
  const OwnedFd bait_icmp = Bait(wire, AF_INET, SOCK_RAW, 0);
  CheckAlive(guest, wire);

  const std::vector<std::pair<const char*, PlayedPacket>> refused = {
      {"udp to another port", {.protocol = Udp, .payload = UdpPayload(1, 9999, "x")}},
      {"udp to a port that has nobody", {.protocol = Udp, .payload = UdpPayload(1, 9, "x")}},
      {"dns elsewhere",
       {.destination = "8.8.8.8", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"dns at a name's address",
       {.destination = "198.18.0.1", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"dns by broadcast",
       {.destination = "10.0.2.255", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"dns by multicast",
       {.destination = "224.0.0.251", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"dns at loopback",
       {.destination = "127.0.0.1", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"quic", {.destination = "198.18.0.1", .protocol = Udp, .payload = UdpPayload(1, 443, "x")}},
      {"ping the gateway", {.protocol = Icmp, .payload = PingPayload()}},
      {"ping an address",
       {.destination = "198.51.100.7", .protocol = Icmp, .payload = PingPayload()}},
      {"udp from a spoofed source",
       {.source = "10.0.2.77", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"udp as the gateway itself",
       {.source = "10.0.2.2", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"udp from loopback",
       {.source = "127.0.0.1", .protocol = Udp, .payload = UdpPayload(1, 53, "x")}},
      {"tcp from a spoofed source",
       {.source = "10.0.2.77",
        .destination = "198.18.0.1",
        .protocol = Tcp,
        .payload = TcpPayload({.flags = TcpSyn, .data = {}})}},
      {"tcp from the internet",
       {.source = "198.51.100.7",
        .destination = "198.18.0.1",
        .protocol = Tcp,
        .payload = TcpPayload({.flags = TcpSyn, .data = {}})}},
      {"sctp", {.protocol = 132, .payload = Bytes(16, 0)}},
      {"gre", {.protocol = 47, .payload = Bytes(16, 0)}},
      {"ip in ip", {.protocol = 4, .payload = Bytes(40, 0x45)}},
      {"igmp", {.destination = "224.0.0.22", .protocol = 2, .payload = Bytes(8, 0)}},
      {"udp-lite", {.protocol = 136, .payload = UdpPayload(1, 53, "x")}},
      {"dccp", {.protocol = 33, .payload = Bytes(16, 0)}},
  };
  for (const auto& [what, packet] : refused) guest.Send(packet);
  // A question and a first segment, each in two parts that the kernel could put together.
  const std::vector<std::pair<PlayedPacket, std::size_t>> parted = {
      {{.protocol = Udp, .payload = UdpPayload(1, DnsPort, "xxxxxxxxxxxxxxxx")}, 16},
      {{.destination = "198.18.0.1",
        .protocol = Tcp,
        .payload = TcpPayload({.flags = TcpSyn, .data = {}})},
       16}};
  for (const auto& [packet, bytes] : parted) {
    for (const PlayedPacket& part : Split(packet, bytes)) guest.Send(part);
  }

  for (const OwnedFd* quiet :
       {&bait, &bait_dns_elsewhere, &bait_tcp, &bait_icmp, &wire.tcp_listener, &wire.dns_tcp}) {
    CHECK_FALSE(BecomesReadable(quiet->get(), quiet == &bait ? SilenceMs : 0));
  }
  CHECK_FALSE(BecomesReadable(wire.dns_udp.get(), 0));
  // Not even an answer that says no.
  CHECK_FALSE(guest.ReceiveIp(SilenceMs));
  CheckAlive(guest, wire);
}

TEST_CASE("The bait would have been taken without the rules") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  const OwnedFd bait = Bait(wire, AF_INET, SOCK_DGRAM, 9999);
  guest.Send({.protocol = Udp, .payload = UdpPayload(1, 9999, "refused")});
  CHECK_FALSE(BecomesReadable(bait.get(), SilenceMs));
  REQUIRE(InNamespace(wire.namespace_fd.get(), [] { return LoadRuleset("flush ruleset"); }));
  guest.Send({.protocol = Udp, .payload = UdpPayload(1, 9999, "taken")});
  CHECK(TakeDatagram(bait.get()).data == "taken");
  guest.Send({.protocol = Icmp, .payload = PingPayload()});
  CHECK(guest.ReceiveIp(SoonMs));
}

TEST_CASE("IPv6 and frames of any other kind are dropped, and IPv6 is off") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  CheckAlive(guest, wire);
  // A neighbour solicitation for the address that the gateway's MAC would give it, as a guest that
  // looks for somebody sends it.
  Bytes solicitation = {0x60, 0, 0, 0, 0, 24, 58, 255};
  const Bytes from = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x56};
  const Bytes to = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0, 0xff, 0xfe, 0x12, 0x34, 0x02};
  for (const Bytes* part : {&from, &to}) {
    solicitation.insert(solicitation.end(), part->begin(), part->end());
  }
  const Bytes body = {135, 0, 0, 0, 0, 0, 0, 0};
  solicitation.insert(solicitation.end(), body.begin(), body.end());
  solicitation.insert(solicitation.end(), to.begin(), to.end());
  guest.SendFrame(0x86dd, solicitation);
  for (const int kind : {0x8100, 0x88a8, 0x8847, 0x8863, 0x88cc, 0x0805}) {
    guest.SendFrame(static_cast<std::uint16_t>(kind), Bytes(60, 1));
  }
  CHECK_FALSE(guest.ReceiveFrame(SilenceMs));
  REQUIRE(InNamespace(wire.namespace_fd.get(), [&]() -> Outcome {
    for (const char* link : {"all", "default", "lo", "cf-wiretestaaaa"}) {
      const std::string path = fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", link);
      const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      char value = '1';  // a kernel without IPv6 has no such file
      if (file.is_open() && read(file.get(), &value, 1) != 1) return SystemFailure(errno, path);
      if (value != '1') return Failure(FailureCode::System, path);
    }
    return Ok();
  }));
  CheckAlive(guest, wire);
}

TEST_CASE("The guest cannot make the host believe another neighbour") {
  const Wire wire = Made();
  PlayedGuest guest(wire.tap.get());
  // "10.0.2.15 is at 02:02:02:02:02:02", as a reply that nobody asked for.
  Bytes lie = {0,  1, 8, 0,  6,    4,    0, 2,    2,    2, 2,  2, 2, 2,
               10, 0, 2, 15, 0x52, 0x54, 0, 0x12, 0x34, 2, 10, 0, 2, 2};
  guest.SendFrame(0x0806, lie);
  guest.Send({.protocol = Udp, .payload = UdpPayload(5353, DnsPort, "question")});
  const Datagram asked = TakeDatagram(wire.dns_udp.get());
  REQUIRE(sendto(wire.dns_udp.get(), "reply", 5, 0, reinterpret_cast<const sockaddr*>(&asked.from),
                 sizeof asked.from) == 5);
  const std::optional<Bytes> frame = guest.ReceiveFrame(SoonMs);
  REQUIRE(frame);
  CHECK(Bytes(frame->begin(), frame->begin() + 6) == Bytes{0x52, 0x54, 0x00, 0x12, 0x34, 0x56});
}

TEST_CASE("The gateway answers for its own hardware address, which is the same everywhere") {
  for (const char* sandbox : {One, Other}) {
    const Wire wire = Made(sandbox);
    PlayedGuest guest(wire.tap.get());
    Bytes who = {0,  1, 8, 0,  6, 4, 0, 1, 0x52, 0x54, 0,  0x12, 0x34, 0x56,
                 10, 0, 2, 15, 0, 0, 0, 0, 0,    0,    10, 0,    2,    2};
    guest.SendFrame(0x0806, who);
    const std::optional<Bytes> answer = guest.ReceiveFrame(SoonMs);
    REQUIRE(answer);
    REQUIRE(answer->size() >= 42);
    CHECK(Bytes(answer->begin() + 22, answer->begin() + 28) ==
          Bytes{0x52, 0x54, 0x00, 0x12, 0x34, 0x02});
  }
}

TEST_CASE("Two wires do not hear each other") {
  const Wire one = Made();
  const Wire other = Made(Other);
  PlayedGuest guest(one.tap.get());
  PlayedGuest stranger(other.tap.get());
  guest.Send({.protocol = Udp, .payload = UdpPayload(1, DnsPort, "mine")});
  CHECK(TakeDatagram(one.dns_udp.get()).data == "mine");
  CHECK_FALSE(BecomesReadable(other.dns_udp.get(), SilenceMs));
  CHECK_FALSE(stranger.ReceiveIp(0));
}

TEST_CASE("A namespace that ended is not found, and an unprivileged caller is told the remedy") {
  KernelNetworks networks;
  const Result<host::NetworkSeen> none = networks.Look("/proc/self/fd/999");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == FailureCode::NotFound);
  REQUIRE(TryWire());

  // The capabilities of a thread are its own.
  Outcome tried = Ok();
  std::thread([&] {
    if (unshare(CLONE_FILES) == 0 && syscall(SYS_setresuid, -1, 65534, -1) == 0) tried = TryWire();
  }).join();
  REQUIRE_FALSE(tried);
  CHECK(tried.error().code == FailureCode::Unsupported);
  CHECK(tried.error().message.find("CAP_NET_ADMIN") != std::string::npos);
}
