#include "compiler/lint/policy_tree.h"

#include "compiler/values/quantity.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace curfew::lint {
namespace {

constexpr std::size_t kChainMax = 16;  // the checker refuses longer ones, and circles

class Reader {
 public:
  explicit Reader(PolicyTree& tree) : tree_(tree) {}

  void operator()(const syntax::LanguageHeader&) const {}
  void operator()(const syntax::PackageHeader&) const {}
  void operator()(const syntax::UseHeader&) const {}
  void operator()(const syntax::AttributesDecl& it) { tree_.attributes.push_back(&it); }
  void operator()(const syntax::ImageDecl& it) { tree_.images.emplace(it.name.text, &it); }
  void operator()(const syntax::SecretDecl& it) { tree_.secrets.emplace(it.name.text, &it); }
  void operator()(const syntax::ListDecl& it) { tree_.lists.emplace(it.name.text, &it); }
  void operator()(const syntax::SandboxDecl& it) {
    (it.every ? tree_.floors : tree_.classes).push_back(&it);
    if (!it.every) tree_.class_of.emplace(it.name.text, &it);
  }
  void operator()(const syntax::Rule& it) { tree_.rules.push_back(&it); }
  void operator()(const syntax::TestDecl& it) { tree_.tests.push_back(&it); }

 private:
  PolicyTree& tree_;
};

template <typename T>
std::optional<std::int64_t> Value(const values::Parsed<T>& parsed) {
  return parsed ? std::optional<std::int64_t>(*parsed) : std::nullopt;
}

template <typename Form>
void VisitTails(const syntax::SandboxDecl& sandbox,
                const std::function<void(const syntax::Expr&)>& visit) {
  ForEach<Form>(sandbox, [&visit](const Form& form) {
    if (form.tail.when) visit(*form.tail.when);
  });
}

}  // namespace

PolicyTree ReadTrees(std::span<const syntax::Ast> files) {
  PolicyTree tree;
  tree.files = files;
  Reader reader(tree);
  for (const syntax::Ast& file : files) {
    for (const syntax::Declaration& declaration : file.declarations) {
      std::visit(reader, declaration);
    }
  }
  return tree;
}

std::vector<const syntax::SandboxDecl*> PolicyTree::ChainOf(
    const syntax::SandboxDecl& sandbox) const {
  std::vector<const syntax::SandboxDecl*> chain = {&sandbox};
  while (chain.back()->narrows && chain.size() < kChainMax) {
    const auto base = class_of.find(chain.back()->narrows->text);
    if (base == class_of.end()) break;
    chain.push_back(base->second);
  }
  if (!sandbox.every) chain.insert(chain.end(), floors.begin(), floors.end());
  return chain;
}

void ForEachRule(const PolicyTree& tree, const std::function<void(const syntax::Rule&)>& visit) {
  for (const syntax::Rule* rule : tree.rules) visit(*rule);
  for (const auto* group : {&tree.classes, &tree.floors}) {
    for (const syntax::SandboxDecl* sandbox : *group) {
      for (const syntax::SandboxMember& member : sandbox->members) {
        if (const auto* rule = std::get_if<syntax::Rule>(&member)) visit(*rule);
      }
    }
  }
}

void ForEachCondition(const PolicyTree& tree,
                      const std::function<void(const syntax::Expr&)>& visit) {
  ForEachRule(tree, [&visit](const syntax::Rule& rule) {
    if (rule.tail.when) visit(*rule.tail.when);
    if (rule.condition) visit(*rule.condition);
  });
  for (const auto* group : {&tree.classes, &tree.floors}) {
    for (const syntax::SandboxDecl* sandbox : *group) {
      if (sandbox->when) visit(*sandbox->when);
      VisitTails<syntax::AllowTraffic>(*sandbox, visit);
      VisitTails<syntax::DenyTraffic>(*sandbox, visit);
      VisitTails<syntax::TransferStatement>(*sandbox, visit);
      VisitTails<syntax::ExposeStatement>(*sandbox, visit);
    }
  }
}

void Walk(const syntax::Expr& expr, const std::function<void(const syntax::Expr&)>& visit) {
  visit(expr);
  for (const syntax::Expr& operand : expr.operands) Walk(operand, visit);
}

bool Reads(const syntax::Expr& expr, std::string_view path_prefix) {
  bool reads = false;
  Walk(expr, [&reads, path_prefix](const syntax::Expr& part) {
    const bool is_path = part.kind == syntax::ExprKind::Path || part.kind == syntax::ExprKind::Has;
    reads = reads || (is_path && part.text.starts_with(path_prefix));
  });
  return reads;
}

const values::Place* TargetText::place() const {
  if (url) return &url->place;
  return at ? &at->place : nullptr;
}

std::vector<TargetText> TargetsOf(const PolicyTree& tree, const syntax::Traffic& traffic) {
  std::vector<TargetText> targets;
  const auto add = [&targets](const std::string& text, syntax::Span span) {
    TargetText target{text, span, std::nullopt, std::nullopt};
    if (auto url = values::ParseUrlPattern(text)) {
      target.url = *std::move(url);
    } else if (auto at = values::ParsePlacePattern(text)) {
      target.at = *std::move(at);
    }
    targets.push_back(std::move(target));
  };
  for (const syntax::Target& target : traffic.targets) {
    switch (target.kind) {
      case syntax::Target::Kind::Pattern:
        add(target.text, target.span);
        break;
      case syntax::Target::Kind::Internet:
        targets.push_back({"internet", target.span, std::nullopt, std::nullopt, true});
        break;
      case syntax::Target::Kind::List:
        if (const auto list = tree.lists.find(target.text); list != tree.lists.end()) {
          for (const syntax::Expr& element : list->second->elements) {
            add(element.text, target.span);
          }
        }
        break;
    }
  }
  return targets;
}

std::optional<std::int64_t> DurationOf(const syntax::Quantity& quantity) {
  return Value(values::ParseDuration(quantity.text));
}

std::optional<std::int64_t> SizeOf(const syntax::Quantity& quantity) {
  return Value(values::ParseSize(quantity.text));
}

std::optional<std::int64_t> NumberOf(const syntax::Quantity& quantity) {
  return Value(values::ParseInteger(quantity.text));
}

const syntax::Quantity& MaximumOf(const syntax::Bound& bound) {
  return bound.at_most ? *bound.at_most : *bound.value;
}

std::optional<std::int64_t> LargestTtl(const PolicyTree& tree, const syntax::SandboxDecl& sandbox) {
  std::optional<std::int64_t> largest;
  for (const syntax::SandboxDecl* link : tree.ChainOf(sandbox)) {
    ForEach<syntax::TtlStatement>(*link, [&largest](const syntax::TtlStatement& ttl) {
      const auto maximum = DurationOf(MaximumOf(ttl.bound));
      if (maximum) largest = std::min(largest.value_or(*maximum), *maximum);
    });
  }
  return largest;
}

}  // namespace curfew::lint
