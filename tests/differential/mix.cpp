#include "tests/differential/mix.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::differential {
namespace {

using module::NodeOp;
using module::Tables;

// Every operator that an engine evaluates; constants fold away.
constexpr std::array kOperators = {
    std::pair{NodeOp::Not, "not"},
    std::pair{NodeOp::And, "and"},
    std::pair{NodeOp::Or, "or"},
    std::pair{NodeOp::AnyOf, "any"},
    std::pair{NodeOp::AllOf, "all"},
    std::pair{NodeOp::NoneOf, "none"},
    std::pair{NodeOp::Has, "has"},
    std::pair{NodeOp::Equal, "=="},
    std::pair{NodeOp::NotEqual, "!="},
    std::pair{NodeOp::Less, "<"},
    std::pair{NodeOp::LessEqual, "<="},
    std::pair{NodeOp::Greater, ">"},
    std::pair{NodeOp::GreaterEqual, ">="},
    std::pair{NodeOp::In, "in"},
    std::pair{NodeOp::SubsetOf, "subset of"},
    std::pair{NodeOp::Intersects, "intersects"},
    std::pair{NodeOp::SameItems, "lists =="},
    std::pair{NodeOp::Starts, "starts"},
    std::pair{NodeOp::HostIn, "host pattern"},
    std::pair{NodeOp::PathIn, "path pattern"},
    std::pair{NodeOp::TextIn, "text pattern"},
    std::pair{NodeOp::QueryIn, "query parameter"},
    std::pair{NodeOp::AddressIn, "address block"},
    std::pair{NodeOp::AddressInItems, "address in a set of blocks"},
};
// The planes that become decision code, as they stand in rule ids, and rules outside of planes.
constexpr std::array kPlanes = {"image", "identity", "filesystem", "network", "lifetime"};

class Collector {
 public:
  Collector(const Subject& subject, std::set<std::string>& contents)
      : t_(subject.tables()), policy_(subject.policy()), contents_(contents) {}

  void Entries(module::Range range) {
    for (const auto& entry : t_.entries.subspan(range.first, range.count)) {
      Rule(entry.rule);
      Condition(entry.condition);
      Condition(entry.within);
    }
  }
  void Block(std::size_t place) {
    const module::BlockRecord& block = t_.blocks[place];
    Entries(block.checks);
    Entries(block.denials);
    Entries(block.trials);
    if (block.trials.count > 0) contents_.insert("construct trial");
    for (const auto& group : t_.groups.subspan(block.groups.first, block.groups.count)) {
      Entries(group.entries);
      Rule(group.default_denial);
    }
  }
  void Condition(std::uint32_t condition) {
    if (condition != module::NoIndex) Node(condition);
  }

 private:
  void Rule(module::RuleIndex rule) {
    const std::string_view id = policy_.rule(rule).id;
    if (id.starts_with("sandbox.")) contents_.insert("construct every sandbox");
    bool in_plane = false;
    for (const char* plane : kPlanes) {
      if (id.find(fmt::format(".{}.", plane)) == id.npos) continue;
      contents_.insert(fmt::format("plane {}", plane));
      in_plane = true;
    }
    if (!in_plane && id.substr(0, 8) != "builtin.") contents_.insert("plane none (deny, require)");
  }
  void Node(std::uint32_t index) {
    const module::NodeRecord& node = t_.nodes[index];
    for (const auto& [op, name] : kOperators) {
      if (op == node.op) contents_.insert(fmt::format("operator {}", name));
    }
    switch (node.op) {
      case NodeOp::And:
      case NodeOp::Or:
        for (const auto child : t_.children.subspan(node.a, node.b)) Node(child);
        return;
      case NodeOp::Not:
        return Node(node.a);
      case NodeOp::AnyOf:
      case NodeOp::AllOf:
      case NodeOp::NoneOf:
        Term(node.a);
        return Node(node.b);
      case NodeOp::Equal:
      case NodeOp::NotEqual:
      case NodeOp::Less:
      case NodeOp::LessEqual:
      case NodeOp::Greater:
      case NodeOp::GreaterEqual:
        Term(node.a);
        return Term(node.b);
      default:
        return;
    }
  }
  void Term(std::uint32_t index) {
    const module::TermKind kind = t_.terms[index].kind;
    if (kind == module::TermKind::Count) contents_.insert("operator count");
    if (kind == module::TermKind::Sum) contents_.insert("operator + or -");
  }

  const Tables& t_;
  const module::PolicyModule& policy_;
  std::set<std::string>& contents_;
};

}  // namespace

const Mix::Contents& Mix::ContentsOf(const Subject& subject, const module::Request& request) {
  const Tables& t = subject.tables();
  const schema::Action action = request.action();
  std::optional<module::ClassIndex> of;
  if (action != schema::Action::Create && request.is_present(schema::slot::SandboxClass)) {
    of = subject.policy().FindClass(request.value(schema::slot::SandboxClass).text());
  }
  const std::size_t set = module::SetBlock(t.classes.size(), action);
  const std::size_t block = of ? module::BlockOf(*of, action) : set;
  const auto [place, is_new] = contents_.try_emplace(block);
  if (!is_new) return place->second;
  Collector collector(subject, place->second);
  collector.Block(set);
  if (of) collector.Block(block);
  if (of && std::find(t.class_links.begin(), t.class_links.end(), *of) != t.class_links.end()) {
    place->second.insert("construct narrows");
  }
  if (action == schema::Action::Create) {
    for (module::ClassIndex i = 0; i < t.classes.size(); ++i) {
      if (t.classes[i].narrowed_by.count > 0) place->second.insert("construct narrows");
      collector.Condition(t.classes[i].when);
      collector.Block(module::BlockOf(i, action));
    }
  }
  return place->second;
}

void Mix::Add(const Subject& subject, const module::Request& request) {
  ++pairs_;
  if (subject.Allows(request)) ++allowed_;
  for (const std::string& name : ContentsOf(subject, request)) ++shares_[name];
  if (request.action() == schema::Action::Egress) {
    ++shares_[fmt::format("stage {}", schema::WordOf(request.stage()))];
  }
}

std::string Mix::Table() const {
  std::string text =
      fmt::format("{} pairs, {:.1f}% allowed\n", pairs_,
                  100.0 * static_cast<double>(allowed_) / static_cast<double>(pairs_));
  for (const auto& [name, count] : shares_) {
    text += fmt::format("  {:<40} {:5.1f}%\n", name,
                        100.0 * static_cast<double>(count) / static_cast<double>(pairs_));
  }
  return text;
}

std::vector<std::string> Mix::Complaints() const {
  std::vector<std::string> names = {"plane none (deny, require)",
                                    "operator count",
                                    "operator + or -",
                                    "construct narrows",
                                    "construct every sandbox",
                                    "construct trial",
                                    "stage name",
                                    "stage address",
                                    "stage request"};
  for (const auto& [op, name] : kOperators) names.push_back(fmt::format("operator {}", name));
  for (const char* plane : kPlanes) names.push_back(fmt::format("plane {}", plane));
  std::vector<std::string> complaints;
  for (const std::string& name : names) {
    const auto found = shares_.find(name);
    const std::size_t count = found == shares_.end() ? 0 : found->second;
    if (count * 100 < pairs_)
      complaints.push_back(fmt::format("{}: {} of {}", name, count, pairs_));
  }
  if (allowed_ * 5 < pairs_ || allowed_ * 5 > pairs_ * 4) {
    complaints.push_back(fmt::format("allowed: {} of {}", allowed_, pairs_));
  }
  return complaints;
}

}  // namespace curfew::differential
