#include "runtime/network/ruleset.h"

#include "compiler/base/owned_fd.h"
#include "compiler/base/text.h"
#include "runtime/network/network.h"

#include <algorithm>
#include <cerrno>
#include <dlfcn.h>
#include <linux/netlink.h>
#include <memory>
#include <nftables/libnftables.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::network {
namespace {

constexpr char LibraryName[] = "libnftables.so.1";

// libnftables, opened by whoever needs it: linked, it would cost every start of every program 2 ms.
// It stays open.
struct Nftables {
  decltype(&nft_ctx_new) make = nullptr;
  decltype(&nft_ctx_free) drop = nullptr;
  decltype(&nft_ctx_buffer_output) keep_output = nullptr;
  decltype(&nft_ctx_buffer_error) keep_error = nullptr;
  decltype(&nft_ctx_output_set_flags) set_flags = nullptr;
  decltype(&nft_run_cmd_from_buffer) run = nullptr;
  decltype(&nft_ctx_get_output_buffer) output = nullptr;
  decltype(&nft_ctx_get_error_buffer) error = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Nftables> OpenNftables() {
  // Where the kernel does not speak netfilter at all, the library would end the process.
  const OwnedFd conversation(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!conversation.is_open()) {
    return Failure(FailureCode::Unsupported,
                   SystemFailure(errno, "the kernel has no netfilter").message);
  }
  void* library = dlopen(LibraryName, RTLD_NOW | RTLD_LOCAL);
  Nftables nft;
  if (library != nullptr && Find(library, "nft_ctx_new", nft.make) &&
      Find(library, "nft_ctx_free", nft.drop) &&
      Find(library, "nft_ctx_buffer_output", nft.keep_output) &&
      Find(library, "nft_ctx_buffer_error", nft.keep_error) &&
      Find(library, "nft_ctx_output_set_flags", nft.set_flags) &&
      Find(library, "nft_run_cmd_from_buffer", nft.run) &&
      Find(library, "nft_ctx_get_output_buffer", nft.output) &&
      Find(library, "nft_ctx_get_error_buffer", nft.error)) {
    return nft;
  }
  return Failure(
      FailureCode::Unsupported,
      fmt::format("{} is missing or too old; install the package libnftables1", LibraryName));
}

// Runs commands, and returns what they print.
Result<std::string> RunNft(const std::string& commands, unsigned output_flags) {
  CURFEW_TRY(const Nftables nft, OpenNftables());
  const std::unique_ptr<nft_ctx, decltype(nft.drop)> context(nft.make(NFT_CTX_DEFAULT), nft.drop);
  if (!context || nft.keep_output(context.get()) != 0 || nft.keep_error(context.get()) != 0) {
    return Failure(FailureCode::System, "libnftables does not start");
  }
  nft.set_flags(context.get(), output_flags);
  if (nft.run(context.get(), commands.c_str()) == 0) {
    return std::string(nft.output(context.get()));
  }
  std::string why = nft.error(context.get());
  why.resize(std::min(why.find('\n'), why.size()));
  const bool forbidden = why.find("Operation not permitted") != std::string::npos;
  return Failure(forbidden ? FailureCode::PermissionDenied : FailureCode::Unsupported,
                 "the kernel takes no packet rules of nf_tables: " + Printable(why));
}

}  // namespace

std::string RulesetText(const std::string& sandbox, const std::string& tap,
                        std::uint16_t redirect_port) {
  // `entrance` sees every frame before anything else does, whatever its kind (IPv6, tagged,
  // unknown), and before a connection is made of it. A fragment could hide its ports from a rule;
  // no system that finds the path's MTU sends one. Answers need a connection that the guest began.
  return fmt::format(R"(table inet {table} {{
  chain entrance {{
    type filter hook ingress device "{tap}" priority filter; policy drop;
    ether type arp accept
    ip saddr != {guest} drop
    ip frag-off & 0x3fff != 0 drop
    ip protocol tcp accept
    ip daddr {gateway} udp dport {dns} accept
  }}
  chain diversion {{
    type nat hook prerouting priority dstnat; policy accept;
    ip daddr {gateway} tcp dport {dns} accept
    meta l4proto tcp redirect to :{port}
  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname "{tap}" ip saddr {guest} ip daddr {gateway} tcp dport {{ {dns}, {port} }} accept
    iifname "{tap}" ip saddr {guest} ip daddr {gateway} udp dport {dns} accept
  }}
  chain forward {{
    type filter hook forward priority filter; policy drop;
  }}
  chain output {{
    type filter hook output priority filter; policy drop;
    oifname "{tap}" ip daddr {guest} ct direction reply meta l4proto {{ tcp, udp }} accept
  }}
}}
)",
                     fmt::arg("table", sandbox), fmt::arg("tap", tap),
                     fmt::arg("guest", GuestAddress), fmt::arg("gateway", GatewayAddress),
                     fmt::arg("dns", DnsPort), fmt::arg("port", redirect_port));
}

Outcome LoadRuleset(const std::string& text) {
  CURFEW_TRY_VOID(RunNft(text, 0));
  return Ok();
}

Result<std::vector<host::PacketTableSeen>> ListTables() {
  CURFEW_TRY(const std::string text, RunNft("list tables", NFT_CTX_OUTPUT_JSON));
  std::vector<host::PacketTableSeen> tables;
  try {
    const nlohmann::json answer = nlohmann::json::parse(text);
    for (const auto& item : answer.at("nftables")) {
      if (!item.contains("table")) continue;
      const auto& table = item.at("table");
      tables.push_back({.family = table.at("family").get<std::string>(),
                        .name = table.at("name").get<std::string>(),
                        .handle = table.at("handle").get<std::uint64_t>()});
    }
  } catch (const nlohmann::json::exception& error) {
    return Failure(FailureCode::Malformed,
                   fmt::format("the list of packet tables cannot be read: {}", error.what()));
  }
  return tables;
}

}  // namespace curfew::network
