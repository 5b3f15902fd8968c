// The part of the search for residue that looks into network namespaces: whether one is the
// sandbox's, and whether a tap or a packet table in it has the sandbox's name. Who has which
// namespace the search says.
#pragma once

#include "runtime/evidence/residue.h"
#include "runtime/host/networks.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace curfew::evidence {

class NetworkResidue {
 public:
  // Where it says what it saw.
  struct Tally {
    std::function<void(ResidueClass)> looked_at;
    std::function<void(ResidueClass)> destroyed;
    std::function<void(ResidueClass, Fate, const std::string& identity, const std::string& why)>
        found;
  };
  // `query` outlives it. `same_boot`: what was journalled may still be there.
  NetworkResidue(host::Networks& networks, const ResidueQuery& query, bool same_boot, Tally tally);

  // Whether this is what a link to a network namespace says.
  static bool IsNetwork(std::string_view link_target) { return link_target.starts_with("net:["); }

  // The namespace at `path`, whose link says `name`; each is looked into once.
  void LookInto(const std::string& path, const std::string& name, const std::string& holder);
  // A descriptor of a tap says in its `fdinfo` which one it holds, wherever that is.
  void HeldTap(std::string_view fdinfo, const std::string& holder);
  // After everybody was asked. What was journalled and not found is gone, unless somebody could not
  // be asked.
  void Conclude(bool somebody_is_hidden);

 private:
  [[nodiscard]] bool IsOwn(std::uint64_t cookie) const;
  [[nodiscard]] bool Mentions(std::string_view text) const;

  host::Networks& networks_;
  const ResidueQuery& query_;
  bool same_boot_;
  Tally tally_;
  std::string tap_name_;
  std::set<std::string> seen_;
  std::set<std::uint64_t> held_;
  bool is_hidden_ = false;
};

}  // namespace curfew::evidence
