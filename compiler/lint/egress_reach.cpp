#include "compiler/lint/egress_reach.h"

#include "compiler/model/chain.h"

#include <algorithm>
#include <string_view>

namespace curfew::lint {
namespace {

// Of the rules at one place, so that a million of them cost no more than a million times this.
constexpr std::size_t kEntriesAsked = 32;

bool PlaceCovers(const std::optional<values::Place>& outer,
                 const std::optional<values::Place>& inner) {
  if (!outer) return true;
  if (!inner || outer->index() != inner->index()) return false;
  if (const auto* host = std::get_if<values::HostPattern>(&*outer)) {
    return values::Covers(*host, std::get<values::HostPattern>(*inner));
  }
  return values::Covers(std::get<values::Cidr>(*outer), std::get<values::Cidr>(*inner));
}

bool PlacesMayMeet(const std::optional<values::Place>& a, const std::optional<values::Place>& b) {
  // A name may lead to any address.
  if (!a || !b || a->index() != b->index()) return true;
  if (const auto* host = std::get_if<values::HostPattern>(&*a)) {
    return values::Meet(*host, std::get<values::HostPattern>(*b));
  }
  return values::Meet(std::get<values::Cidr>(*a), std::get<values::Cidr>(*b));
}

bool PortsCover(const std::vector<model::PortRange>& outer,
                const std::vector<model::PortRange>& inner) {
  if (outer.empty()) return true;
  return !inner.empty() &&
         std::all_of(inner.begin(), inner.end(), [&outer](const model::PortRange& range) {
           return std::any_of(outer.begin(), outer.end(), [&range](const model::PortRange& wide) {
             return wide.first <= range.first && range.last <= wide.last;
           });
         });
}

bool PortsMeet(const std::vector<model::PortRange>& a, const std::vector<model::PortRange>& b) {
  if (a.empty() || b.empty()) return true;
  return std::any_of(a.begin(), a.end(), [&b](const model::PortRange& one) {
    return std::any_of(b.begin(), b.end(), [&one](const model::PortRange& other) {
      return one.first <= other.last && other.first <= one.last;
    });
  });
}

char Folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The bytes before a star, and whether there is one.
std::string_view LiteralOf(std::string_view glob) { return glob.substr(0, glob.find('*')); }

bool PathsMayMeet(const std::optional<values::PathGlob>& a,
                  const std::optional<values::PathGlob>& b) {
  if (!a || !b) return true;
  std::string_view one = LiteralOf(a->text);
  std::string_view other = LiteralOf(b->text);
  const bool both_whole = one.size() == a->text.size() && other.size() == b->text.size();
  if (both_whole && one.size() != other.size()) return false;
  // `/x/**` meets `/x` too.
  const auto shorten = [](std::string_view& literal, std::string_view glob) {
    if (glob.substr(literal.size()) == "**" && literal.size() > 1) literal.remove_suffix(1);
  };
  shorten(one, a->text);
  shorten(other, b->text);
  const std::size_t shared = std::min(one.size(), other.size());
  return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(shared), other.begin(),
                    [](char x, char y) { return Folded(x) == Folded(y); });
}

std::string KeyOf(const std::optional<values::Place>& place) {
  if (!place) return "any";
  if (const auto* host = std::get_if<values::HostPattern>(&*place)) return values::ToString(*host);
  return "block";
}

// The keys of all places that may cover it.
std::vector<std::string> KeysAbove(const std::optional<values::Place>& place) {
  std::vector<std::string> keys = {"any"};
  if (!place) return keys;
  const auto* host = std::get_if<values::HostPattern>(&*place);
  if (host == nullptr) {
    keys.emplace_back("block");
    return keys;
  }
  keys.push_back(values::ToString(*host));
  std::string_view name = host->name;
  bool is_parent = false;
  if (host->reach != values::HostReach::Exact) keys.push_back("**." + std::string(name));
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    if (!is_parent && host->reach == values::HostReach::Exact) {
      keys.push_back("*." + std::string(name));
    }
    is_parent = true;
    keys.push_back("**." + std::string(name));
  }
  return keys;
}

}  // namespace

bool PathCovers(const values::PathGlob& outer, const values::PathGlob& inner) {
  if (outer.text == inner.text) return true;
  constexpr std::string_view kBelow = "/**";
  if (!outer.text.ends_with(kBelow)) return false;
  const std::string_view folder =
      std::string_view(outer.text).substr(0, outer.text.size() - kBelow.size());
  if (folder.find('*') != std::string_view::npos) return false;
  if (!inner.text.starts_with(folder)) return false;
  const std::string_view rest = std::string_view(inner.text).substr(folder.size());
  return rest.empty() || rest.front() == '/';
}

bool Covers(const model::EgressTarget& outer, const model::EgressTarget& inner) {
  if ((inner.http && !outer.http) || (inner.https && !outer.https) || (inner.tcp && !outer.tcp)) {
    return false;
  }
  if (!PlaceCovers(outer.place, inner.place) || !PortsCover(outer.ports, inner.ports)) return false;
  return !outer.path || (inner.path && PathCovers(*outer.path, *inner.path));
}

bool MayMeet(const model::EgressTarget& a, const model::EgressTarget& b) {
  const bool schemes = (a.http && b.http) || (a.https && b.https) || (a.tcp && b.tcp);
  return schemes && PlacesMayMeet(a.place, b.place) && PortsMeet(a.ports, b.ports) &&
         PathsMayMeet(a.path, b.path);
}

bool MethodsCover(const model::EgressRule& outer, const model::EgressRule& inner) {
  if (outer.methods.empty()) return true;
  return !inner.methods.empty() && std::includes(outer.methods.begin(), outer.methods.end(),
                                                 inner.methods.begin(), inner.methods.end());
}

bool MethodsMeet(const model::EgressRule& a, const model::EgressRule& b) {
  if (a.methods.empty() || b.methods.empty()) return true;
  return std::any_of(a.methods.begin(), a.methods.end(), [&b](const std::string& method) {
    return std::binary_search(b.methods.begin(), b.methods.end(), method);
  });
}

ClassTraffic TrafficOf(const model::PolicyModel& model, const model::Class& of) {
  ClassTraffic traffic;
  for (const model::Class* link : model::ChainOf(model, of)) {
    for (const model::EgressRule& rule : link->network.rules) {
      (rule.effect == model::EgressRule::Effect::Allow ? traffic.allows : traffic.denies)
          .push_back(&rule);
    }
  }
  return traffic;
}

void CoverIndex::Add(const model::EgressRule& rule) {
  for (const model::EgressTarget& target : rule.targets) {
    by_place_[KeyOf(target.place)].push_back({&rule, &target});
  }
}

std::vector<const model::EgressRule*> CoverIndex::Covering(const model::EgressTarget& inner) const {
  std::vector<const model::EgressRule*> covering;
  for (const std::string& key : KeysAbove(inner.place)) {
    const auto entries = by_place_.find(key);
    if (entries == by_place_.end()) continue;
    const std::size_t asked = std::min(entries->second.size(), kEntriesAsked);
    for (std::size_t i = 0; i < asked; ++i) {
      const Entry& entry = entries->second[i];
      if (Covers(*entry.target, inner)) covering.push_back(entry.rule);
    }
  }
  return covering;
}

}  // namespace curfew::lint
