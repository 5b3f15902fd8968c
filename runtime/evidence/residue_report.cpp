#include "runtime/evidence/residue_report.h"

#include "compiler/base/check.h"

#include <algorithm>

namespace curfew::evidence {

std::string_view NameOf(ResidueClass residue_class) {
  switch (residue_class) {
    case ResidueClass::Process:
      return "process";
    case ResidueClass::Mount:
      return "mount";
    case ResidueClass::File:
      return "file";
    case ResidueClass::DeletedFile:
      return "deleted-file";
    case ResidueClass::Socket:
      return "socket";
    case ResidueClass::Cgroup:
      return "cgroup";
    case ResidueClass::Key:
      return "key";
    case ResidueClass::Token:
      return "token";
    case ResidueClass::NetworkNamespace:
      return "network-namespace";
    case ResidueClass::Tap:
      return "tap";
    case ResidueClass::PacketTable:
      return "nft-table";
  }
  CURFEW_UNREACHABLE("the switch names every class");
}

std::string_view NameOf(Fate fate) {
  switch (fate) {
    case Fate::Destroyed:
      return "destroyed";
    case Fate::Kept:
      return "kept";
    case Fate::Unknown:
      return "unknown";
  }
  CURFEW_UNREACHABLE("the switch names every fate");
}

std::string_view NameOf(Cleanness verdict) {
  switch (verdict) {
    case Cleanness::Clean:
      return "clean";
    case Cleanness::Dirty:
      return "dirty";
    case Cleanness::Unknown:
      return "unknown";
  }
  CURFEW_UNREACHABLE("the switch names every verdict");
}

std::optional<ResidueClass> ParseResidueClass(std::string_view name) {
  for (const ResidueClass one : ResidueClasses) {
    if (NameOf(one) == name) return one;
  }
  return std::nullopt;
}

std::optional<Fate> ParseFate(std::string_view name) {
  for (const Fate fate : {Fate::Destroyed, Fate::Kept, Fate::Unknown}) {
    if (NameOf(fate) == name) return fate;
  }
  return std::nullopt;
}

Cleanness ResidueReport::verdict() const {
  const auto any = [&](auto member) {
    return std::any_of(classes.begin(), classes.end(),
                       [&](const ResidueCount& count) { return count.*member > 0; });
  };
  if (any(&ResidueCount::kept)) return Cleanness::Dirty;
  const bool whole = std::equal(
      classes.begin(), classes.end(), std::begin(ResidueClasses), std::end(ResidueClasses),
      [](const ResidueCount& count, ResidueClass one) { return count.residue_class == one; });
  if (!whole || any(&ResidueCount::unknown)) return Cleanness::Unknown;
  return Cleanness::Clean;
}

bool ResidueReport::keeps_only_networks() const {
  const auto kept = [&](bool of_networks) {
    return std::any_of(classes.begin(), classes.end(), [&](const ResidueCount& count) {
      const bool is_of_networks = count.residue_class == ResidueClass::NetworkNamespace ||
                                  count.residue_class == ResidueClass::Tap ||
                                  count.residue_class == ResidueClass::PacketTable;
      return count.kept > 0 && is_of_networks == of_networks;
    });
  };
  return kept(true) && !kept(false);
}

}  // namespace curfew::evidence
