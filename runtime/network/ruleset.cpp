#include "runtime/network/ruleset.h"

#include "compiler/base/text.h"
#include "runtime/network/network.h"

#include <memory>
#include <nftables/libnftables.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::network {
namespace {

struct FreeContext {
  void operator()(nft_ctx* context) const { nft_ctx_free(context); }
};

// Runs commands, and returns what they print.
Result<std::string> RunNft(const std::string& commands, unsigned output_flags) {
  const std::unique_ptr<nft_ctx, FreeContext> context(nft_ctx_new(NFT_CTX_DEFAULT));
  if (!context || nft_ctx_buffer_output(context.get()) != 0 ||
      nft_ctx_buffer_error(context.get()) != 0) {
    return Failure(FailureCode::System, "libnftables does not start");
  }
  nft_ctx_output_set_flags(context.get(), output_flags);
  if (nft_run_cmd_from_buffer(context.get(), commands.c_str()) == 0) {
    return std::string(nft_ctx_get_output_buffer(context.get()));
  }
  std::string why = nft_ctx_get_error_buffer(context.get());
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
