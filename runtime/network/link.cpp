#include "runtime/network/link.h"

#include <net/if.h>
#include <netinet/in.h>
#include <netlink/addr.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/neighbour.h>

#include <fmt/format.h>

namespace curfew::network {
namespace {

// Owners of what libnl hands out; each with the function that gives one reference back.
template <typename T, auto Put>
struct Putting {
  void operator()(T* object) const { Put(object); }
};
using AnyAddress = std::unique_ptr<nl_addr, Putting<nl_addr, nl_addr_put>>;
using Link = std::unique_ptr<rtnl_link, Putting<rtnl_link, rtnl_link_put>>;
using Address = std::unique_ptr<rtnl_addr, Putting<rtnl_addr, rtnl_addr_put>>;
using Neighbour = std::unique_ptr<rtnl_neigh, Putting<rtnl_neigh, rtnl_neigh_put>>;
using Cache = std::unique_ptr<nl_cache, Putting<nl_cache, nl_cache_free>>;

Failure NetlinkFailure(int error, std::string_view what) {
  const bool forbidden = error == -NLE_PERM || error == -NLE_NOACCESS;
  const FailureCode code = forbidden ? FailureCode::PermissionDenied
                           : error == -NLE_OPNOTSUPP || error == -NLE_NODEV
                               ? FailureCode::Unsupported
                               : FailureCode::System;
  return Failure(code, fmt::format("{}: {}", what, nl_geterror(error)));
}

Result<AnyAddress> Parse(std::string_view text, int family) {
  nl_addr* parsed = nullptr;
  const int error = nl_addr_parse(std::string(text).c_str(), family, &parsed);
  if (error != 0) return NetlinkFailure(error, fmt::format("read the address {}", text));
  return AnyAddress(parsed);
}

Failure OutOfMemory() { return Failure(FailureCode::OutOfSpace, "no memory for a message"); }

}  // namespace

void Links::Close::operator()(nl_sock* socket) const { nl_socket_free(socket); }

Result<Links> Links::Open() {
  std::unique_ptr<nl_sock, Close> socket(nl_socket_alloc());
  if (!socket) return OutOfMemory();
  const int error = nl_connect(socket.get(), NETLINK_ROUTE);
  if (error != 0) return NetlinkFailure(error, "open a conversation about links");
  return Links(std::move(socket));
}

Result<std::vector<host::LinkSeen>> Links::All() {
  nl_cache* all = nullptr;
  const int error = rtnl_link_alloc_cache(socket_.get(), AF_UNSPEC, &all);
  if (error != 0) return NetlinkFailure(error, "list links");
  const Cache cache(all);
  std::vector<host::LinkSeen> seen;
  for (nl_object* at = nl_cache_get_first(all); at != nullptr; at = nl_cache_get_next(at)) {
    auto* link = reinterpret_cast<rtnl_link*>(at);
    const char* name = rtnl_link_get_name(link);
    const char* alias = rtnl_link_get_ifalias(link);
    seen.push_back({.index = static_cast<unsigned>(rtnl_link_get_ifindex(link)),
                    .name = name != nullptr ? name : "",
                    .alias = alias != nullptr ? alias : ""});
  }
  return seen;
}

Outcome Links::Dress(const host::LinkSeen& link, std::string_view mac, const std::string& alias) {
  const Link now(rtnl_link_alloc());
  const Link wanted(rtnl_link_alloc());
  if (!now || !wanted) return OutOfMemory();
  CURFEW_TRY(const AnyAddress address, Parse(mac, AF_LLC));
  rtnl_link_set_ifindex(now.get(), static_cast<int>(link.index));
  rtnl_link_set_addr(wanted.get(), address.get());
  rtnl_link_set_ifalias(wanted.get(), alias.c_str());
  const int error = rtnl_link_change(socket_.get(), now.get(), wanted.get(), 0);
  if (error != 0) return NetlinkFailure(error, fmt::format("set the MAC of {}", link.name));
  return Ok();
}

Outcome Links::AddAddress(const host::LinkSeen& link, std::string_view address,
                          unsigned prefix_length) {
  const Address wanted(rtnl_addr_alloc());
  if (!wanted) return OutOfMemory();
  CURFEW_TRY(const AnyAddress local, Parse(address, AF_INET));
  nl_addr_set_prefixlen(local.get(), static_cast<int>(prefix_length));
  rtnl_addr_set_ifindex(wanted.get(), static_cast<int>(link.index));
  int error = rtnl_addr_set_local(wanted.get(), local.get());
  if (error == 0) error = rtnl_addr_add(socket_.get(), wanted.get(), 0);
  if (error != 0) {
    return NetlinkFailure(error, fmt::format("give {} the address {}", link.name, address));
  }
  return Ok();
}

Outcome Links::Raise(const host::LinkSeen& link) {
  const Link now(rtnl_link_alloc());
  const Link wanted(rtnl_link_alloc());
  if (!now || !wanted) return OutOfMemory();
  rtnl_link_set_ifindex(now.get(), static_cast<int>(link.index));
  rtnl_link_set_flags(wanted.get(), IFF_UP);
  const int error = rtnl_link_change(socket_.get(), now.get(), wanted.get(), 0);
  if (error != 0) return NetlinkFailure(error, fmt::format("raise {}", link.name));
  return Ok();
}

Outcome Links::FixNeighbour(const host::LinkSeen& link, std::string_view address,
                            std::string_view mac) {
  const Neighbour wanted(rtnl_neigh_alloc());
  if (!wanted) return OutOfMemory();
  CURFEW_TRY(const AnyAddress whom, Parse(address, AF_INET));
  CURFEW_TRY(const AnyAddress where, Parse(mac, AF_LLC));
  rtnl_neigh_set_ifindex(wanted.get(), static_cast<int>(link.index));
  rtnl_neigh_set_state(wanted.get(), NUD_PERMANENT);
  rtnl_neigh_set_lladdr(wanted.get(), where.get());
  int error = rtnl_neigh_set_dst(wanted.get(), whom.get());
  if (error == 0) error = rtnl_neigh_add(socket_.get(), wanted.get(), NLM_F_CREATE | NLM_F_REPLACE);
  if (error != 0) return NetlinkFailure(error, fmt::format("fix the neighbour {}", address));
  return Ok();
}

}  // namespace curfew::network
