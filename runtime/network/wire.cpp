#include "compiler/base/incarnation.h"
#include "runtime/network/link.h"
#include "runtime/network/namespace.h"
#include "runtime/network/network.h"
#include "runtime/network/ruleset.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/netfilter_ipv4.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::network {
namespace {

constexpr char TunDevice[] = "/dev/net/tun";
constexpr std::uint16_t RedirectPort = 15001;  // in a namespace that nobody else uses
constexpr unsigned PrefixLength = 24;          // holds the guest's address
constexpr int Backlog = 1024;
constexpr std::string_view ProbedSandbox = "cf-aaaaaaaaaaaaaaaa";
constexpr std::string_view Remedy =
    "run as root with CAP_NET_ADMIN and CAP_SYS_ADMIN on a kernel that has tun, nf_tables with "
    "nat, redirect and the ingress hook (Debian's has them as modules), and where /proc/sys can be "
    "written";

Outcome WriteSetting(const std::string& name, std::string_view value) {
  const std::string path = "/proc/sys/net/" + name;
  const OwnedFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return SystemFailure(errno, "open " + path);
  if (write(file.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return SystemFailure(errno, "write " + path);
  }
  return Ok();
}

// A new namespace takes over some of the host's settings. Nothing is forwarded, and IPv6 is not
// spoken: a kernel without it has no such setting.
Outcome Quieten() {
  CURFEW_TRY_VOID(WriteSetting("ipv4/ip_forward", "0"));
  for (const char* scope : {"all", "default"}) {
    const Outcome off = WriteSetting(fmt::format("ipv6/conf/{}/disable_ipv6", scope), "1");
    if (!off && off.error().code != FailureCode::NotFound) return off;
  }
  return Ok();
}

Result<OwnedFd> MakeTap(const std::string& name) {
  OwnedFd tap(open(TunDevice, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!tap.is_open()) return SystemFailure(errno, fmt::format("open {}", TunDevice));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL);
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) return SystemFailure(errno, "make a tap");
  return tap;
}

Result<host::LinkSeen> FindLink(Links& links, const std::string& name) {
  CURFEW_TRY(const std::vector<host::LinkSeen> all, links.All());
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const host::LinkSeen& link) { return link.name == name; });
  if (found == all.end()) return Failure(FailureCode::NotFound, fmt::format("no link {}", name));
  return *found;
}

// The rules are there before the link is up: no frame is ever without them.
Outcome RaiseTap(Wire& wire, const std::string& sandbox) {
  CURFEW_TRY(Links links, Links::Open());
  CURFEW_TRY(const host::LinkSeen loopback, FindLink(links, "lo"));
  CURFEW_TRY(const host::LinkSeen tap, FindLink(links, wire.identity.tap_name));
  wire.identity.tap_index = tap.index;
  CURFEW_TRY_VOID(links.Raise(loopback));
  CURFEW_TRY_VOID(links.Dress(tap, GatewayMac, sandbox));
  CURFEW_TRY_VOID(links.AddAddress(tap, GatewayAddress, PrefixLength));
  CURFEW_TRY_VOID(LoadRuleset(RulesetText(sandbox, tap.name, RedirectPort)));
  CURFEW_TRY_VOID(links.Raise(tap));
  return links.FixNeighbour(tap, GuestAddress, GuestMac);
}

Outcome NoteTable(WireIdentity& identity) {
  CURFEW_TRY(const std::vector<host::PacketTableSeen> tables, ListTables());
  if (tables.size() != 1 || tables[0].name != identity.table_name) {
    return Failure(FailureCode::System, "the namespace does not have its one table of rules");
  }
  identity.table_handle = tables[0].handle;
  return Ok();
}

Result<OwnedFd> BindAt(int type, std::uint16_t port) {
  OwnedFd bound(socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!bound.is_open()) return SystemFailure(errno, "make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, std::string(GatewayAddress).c_str(), &address.sin_addr) != 1) {
    return Failure(FailureCode::Malformed, "the gateway's address is none");
  }
  if (bind(bound.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return SystemFailure(errno, fmt::format("bind the gateway's port {}", port));
  }
  if (type == SOCK_STREAM && listen(bound.get(), Backlog) != 0) {
    return SystemFailure(errno, fmt::format("listen on the gateway's port {}", port));
  }
  return bound;
}

Outcome Fill(Wire& wire, const std::string& sandbox) {
  CURFEW_TRY(wire.namespace_fd, OpenOwnNamespace());
  CURFEW_TRY(const NamespaceIdentity own, IdentifyOwnNamespace());
  wire.identity.namespace_inode = own.inode;
  wire.identity.namespace_cookie = own.cookie;
  wire.identity.tap_name = sandbox.substr(0, IFNAMSIZ - 1);
  wire.identity.table_name = sandbox;
  CURFEW_TRY_VOID(Quieten());
  CURFEW_TRY(wire.tap, MakeTap(wire.identity.tap_name));
  CURFEW_TRY_VOID(RaiseTap(wire, sandbox));
  CURFEW_TRY_VOID(NoteTable(wire.identity));
  CURFEW_TRY(wire.tcp_listener, BindAt(SOCK_STREAM, RedirectPort));
  CURFEW_TRY(wire.dns_udp, BindAt(SOCK_DGRAM, DnsPort));
  CURFEW_TRY(wire.dns_tcp, BindAt(SOCK_STREAM, DnsPort));
  return Ok();
}

}  // namespace

Result<Wire> MakeWire(const std::string& sandbox) {
  CURFEW_CHECK(IsSandboxId(sandbox), "a wire is named after its sandbox");
  Wire wire;
  const Outcome made = InNewNamespace([&] { return Fill(wire, sandbox); });
  if (made) return wire;
  const FailureCode code = made.error().code;
  const bool is_passing = code == FailureCode::OutOfSpace || code == FailureCode::Busy;
  return Failure(is_passing ? code : FailureCode::Unsupported,
                 fmt::format("no network for a sandbox: {}{}{}", made.error().message,
                             is_passing ? "" : "; ", is_passing ? "" : Remedy));
}

Outcome TryWire() {
  CURFEW_TRY_VOID(MakeWire(std::string(ProbedSandbox)));
  return Ok();
}

Result<Destination> OriginalDestination(int connection) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockopt(connection, SOL_IP, SO_ORIGINAL_DST, &address, &size) != 0) {
    return SystemFailure(errno, "ask where a connection was meant to go");
  }
  return Destination{.address = ntohl(address.sin_addr.s_addr), .port = ntohs(address.sin_port)};
}

}  // namespace curfew::network
