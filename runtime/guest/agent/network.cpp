#include "runtime/guest/agent/network.h"

#include "runtime/guest/agent/files.h"
#include "runtime/guest/agent/machine_boot.h"
#include "runtime/guest/agent/text_file.h"

#include <arpa/inet.h>
#include <cerrno>
#include <memory>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

constexpr char Links[] = "/sys/class/net";
constexpr char Ipv6Settings[] = "/proc/sys/net/ipv6/conf";
constexpr char ResolverFile[] = "/etc/resolv.conf";
constexpr int LinkWaitMs = 5000;

struct FreeNames {
  void operator()(struct if_nameindex* names) const { if_freenameindex(names); }
};

std::string LinkOf(const std::string& mac) {
  const std::unique_ptr<struct if_nameindex, FreeNames> names(if_nameindex());
  for (const auto* at = names.get(); at != nullptr && at->if_name != nullptr; ++at) {
    const std::string name = at->if_name;
    if (ReadTextFile(std::string(Links) + "/" + name + "/address") == mac) return name;
  }
  return {};
}

// Waits for the kernel to find the device.
Result<std::string> AwaitLink(const std::string& mac) {
  for (int waited_ms = 0; waited_ms < LinkWaitMs; ++waited_ms) {
    std::string name = LinkOf(mac);
    if (!name.empty() && name.size() < IFNAMSIZ) return name;
    usleep(1000);
  }
  return Failure(FailureCode::NotFound, "no link has the MAC " + mac);
}

// A kernel without IPv6 has no such setting.
Outcome SilenceIpv6(const std::string& link) {
  for (const std::string& scope : {std::string("default"), link}) {
    const std::string path = std::string(Ipv6Settings) + "/" + scope + "/disable_ipv6";
    if (access(path.c_str(), F_OK) == 0 && !WriteTextFile(path, "1")) {
      return ErrnoFailure(errno, "write " + path);
    }
  }
  return Ok();
}

void SetAddress(sockaddr& place, std::uint32_t address) {
  auto& internet = reinterpret_cast<sockaddr_in&>(place);
  internet.sin_family = AF_INET;
  internet.sin_addr.s_addr = htonl(address);
}

Outcome RaiseLink(const std::string& link, const NetworkSetting& setting) {
  const OwnedFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_fd.is_open()) return ErrnoFailure(errno, "make a socket");
  ifreq request{};
  link.copy(request.ifr_name, IFNAMSIZ - 1);
  SetAddress(request.ifr_addr, setting.address);
  if (ioctl(socket_fd.get(), SIOCSIFADDR, &request) != 0) {
    return ErrnoFailure(errno, "give " + link + " its address");
  }
  SetAddress(request.ifr_netmask, ~std::uint32_t{0});
  if (ioctl(socket_fd.get(), SIOCSIFNETMASK, &request) != 0) {
    return ErrnoFailure(errno, "give " + link + " its netmask");
  }
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) {
    return ErrnoFailure(errno, "raise " + link);
  }
  rtentry neighbour{};
  SetAddress(neighbour.rt_dst, setting.gateway);
  SetAddress(neighbour.rt_genmask, ~std::uint32_t{0});
  neighbour.rt_flags = RTF_UP | RTF_HOST;
  std::string device = link;
  neighbour.rt_dev = device.data();
  rtentry everywhere{};
  SetAddress(everywhere.rt_dst, 0);
  SetAddress(everywhere.rt_genmask, 0);
  SetAddress(everywhere.rt_gateway, setting.gateway);
  everywhere.rt_flags = RTF_UP | RTF_GATEWAY;
  for (const rtentry* route : {&neighbour, &everywhere}) {
    if (ioctl(socket_fd.get(), SIOCADDRT, route) != 0) return ErrnoFailure(errno, "set a route");
  }
  return Ok();
}

std::string AddressText(std::uint32_t address) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += (text.empty() ? "" : ".") + std::to_string((address >> shift) & 0xff);
  }
  return text;
}

Outcome NameResolver(std::uint32_t resolver) {
  const std::string text = "nameserver " + AddressText(resolver) + "\n";
  return WriteWholeFile({.path = ResolverFile,
                         .mode = 0444,
                         .root = true,
                         .content = Bytes(text.begin(), text.end())});
}

}  // namespace

Outcome JoinNetwork(const NetworkSetting& setting) {
  CURFEW_TRY(const std::string link, AwaitLink(setting.mac));
  CURFEW_TRY_VOID(SilenceIpv6(link));
  CURFEW_TRY_VOID(RaiseLink(link, setting));
  return NameResolver(setting.resolver);
}

}  // namespace curfew::guest
