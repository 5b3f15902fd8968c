#include "compiler/import/shapes.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::import {
namespace {

bool IsOne(const Node& node) {
  const Node* rules = node.Find("rules");
  return rules != nullptr && rules->is(Node::Kind::Sequence) &&
         (node.Find("sandbox") != nullptr || node.Find("id") != nullptr);
}

bool Knows(const Node& root) {
  if (root.is(Node::Kind::Sequence)) return !root.items.empty() && IsOne(root.items.front());
  const Node* policies = root.Find("policies");
  return IsOne(root) || (policies != nullptr && Knows(*policies));
}

// "GET, POST"; nothing where one is no method, which is reported.
std::optional<std::string> MethodsOf(const Node& node, std::string_view pointer, Reading& reading) {
  std::vector<std::string> methods;
  const auto& items = ItemsOf(node, pointer, reading);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto text = TextOf(items[i], ItemPointer(pointer, i), reading);
    if (!text) return std::nullopt;
    if (*text == "*") return "any";
    const auto method = values::ParseMethod(*text);
    if (!method) {
      reading.sink.Report(items[i].span, diag::ValueNotTaken, ItemPointer(pointer, i),
                          method.error().message);
      return std::nullopt;
    }
    methods.push_back(*method);
  }
  if (methods.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(methods, ", "));
}

// What a rule says about its token: `true`, or a name that is no name of Curfew's.
bool WantsToken(const Node* node, std::string_view pointer, Reading& reading) {
  if (node == nullptr) return false;
  if (!node->quoted && node->text == "false") return false;
  // A name says no more than `true`: which token it is must be declared in any case.
  return (!node->quoted && node->text == "true") || TextOf(*node, pointer, reading).has_value();
}

void ReadRule(const Node& node, const std::string& pointer, DraftClass& into, Reading& reading) {
  Fields fields(node, pointer, reading);
  const Node* domain = fields.Take("domain");
  const Node* methods = fields.Take({"allowedMethods", "methods"});
  const Node* token = fields.Take("tokenInjection");
  const auto action = fields.TakeText({"action"});
  const auto ttl_s = fields.TakeNumber({"ttl"});
  if (!fields.Finish()) return;
  if (domain == nullptr) {
    reading.sink.Report(node.span, diag::ValueNotTaken, pointer, "the rule has no `domain`");
    return;
  }
  const std::string action_text = action.value_or("allow");
  const bool denies = action_text == "deny" || action_text == "block";
  if (!denies && action_text != "allow") {
    reading.sink.Report(node.span, diag::ValueNotTaken, fields.PointerOf("action"),
                        "a rule allows or denies");
    return;
  }
  const auto destination = DestinationOf(*domain, fields.PointerOf("domain"),
                                         denies ? Effect::Deny : Effect::Allow, reading);
  if (!destination) return;
  if (denies) return AddDeny(into, *destination, node.span);

  Allow allow{node.span, pointer};
  if (methods == nullptr) {
    reading.sink.Report(node.span, diag::MethodsLeftOut, pointer);
  } else {
    const auto list = MethodsOf(*methods, fields.PointerOf("methods"), reading);
    if (!list) {
      into.network.push_back({node.span, {"not carried over: an allow of no method"}, {}});
      if (methods->items.empty()) {
        reading.sink.Report(methods->span, diag::NotCarriedOver, pointer, "it allows no method");
      }
      return;
    }
    allow.methods = *list;
  }
  if (ttl_s) {
    if (*ttl_s < 1 || *ttl_s > 366LL * 24 * 3600) {
      reading.sink.Report(node.span, diag::ValueNotTaken, fields.PointerOf("ttl"),
                          "it is seconds, from one to a year of them");
      return;
    }
    allow.remarks.emplace_back("`ttl` of the rule: it holds so long after the sandbox began");
    allow.condition = "sandbox.age < " + values::DurationText(*ttl_s * 1000);
  }
  if (WantsToken(token, fields.PointerOf("tokenInjection"), reading)) {
    allow.placeholder =
        TokenFor(*destination, token->span, fields.PointerOf("tokenInjection"), reading);
  }
  AddAllow(into, *destination, std::move(allow), reading);
}

void ReadOne(const Node& node, const std::string& pointer, std::string_view class_name,
             Draft& draft, Reading& reading) {
  Fields fields(node, pointer, reading);
  if (!fields.is_map()) return;
  const auto id = fields.TakeText({"id"});
  const auto sandbox = fields.TakeText({"sandbox"});
  const Node* rules = fields.Take("rules");
  fields.Finish();
  DraftClass& into =
      draft.AddClass(sandbox ? *sandbox : id.value_or(std::string(class_name)), node.span);
  reading.sink.Report(node.span, diag::DefaultDiffers, "no default is stated");
  if (rules == nullptr) return;
  const std::string at = fields.PointerOf("rules");
  const auto& items = ItemsOf(*rules, at, reading);
  for (std::size_t i = 0; i < items.size(); ++i) {
    ReadRule(items[i], ItemPointer(at, i), into, reading);
  }
}

void ReadAll(const Node& list, const std::string& pointer, std::string_view class_name,
             Draft& draft, Reading& reading) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    ReadOne(list.items[i], ItemPointer(pointer, i), class_name, draft, reading);
  }
}

void Read(const Node& root, std::string_view class_name, Draft& draft, Reading& reading) {
  if (root.is(Node::Kind::Sequence)) return ReadAll(root, "", class_name, draft, reading);
  if (IsOne(root)) return ReadOne(root, "", class_name, draft, reading);
  Fields fields(root, "", reading);
  const Node* policies = fields.Take("policies");
  fields.TakeNotCarried({"version"}, "it has no meaning here");
  fields.Finish();
  if (policies->is(Node::Kind::Map))
    return ReadOne(*policies, "/policies", class_name, draft, reading);
  ReadAll(*policies, "/policies", class_name, draft, reading);
}

}  // namespace

const Shape FlatRules{"a flat sandbox policy", "`rules` beside `sandbox` or `id`", Knows, Read};

}  // namespace curfew::import
