// Which rules of a class could share a request with another rule, found by place and path: so that
// holding ten thousand allows against ten thousand costs little more than reading them.
#pragma once

#include "compiler/model/policy_model.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::check {

// Things under keys that are made of parts. Keys are kin when one begins with the other; a part
// ends behind its first letter, or in a sign that says so.
template <typename T>
class KinIndex {
 public:
  T& operator[](std::string key) { return under_[std::move(key)]; }

  // Whether `is_it` says so of something under a key that is kin; it is not asked further then.
  template <typename Is>
  [[nodiscard]] bool Any(std::string_view key, const Is& is_it) const {
    for (std::size_t end = 0; end < key.size(); ++end) {
      if (end > 1 && !EndsPart(key[end - 1])) continue;
      const auto above = under_.find(key.substr(0, end));
      if (above != under_.end() && is_it(above->second)) return true;
    }
    for (auto at = under_.lower_bound(key); at != under_.end(); ++at) {
      if (!at->first.starts_with(key)) return false;
      if (is_it(at->second)) return true;
    }
    return false;
  }

 private:
  static bool EndsPart(char c) { return c == '.' || c == '/' || c == '0' || c == '1'; }

  std::map<std::string, T, std::less<>> under_;
};

// What a glob begins with in whole literal segments: "/v1/repos/" of "/v1/repos/*/x" and of
// "/v1/repos". Globs whose keys are not kin meet no path together.
std::string KeyOf(const values::PathGlob& glob);
// "n" and the labels of a name from its last on, as in "nexample.api."; "a" and the bits of a block
// of addresses; nothing where both are meant. Places whose keys are not kin have nothing in common.
std::string PlaceKeyOf(const model::EgressTarget& target);

// The rules of one class, which outlive it, by their targets.
class RuleIndex {
 public:
  explicit RuleIndex(const std::vector<model::EgressRule>& rules);

  // Whether `is_it` says so of a rule, of which some target may meet this one.
  template <typename Is>
  [[nodiscard]] bool Any(const model::EgressTarget& target, const Is& is_it) const {
    const std::string path = target.path ? KeyOf(*target.path) : std::string();
    return places_.Any(PlaceKeyOf(target), [&](const KinIndex<Rules>& paths) {
      return paths.Any(path, [&](const Rules& rules) {
        return std::any_of(rules.begin(), rules.end(),
                           [&](const model::EgressRule* rule) { return is_it(*rule); });
      });
    });
  }

 private:
  using Rules = std::vector<const model::EgressRule*>;

  KinIndex<KinIndex<Rules>> places_;
};

// Globs of paths.
class GlobIndex {
 public:
  void Add(const values::PathGlob& glob) { globs_[KeyOf(glob)].push_back(glob); }
  // Whether some path meets one of these and one of those.
  [[nodiscard]] bool Meets(const std::vector<values::PathGlob>& others) const;

 private:
  KinIndex<std::vector<values::PathGlob>> globs_;
};

// What a class writes of the kinds of which it may write very many.
struct ClassIndex {
  ClassIndex(const model::PolicyModel& model, const model::Class& of);

  std::set<Digest> images;
  std::set<model::SecretId> secrets;
  std::set<std::string, std::less<>> variables;
  GlobIndex exec;
  GlobIndex imports;
  GlobIndex exports;
  RuleIndex rules;  // allows and denies
};

// Of each class that is asked for, once. The model outlives it and does not change.
class ClassIndexes {
 public:
  explicit ClassIndexes(const model::PolicyModel& model) : model_(model) {}
  const ClassIndex& Of(const model::Class& of);

 private:
  const model::PolicyModel& model_;
  std::map<const model::Class*, ClassIndex> indexes_;
};

}  // namespace curfew::check
