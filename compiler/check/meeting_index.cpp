#include "compiler/check/meeting_index.h"

namespace curfew::check {

std::string KeyOf(const values::PathGlob& glob) {
  std::string key = "/";
  std::string_view rest = std::string_view(glob.text).substr(1);
  while (true) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    // A backslash makes a sign literal; such a segment is not looked into.
    if (segment.find_first_of("*\\") != segment.npos) return key;
    key.append(segment).append("/");
    if (end == rest.size()) return key;
    rest.remove_prefix(end + 1);
  }
}

std::string PlaceKeyOf(const model::EgressTarget& target) {
  if (target.internet) return "n";
  if (!target.place) return {};
  if (const auto* host = std::get_if<values::HostPattern>(&*target.place)) {
    std::string key = "n";
    std::string_view name = host->name;
    while (!name.empty()) {
      const std::size_t dot = name.rfind('.');
      const std::size_t begin = dot == name.npos ? 0 : dot + 1;
      key.append(name.substr(begin)).append(".");
      name = name.substr(0, dot == name.npos ? 0 : dot);
    }
    return key;
  }
  const auto& block = std::get<values::Cidr>(*target.place);
  std::string key = "a";
  for (std::size_t bit = 0; bit < block.prefix; ++bit) {
    key += ((block.base.bytes[bit / 8] >> (7 - bit % 8)) & 1) != 0 ? '1' : '0';
  }
  return key;
}

RuleIndex::RuleIndex(const std::vector<model::EgressRule>& rules) {
  for (const model::EgressRule& rule : rules) {
    for (const model::EgressTarget& target : rule.targets) {
      const std::string path = target.path ? KeyOf(*target.path) : std::string();
      places_[PlaceKeyOf(target)][path].push_back(&rule);
    }
  }
}

bool GlobIndex::Meets(const std::vector<values::PathGlob>& others) const {
  return std::any_of(others.begin(), others.end(), [&](const values::PathGlob& other) {
    return globs_.Any(KeyOf(other), [&](const std::vector<values::PathGlob>& globs) {
      return std::any_of(globs.begin(), globs.end(),
                         [&](const values::PathGlob& glob) { return values::Meet(glob, other); });
    });
  });
}

ClassIndex::ClassIndex(const model::PolicyModel& model, const model::Class& of)
    : rules(of.network.rules) {
  for (const model::ImageGrant& grant : of.image.allow) {
    images.insert(At(model, grant.image).digest);
  }
  if (of.identity.secrets) {
    for (const auto& grant : of.identity.secrets->secrets) secrets.insert(grant.secret);
  }
  if (of.identity.env) {
    variables.insert(of.identity.env->names.begin(), of.identity.env->names.end());
  }
  if (of.image.exec) {
    for (const values::PathGlob& glob : of.image.exec->patterns) exec.Add(glob);
  }
  const auto add = [](const std::vector<model::TransferRule>& transfers, GlobIndex& globs) {
    for (const model::TransferRule& rule : transfers) {
      for (const values::PathGlob& glob : rule.patterns) globs.Add(glob);
    }
  };
  add(of.filesystem.imports, imports);
  add(of.filesystem.exports, exports);
}

const ClassIndex& ClassIndexes::Of(const model::Class& of) {
  const auto found = indexes_.find(&of);
  return found != indexes_.end() ? found->second
                                 : indexes_.try_emplace(&of, model_, of).first->second;
}

}  // namespace curfew::check
