#include "runtime/evidence/residue_networks.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::evidence {
namespace {

constexpr std::size_t LinkNameBytesMax = 15;  // IFNAMSIZ - 1

}  // namespace

NetworkResidue::NetworkResidue(host::Networks& networks, const ResidueQuery& query, bool same_boot,
                               Tally tally)
    : networks_(networks),
      query_(query),
      same_boot_(same_boot),
      tally_(std::move(tally)),
      tap_name_(query.sandbox_id.substr(0, LinkNameBytesMax)) {}

bool NetworkResidue::IsOwn(std::uint64_t cookie) const {
  return same_boot_ &&
         std::any_of(query_.networks.begin(), query_.networks.end(),
                     [cookie](const NetworkIdentity& one) { return one.cookie == cookie; });
}

bool NetworkResidue::Mentions(std::string_view text) const {
  return text.find(query_.sandbox_id) != std::string_view::npos;
}

void NetworkResidue::LookInto(const std::string& path, const std::string& name,
                              const std::string& holder) {
  if (!seen_.insert(name).second) return;
  const Result<host::NetworkSeen> seen = networks_.Look(path);
  if (!seen) {
    seen_.erase(name);  // somebody else may have it, and let it be seen
    if (seen.error().code == FailureCode::NotFound) return;
    is_hidden_ = true;
    tally_.found(ResidueClass::NetworkNamespace, Fate::Unknown, name, seen.error().message);
    return;
  }
  tally_.looked_at(ResidueClass::NetworkNamespace);
  const std::string inside = fmt::format("{}/{}", seen->inode, seen->cookie);
  for (const host::LinkSeen& link : seen->links) {
    tally_.looked_at(ResidueClass::Tap);
    if (link.name != tap_name_ && !Mentions(link.alias)) continue;
    tally_.found(ResidueClass::Tap, Fate::Kept,
                 fmt::format("{}/{} in {}", link.name, link.index, inside),
                 fmt::format("a link with the sandbox's name, in the network of {}", holder));
  }
  for (const host::PacketTableSeen& table : seen->tables) {
    tally_.looked_at(ResidueClass::PacketTable);
    if (!Mentions(table.name)) continue;
    tally_.found(ResidueClass::PacketTable, Fate::Kept,
                 fmt::format("{} {}/{} in {}", table.family, table.name, table.handle, inside),
                 fmt::format("its name is the sandbox's, in the network of {}", holder));
  }
  if (!IsOwn(seen->cookie)) return;
  held_.insert(seen->cookie);
  tally_.found(ResidueClass::NetworkNamespace, Fate::Kept, inside,
               fmt::format("journalled, and still there with {}", holder));
}

void NetworkResidue::HeldTap(std::string_view fdinfo, const std::string& holder) {
  const std::string line = "iff:\t" + tap_name_ + "\n";
  if (fdinfo.find(line) == std::string_view::npos) return;
  tally_.found(ResidueClass::Tap, Fate::Kept, tap_name_, fmt::format("held by {}", holder));
}

void NetworkResidue::Conclude(bool somebody_is_hidden) {
  for (const NetworkIdentity& network : query_.networks) {
    if (held_.contains(network.cookie)) continue;
    for (const ResidueClass one :
         {ResidueClass::NetworkNamespace, ResidueClass::Tap, ResidueClass::PacketTable}) {
      if (same_boot_ && (somebody_is_hidden || is_hidden_)) {
        tally_.found(one, Fate::Unknown, fmt::format("{}/{}", network.inode, network.cookie),
                     "what cannot be read may hold it");
      } else {
        tally_.destroyed(one);
      }
    }
  }
}

}  // namespace curfew::evidence
