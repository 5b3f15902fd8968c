// The hosted services whose policy is a member of the call that creates a sandbox: E2B and Vercel.
#include "compiler/import/shapes.h"

#include <array>
#include <map>

#include <fmt/format.h>

namespace curfew::import {
namespace {

// {transform: {headers: {…}}}, or a list of such: whether a header is attached. Its value is a
// secret, however it is written, and is read nowhere.
bool AttachesHeader(const Node& node, const std::string& pointer, Reading& reading) {
  if (node.is(Node::Kind::Sequence)) {
    bool attaches = false;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      attaches |= AttachesHeader(node.items[i], ItemPointer(pointer, i), reading);
    }
    return attaches;
  }
  Fields rule(node, pointer, reading);
  const Node* transform = rule.Take("transform");
  rule.Finish();
  if (transform == nullptr) return false;
  if (transform->is(Node::Kind::Sequence)) {
    bool attaches = false;
    for (std::size_t i = 0; i < transform->items.size(); ++i) {
      Fields one(transform->items[i], ItemPointer(rule.PointerOf("transform"), i), reading);
      attaches |= one.Take("headers") != nullptr;
      one.Finish();
    }
    return attaches;
  }
  Fields one(*transform, rule.PointerOf("transform"), reading);
  const bool attaches = one.Take("headers") != nullptr;
  one.Finish();
  return attaches;
}

// Every value below a `headers`, to be reported and hidden before anything else is read.
void HideHeaders(const Node& node, const std::string& pointer, bool below, Reading& reading) {
  for (const Member& member : node.members) {
    const std::string at = fmt::format("{}/{}", pointer, ShownName(member.name));
    if (below && member.value.is(Node::Kind::Scalar)) {
      // A reference to what stands elsewhere is no secret.
      const std::string& text = member.value.text;
      const bool is_reference =
          text.starts_with('$') || text.starts_with('<') || text.starts_with("{{");
      if (!is_reference) reading.Secret(member.value.span, at);
    }
    HideHeaders(member.value, at, below || member.name == "headers", reading);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    HideHeaders(node.items[i], ItemPointer(pointer, i), below, reading);
  }
}

// Values of variables are never copied; a class states names, and a task their values.
void ReadVariables(const Node* node, const std::string& pointer, Reading& reading) {
  if (node == nullptr) return;
  for (const Member& member : node->members) {
    if (NamesCredential(member.name)) {
      reading.Secret(member.value.span, fmt::format("{}/{}", pointer, ShownName(member.name)));
    } else {
      reading.secrets.push_back(member.value.span);
    }
  }
  reading.sink.Report(
      node->span, diag::NotCarriedOver, pointer,
      "a class names variables, `identity { env \"LANG\" }`, and a task gives them");
}

void AllowList(const Node& list, const std::string& pointer, DraftClass& into, Reading& reading,
               const std::map<std::string, source::Span, std::less<>>& with_token) {
  const auto& items = ItemsOf(list, pointer, reading);
  if (!items.empty()) reading.sink.Report(list.span, diag::MethodsLeftOut, pointer);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string at = ItemPointer(pointer, i);
    const auto destination = DestinationOf(items[i], at, Effect::Allow, reading);
    if (!destination) continue;
    Allow allow{items[i].span, at};
    const auto token = with_token.find(items[i].text);
    if (token != with_token.end()) {
      allow.placeholder = TokenFor(*destination, token->second, at, reading);
    }
    AddAllow(into, *destination, std::move(allow), reading);
  }
}

void DenyList(const Node& list, const std::string& pointer, DraftClass& into, Reading& reading) {
  const auto& items = ItemsOf(list, pointer, reading);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto destination =
        DestinationOf(items[i], ItemPointer(pointer, i), Effect::Deny, reading);
    if (destination) AddDeny(into, *destination, items[i].span);
  }
}

void NeedReason(DraftClass& into, source::Span from, Reading& reading) {
  Destination everything;
  everything.kind = Destination::Kind::Everything;
  AddAllow(into, everything, Allow{from, "/"}, reading);
}

// ---- E2B

// As the SDK for TypeScript and the one for Python spell it.
using Spellings = std::array<std::string_view, 2>;
constexpr Spellings AllowOut = {"allowOut", "allow_out"};
constexpr Spellings DenyOut = {"denyOut", "deny_out"};
constexpr Spellings InternetAccess = {"allowInternetAccess", "allow_internet_access"};

bool HasOne(const Node* node, const Spellings& names) {
  return node != nullptr && (node->Find(names[0]) != nullptr || node->Find(names[1]) != nullptr);
}

bool KnowsE2b(const Node& root) {
  const Node* network = root.Find("network");
  return HasOne(&root, InternetAccess) || HasOne(network, AllowOut) || HasOne(network, DenyOut);
}

void ReadE2bNetwork(const Node& node, DraftClass& into, Reading& reading) {
  Fields fields(node, "/network", reading);
  const Node* allow = fields.Take({AllowOut[0], AllowOut[1]});
  const Node* deny = fields.Take({DenyOut[0], DenyOut[1]});
  const Node* rules = fields.Take("rules");
  fields.TakeNotCarried({"allowPublicTraffic", "allow_public_traffic"},
                        "`expose` opens a port to somebody, for a time");
  fields.TakeNotCarried({"maskRequestHost", "mask_request_host"}, "nothing here rewrites requests");
  fields.TakeNotCarried({"egressProxy", "egress_proxy"}, "the gateway is the only way out");
  fields.Finish();
  std::map<std::string, source::Span, std::less<>> with_token;
  if (rules != nullptr) {
    Fields hosts(*rules, "/network/rules", reading);
    for (const Member& host : rules->members) {
      if (AttachesHeader(host.value, hosts.PointerOf(host.name), reading)) {
        with_token.emplace(host.name, host.span);
      }
    }
  }
  if (allow != nullptr) AllowList(*allow, fields.PointerOf("allowOut"), into, reading, with_token);
  if (deny != nullptr) {
    DenyList(*deny, fields.PointerOf("denyOut"), into, reading);
    if (allow != nullptr && !allow->items.empty()) {
      reading.sink.Report(deny->span, diag::PrecedenceDiffers, "in the source an allow wins");
    }
  }
}

void ReadE2b(const Node& root, std::string_view class_name, Draft& draft, Reading& reading) {
  HideHeaders(root, "", false, reading);
  Fields fields(root, "", reading);
  const auto alias = fields.TakeText({"alias"});
  const Node* network = fields.Take("network");
  const Node* timeout = fields.Take({"timeout"});
  const Node* timeout_ms = fields.Take({"timeoutMs"});
  const auto internet = fields.TakeBool({InternetAccess[0], InternetAccess[1]});
  const Node* pauses = fields.Take({"autoPause", "auto_pause"});
  ReadVariables(fields.Take({"envVars", "envs"}), "/envVars", reading);
  fields.TakeNotCarried({"templateID", "template"}, "an image is known by its digest");
  fields.TakeNotCarried({"metadata"}, "facts of a task are attributes: `attributes task { … }`");
  fields.TakeNotCarried({"secure"}, "whoever asks is known here in any case");
  fields.TakeNotCarried({"autoResume", "auto_resume"}, "every resume is a decision of its own");
  fields.Finish();
  DraftClass& into = draft.AddClass(alias ? *alias : std::string(class_name), root.span);
  if (pauses != nullptr && pauses->text != "false") {
    reading.sink.Report(pauses->span, diag::PersistenceLeftOut, "/autoPause");
    into.lifetime.push_back({pauses->span, {"not carried over: a pause that keeps the state"}, {}});
  }
  const auto add_ttl = [&](const Node* node, std::string_view pointer, std::int64_t unit_ms) {
    if (node == nullptr || into.has_ttl) return;
    const auto count = NumberOf(*node, pointer, reading);
    if (count) AddTtl(into, *count, unit_ms, node->span, pointer, reading);
  };
  add_ttl(timeout, "/timeout", 1000);
  add_ttl(timeout_ms, "/timeoutMs", 1);
  if (network != nullptr) ReadE2bNetwork(*network, into, reading);
  const bool is_open =
      network == nullptr || (!HasOne(network, AllowOut) && !HasOne(network, DenyOut));
  if (internet.value_or(false) && is_open) {
    NeedReason(into, fields.Take({InternetAccess[0], InternetAccess[1]})->span, reading);
  } else if (!internet.has_value()) {
    reading.sink.Report(root.span, diag::DefaultDiffers, "the source allows what it does not name");
  }
}

// ---- Vercel

bool KnowsVercel(const Node& root) {
  return root.Find("networkPolicy") != nullptr || root.Find("network_policy") != nullptr;
}

void ReadVercelPolicy(const Node& node, const std::string& pointer, DraftClass& into,
                      Reading& reading) {
  if (node.is(Node::Kind::Scalar)) {
    if (node.text == "allow-all") return NeedReason(into, node.span, reading);
    if (node.text == "deny-all") {
      into.network.push_back({node.span, {"deny-all: no rule is needed for it"}, {}});
      return;
    }
    reading.sink.Report(node.span, diag::ValueNotTaken, pointer,
                        "it is allow-all, deny-all or a map");
    return;
  }
  Fields fields(node, pointer, reading);
  const Node* allow = fields.Take("allow");
  const Node* subnets = fields.Take("subnets");
  fields.Finish();
  if (subnets != nullptr) {
    Fields blocks(*subnets, fields.PointerOf("subnets"), reading);
    const Node* open = blocks.Take("allow");
    const Node* closed = blocks.Take("deny");
    blocks.Finish();
    if (open != nullptr) AllowList(*open, blocks.PointerOf("allow"), into, reading, {});
    if (closed != nullptr) DenyList(*closed, blocks.PointerOf("deny"), into, reading);
  }
  if (allow == nullptr) return;
  const std::string at = fields.PointerOf("allow");
  if (!allow->is(Node::Kind::Map)) return AllowList(*allow, at, into, reading, {});
  Fields hosts(*allow, at, reading);
  if (!allow->members.empty()) reading.sink.Report(allow->span, diag::MethodsLeftOut, at);
  for (const Member& host : allow->members) {
    Node name;
    name.kind = Node::Kind::Scalar;
    name.text = host.name;
    name.span = host.span;
    const std::string host_at = hosts.PointerOf(host.name);
    const auto destination = DestinationOf(name, host_at, Effect::Allow, reading);
    if (!destination) continue;
    Allow made{host.span, host_at};
    if (AttachesHeader(host.value, host_at, reading)) {
      made.placeholder = TokenFor(*destination, host.span, host_at, reading);
    }
    AddAllow(into, *destination, std::move(made), reading);
  }
}

void ReadVercel(const Node& root, std::string_view class_name, Draft& draft, Reading& reading) {
  HideHeaders(root, "", false, reading);
  Fields fields(root, "", reading);
  const auto name = fields.TakeText({"name"});
  const Node* policy = fields.Take({"networkPolicy", "network_policy"});
  const Node* timeout_ms = fields.Take("timeout");
  const Node* persists = fields.Take("persistent");
  ReadVariables(fields.Take("env"), "/env", reading);
  fields.TakeNotCarried({"runtime"}, "an image is known by its digest");
  fields.TakeNotCarried({"resources"}, "`image { size … }` says them, with a maximum");
  fields.TakeNotCarried({"ports"}, "`expose` opens a port to somebody, for a time");
  fields.TakeNotCarried({"source"}, "files come in by `import`, or through the network");
  fields.Finish();
  DraftClass& into = draft.AddClass(name ? *name : std::string(class_name), root.span);
  if (timeout_ms != nullptr) {
    const auto count = NumberOf(*timeout_ms, "/timeout", reading);
    if (count) AddTtl(into, *count, 1, timeout_ms->span, "/timeout", reading);
  }
  if (persists == nullptr || persists->text != "false") {
    const source::Span from = persists == nullptr ? root.span : persists->span;
    reading.sink.Report(from, diag::PersistenceLeftOut, "/persistent");
    into.lifetime.push_back({from, {"not carried over: state that is kept at every stop"}, {}});
  }
  ReadVercelPolicy(*policy, "/networkPolicy", into, reading);
}

}  // namespace

const Shape E2b{"an E2B sandbox", "`allowOut` or `denyOut` in `network`, or `allowInternetAccess`",
                KnowsE2b, ReadE2b};
const Shape Vercel{"a Vercel sandbox", "`networkPolicy`", KnowsVercel, ReadVercel};

}  // namespace curfew::import
