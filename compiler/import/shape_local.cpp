// The sandboxes of one's own machine: sandbox-runtime's settings and microsandbox's policy.
#include "compiler/import/shapes.h"
#include "compiler/syntax/string_literal.h"
#include "compiler/values/quantity.h"

#include <fmt/format.h>

namespace curfew::import {
namespace {

// ---- sandbox-runtime

bool KnowsSandboxRuntime(const Node& root) {
  const Node* network = root.Find("network");
  return network != nullptr &&
         (network->Find("allowedDomains") != nullptr || network->Find("deniedDomains") != nullptr);
}

void ReadDomains(const Node* list, const std::string& pointer, Effect effect, DraftClass& into,
                 Reading& reading) {
  if (list == nullptr) return;
  const auto& items = ItemsOf(*list, pointer, reading);
  if (effect == Effect::Allow && !items.empty()) {
    reading.sink.Report(list->span, diag::MethodsLeftOut, pointer);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string at = ItemPointer(pointer, i);
    const auto destination = DestinationOf(items[i], at, effect, reading);
    if (!destination) continue;
    if (effect == Effect::Deny) {
      AddDeny(into, *destination, items[i].span);
    } else {
      AddAllow(into, *destination, Allow{items[i].span, at}, reading);
    }
  }
}

void ReadSandboxRuntime(const Node& root, std::string_view class_name, Draft& draft,
                        Reading& reading) {
  constexpr std::string_view kOwn = "it is about the machine that the source runs on";
  Fields fields(root, "", reading);
  DraftClass& into = draft.AddClass(class_name, root.span);
  const Node* network = fields.Take("network");
  const Node* files = fields.Take("filesystem");
  fields.TakeNotCarried({"ignoreViolations"}, "every denial is recorded");
  fields.TakeNotCarried({"enableWeakerNestedSandbox"}, kOwn);
  fields.TakeNotCarried({"mandatoryDenySearchDepth"}, kOwn);
  fields.TakeNotCarried({"ripgrep"}, kOwn);
  fields.TakeNotCarried({"allowPty"}, "`exec` states whether there is a terminal");
  fields.Finish();

  Fields egress(*network, "/network", reading);
  const Node* allowed = egress.Take("allowedDomains");
  const Node* denied = egress.Take("deniedDomains");
  egress.TakeNotCarried({"allowUnixSockets"}, kOwn);
  egress.TakeNotCarried({"allowAllUnixSockets"}, kOwn);
  egress.TakeNotCarried({"allowLocalBinding"}, "inside a sandbox every port is its own");
  egress.TakeNotCarried({"httpProxyPort"}, kOwn);
  egress.TakeNotCarried({"socksProxyPort"}, kOwn);
  egress.Finish();
  ReadDomains(allowed, "/network/allowedDomains", Effect::Allow, into, reading);
  ReadDomains(denied, "/network/deniedDomains", Effect::Deny, into, reading);

  if (files == nullptr) return;
  Fields paths(*files, "/filesystem", reading);
  constexpr std::string_view kOwnFiles =
      "no file of this machine is inside: `import` brings one in, `export` takes one out";
  for (const std::string_view name : {"denyRead", "allowRead", "allowWrite", "denyWrite"}) {
    const Node* list = paths.Take(name);
    if (list == nullptr) continue;
    reading.sink.Report(list->span, diag::NotCarriedOver, paths.PointerOf(name), kOwnFiles);
    into.filesystem.push_back(
        {list->span, {fmt::format("not carried over: {}: {}", name, kOwnFiles)}, {}});
  }
  paths.Finish();
}

// ---- microsandbox

const Node* PolicyOf(const Node& root) {
  if (root.Find("default_egress") != nullptr) return &root;
  const Node* policy = root.Find("policy");
  return policy != nullptr && policy->Find("default_egress") != nullptr ? policy : nullptr;
}

bool KnowsMicrosandbox(const Node& root) { return PolicyOf(root) != nullptr; }

// {domain: …} or {cidr: …}.
const Node* PlaceOf(const Node& node, const std::string& pointer, Reading& reading) {
  Fields fields(node, pointer, reading);
  const Node* place = fields.Take({"domain", "cidr"});
  if (!fields.Finish()) return nullptr;
  if (place == nullptr) {
    reading.sink.Report(node.span, diag::ValueNotTaken, pointer, "it names a domain or a cidr");
  }
  return place;
}

void AllowPorts(const Destination& destination, const Node& ports, const std::string& pointer,
                source::Span from, DraftClass& into, Reading& reading) {
  const auto& items = ItemsOf(ports, pointer, reading);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto port = values::ParsePort(items[i].text);
    if (!port) {
      reading.sink.Report(items[i].span, diag::ValueNotTaken, ItemPointer(pointer, i),
                          port.error().message);
      continue;
    }
    const std::string host = destination.kind == Destination::Kind::Host
                                 ? ToString(destination.host)
                                 : ToString(destination.block);
    if (destination.kind == Destination::Kind::Block) {
      into.network.push_back({from,
                              {},
                              fmt::format("{}allow connect {} port {}", into.Label(host),
                                          syntax::StringLiteral(host), *port)});
      continue;
    }
    into.network.push_back({from,
                            {},
                            fmt::format("{}allow connect {}", into.Label(host),
                                        syntax::StringLiteral(fmt::format("{}:{}", host, *port)))});
  }
}

void ReadMicrosandboxRule(const Node& node, const std::string& pointer, bool& allowed_before,
                          DraftClass& into, Reading& reading) {
  Fields fields(node, pointer, reading);
  const std::string action = fields.TakeText({"action"}).value_or("");
  const std::string direction = fields.TakeText({"direction"}).value_or("egress");
  const auto protocol = fields.TakeText({"protocol"});
  const Node* place = fields.Take("destination");
  const Node* ports = fields.Take("ports");
  if (!fields.Finish()) return;
  const bool denies = action == "deny";
  if (direction != "egress" && direction != "outbound") {
    reading.sink.Report(node.span, diag::NotCarriedOver, pointer,
                        "`expose` opens a port to somebody, for a time");
    return;
  }
  if ((!denies && action != "allow") || place == nullptr ||
      (protocol && *protocol != "tcp" && !denies)) {
    reading.sink.Report(node.span, diag::ValueNotTaken, pointer,
                        "a rule allows or denies a destination, and an allow is of tcp");
    return;
  }
  const Node* name = place->is(Node::Kind::Scalar)
                         ? place
                         : PlaceOf(*place, fields.PointerOf("destination"), reading);
  if (name == nullptr) return;
  const auto destination = DestinationOf(*name, fields.PointerOf("destination"),
                                         denies ? Effect::Deny : Effect::Allow, reading);
  if (!destination) return;
  if (denies) {
    if (allowed_before && destination->kind != Destination::Kind::Everything) {
      reading.sink.Report(node.span, diag::PrecedenceDiffers, "in the source the first match wins");
    }
    return AddDeny(into, *destination, node.span);  // of every port: more than it says, never less
  }
  allowed_before = true;
  if (destination->kind == Destination::Kind::Everything || ports == nullptr) {
    return AddAllow(into, *destination, Allow{node.span, pointer}, reading);
  }
  AllowPorts(*destination, *ports, fields.PointerOf("ports"), node.span, into, reading);
}

void ReadMicrosandbox(const Node& root, std::string_view class_name, Draft& draft,
                      Reading& reading) {
  const Node* policy = PolicyOf(root);
  std::string pointer;
  if (policy != &root) {
    Fields outer(root, "", reading);
    outer.Take("policy");
    outer.Finish();
    pointer = "/policy";
  }
  DraftClass& into = draft.AddClass(class_name, policy->span);
  Fields fields(*policy, pointer, reading);
  const auto default_egress = fields.TakeText({"default_egress"});
  fields.TakeNotCarried({"default_ingress"}, "`expose` opens a port to somebody, for a time");
  const Node* rules = fields.Take("rules");
  fields.Finish();
  if (default_egress && *default_egress != "deny") {
    reading.sink.Report(policy->span, diag::DefaultDiffers,
                        "the source allows what it does not name");
  }
  if (rules == nullptr) return;
  const std::string at = fields.PointerOf("rules");
  const auto& items = ItemsOf(*rules, at, reading);
  bool allowed_before = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    ReadMicrosandboxRule(items[i], ItemPointer(at, i), allowed_before, into, reading);
  }
}

}  // namespace

const Shape SandboxRuntime{"settings of sandbox-runtime",
                           "`allowedDomains` or `deniedDomains` in `network`", KnowsSandboxRuntime,
                           ReadSandboxRuntime};
const Shape Microsandbox{"a microsandbox policy", "`default_egress`", KnowsMicrosandbox,
                         ReadMicrosandbox};

}  // namespace curfew::import
