#include "compiler/base/text.h"
#include "compiler/import/shapes.h"
#include "compiler/syntax/string_literal.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"

#include <fmt/format.h>

namespace curfew::import {
namespace {

bool Knows(const Node& root) {
  return root.Find("network_policies") != nullptr || root.Find("filesystem_policy") != nullptr;
}

// One endpoint while it is read.
struct Endpoint {
  source::Span from;
  std::string pointer;
  std::string label;
  std::string place;   // "host:port", without the port where it is the scheme's own
  std::string stream;  // "host:port"
  std::string scheme;
  std::string pins;  // " at …", or nothing
  std::string condition;
  std::string slash;  // " with encoded slash", or nothing
};

class OpenShellReader {
 public:
  OpenShellReader(DraftClass& into, Reading& reading) : into_(into), reading_(reading) {}

  void Policy(const Node& node, const std::string& pointer, std::string_view name) {
    Fields fields(node, pointer, reading_);
    fields.Take("name");
    const Node* endpoints = fields.Take("endpoints");
    const Node* binaries = fields.Take("binaries");
    if (!fields.Finish() || endpoints == nullptr) return;
    const std::string condition = Binaries(binaries, fields.PointerOf("binaries"), name);
    const std::string at = fields.PointerOf("endpoints");
    const auto& items = ItemsOf(*endpoints, at, reading_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      ReadEndpoint(items[i], ItemPointer(at, i), name, condition);
    }
  }

 private:
  // Which programs may use the endpoints: egress is not judged by program here, so that a person
  // decides. `/**` alone restricts nothing.
  std::string Binaries(const Node* binaries, const std::string& pointer, std::string_view name) {
    if (binaries == nullptr) return {};
    const auto& items = ItemsOf(*binaries, pointer, reading_);
    for (const Node& item : items) {
      const Node* path = item.Find("path");
      if (items.size() == 1 && path != nullptr && path->text == "/**") return {};
    }
    std::string placeholder = "fill_in_binaries_of_" + NameLike(name);
    reading_.sink.Report(binaries->span, diag::RestrictionLost, pointer, placeholder);
    return placeholder;
  }

  void ReadEndpoint(const Node& node, const std::string& pointer, std::string_view name,
                    const std::string& condition) {
    Fields fields(node, pointer, reading_);
    const Node* host = fields.Take("host");
    const Node* port = fields.Take("port");
    const Node* ports = fields.Take("ports");
    const auto path = fields.TakeText({"path"});
    const std::string protocol = fields.TakeText({"protocol"}).value_or("tcp");
    const auto access = fields.TakeText({"access"});
    const Node* rules = fields.Take("rules");
    const Node* deny_rules = fields.Take("deny_rules");
    const Node* pins = fields.Take("allowed_ips");
    const bool encoded_slash = fields.TakeBool({"allow_encoded_slash"}).value_or(false);
    const auto enforcement = fields.TakeText({"enforcement"});
    fields.TakeNotCarried({"tls"}, "`tls inspect` holds for the class");
    if (!fields.Finish()) return;
    if (host == nullptr || (port == nullptr && ports == nullptr)) {
      reading_.sink.Report(node.span, diag::ValueNotTaken, pointer,
                           "an endpoint names its host and its port");
      return;
    }
    if (enforcement && *enforcement != "enforce") {
      reading_.sink.Report(node.span, diag::NotCarriedOver, fields.PointerOf("enforcement"),
                           "what the source only logs is denied here");
    }
    const auto destination =
        DestinationOf(*host, fields.PointerOf("host"), Effect::Allow, reading_);
    if (!destination) return;
    if (destination->kind == Destination::Kind::Everything || !destination->port.empty()) {
      reading_.sink.Report(host->span, diag::ValueNotTaken, fields.PointerOf("host"),
                           "it is one name, with at most a wildcard at its left");
      return;
    }
    const std::string text = destination->kind == Destination::Kind::Host
                                 ? ToString(destination->host)
                                 : ToString(destination->block.base);
    if (destination->kind == Destination::Kind::Block && destination->block.prefix != 128) {
      reading_.sink.Report(host->span, diag::ValueNotTaken, fields.PointerOf("host"),
                           "it is one address");
      return;
    }
    const auto pinned = PinsOf(pins, fields.PointerOf("allowed_ips"));
    if (!pinned) return;
    for (const std::uint16_t number : PortsOf(port, ports, fields)) {
      Endpoint endpoint;
      endpoint.from = node.span;
      endpoint.pointer = pointer;
      endpoint.label = std::string(name);
      endpoint.scheme = number == 80 ? "http" : "https";
      const bool is_own = number == 80 || number == 443;
      endpoint.stream = fmt::format("{}:{}", text, number);
      endpoint.place = is_own ? text : endpoint.stream;
      endpoint.pins = *pinned;
      endpoint.condition = condition.empty() ? "" : " when " + condition;
      endpoint.slash = encoded_slash ? " with encoded slash" : "";
      WriteEndpoint(endpoint, protocol, path, access, rules, deny_rules, fields);
    }
  }

  void WriteEndpoint(const Endpoint& endpoint, const std::string& protocol,
                     const std::optional<std::string>& path,
                     const std::optional<std::string>& access, const Node* rules,
                     const Node* deny_rules, const Fields& fields) {
    if (protocol == "tcp") {
      if (access || rules != nullptr || deny_rules != nullptr || path) {
        return NotTaken(endpoint, fields.PointerOf("protocol"),
                        "rules without a protocol say nothing");
      }
      Put(endpoint,
          fmt::format("{}allow connect {}{}{}", into_.Label(endpoint.label),
                      syntax::StringLiteral(endpoint.stream), endpoint.pins, endpoint.condition));
      return;
    }
    if (protocol != "rest") {
      return NotTaken(endpoint, fields.PointerOf("protocol"),
                      "only endpoints of `rest`, and those without protocol, have a counterpart");
    }
    into_.reads_https = into_.reads_https || endpoint.scheme == "https";
    if (path && (rules != nullptr || deny_rules != nullptr)) {
      return NotTaken(endpoint, fields.PointerOf("path"), "it stands beside rules with paths");
    }
    if (rules != nullptr) {
      AllowRules(endpoint, *rules, fields.PointerOf("rules"));
    } else if (!access) {
      return NotTaken(endpoint, fields.pointer(), "an endpoint of `rest` has `access` or `rules`");
    } else {
      Access(endpoint, *access, path, fields.PointerOf("access"));
    }
    if (deny_rules != nullptr) DenyRules(endpoint, *deny_rules, fields.PointerOf("deny_rules"));
  }

  void Access(const Endpoint& endpoint, const std::string& access,
              const std::optional<std::string>& path, const std::string& pointer) {
    std::string methods;
    if (access == "read-only") {
      methods = "GET, HEAD, OPTIONS";
    } else if (access == "read-write") {
      methods = "GET, HEAD, OPTIONS, POST, PUT, PATCH";
    } else if (access == "full") {
      methods = "any";
    } else {
      return NotTaken(endpoint, pointer, "it is read-only, read-write or full");
    }
    AllowOne(endpoint, methods, path, pointer, endpoint.from);
  }

  void AllowRules(const Endpoint& endpoint, const Node& rules, const std::string& pointer) {
    const auto& items = ItemsOf(rules, pointer, reading_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      Fields rule(items[i], ItemPointer(pointer, i), reading_);
      const Node* allow = rule.Take("allow");
      if (!rule.Finish() || allow == nullptr) continue;
      Fields fields(*allow, rule.PointerOf("allow"), reading_);
      const auto method = fields.TakeText({"method"});
      const auto path = fields.TakeText({"path"});
      if (!fields.Finish()) continue;
      if (const auto methods = MethodOf(method, allow->span, fields.PointerOf("method"))) {
        AllowOne(endpoint, *methods, path, fields.PointerOf("path"), allow->span);
      }
    }
  }

  void DenyRules(const Endpoint& endpoint, const Node& rules, const std::string& pointer) {
    const auto& items = ItemsOf(rules, pointer, reading_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      Fields fields(items[i], ItemPointer(pointer, i), reading_);
      const auto method = fields.TakeText({"method"});
      const auto path = fields.TakeText({"path"});
      fields.Finish();  // what is unknown can only make the deny narrower than it is written
      const auto methods = MethodOf(method, items[i].span, fields.PointerOf("method"));
      const auto glob = GlobOf(path, items[i].span, fields.PointerOf("path"));
      if (!methods || !glob) continue;
      Put(endpoint,
          fmt::format("{}deny {} {}", into_.Label("no_" + endpoint.label), *methods,
                      syntax::StringLiteral(
                          fmt::format("{}://{}{}", endpoint.scheme, endpoint.place, *glob))),
          items[i].span);
    }
  }

  void AllowOne(const Endpoint& endpoint, std::string_view methods,
                const std::optional<std::string>& path, const std::string& pointer,
                source::Span from) {
    const auto glob = GlobOf(path, from, pointer);
    if (!glob) return;
    const std::string url = fmt::format("{}://{}{}", endpoint.scheme, endpoint.place, *glob);
    Put(endpoint,
        fmt::format("{}allow {} {}{}{}{}", into_.Label(endpoint.label), methods,
                    syntax::StringLiteral(url), endpoint.pins, endpoint.slash, endpoint.condition),
        from);
  }

  std::optional<std::string> MethodOf(const std::optional<std::string>& method, source::Span from,
                                      const std::string& pointer) {
    if (!method || *method == "*") return "any";
    const auto parsed = values::ParseMethod(*method);
    if (parsed) return *parsed;
    reading_.sink.Report(from, diag::ValueNotTaken, pointer, parsed.error().message);
    return std::nullopt;
  }

  // Empty for every path.
  std::optional<std::string> GlobOf(const std::optional<std::string>& path, source::Span from,
                                    const std::string& pointer) {
    if (!path || *path == "**" || *path == "/**") return "";
    const auto glob = values::ParseUrlGlob(*path);
    if (glob) return glob->text;
    reading_.sink.Report(from, diag::ValueNotTaken, pointer, glob.error().message);
    return std::nullopt;
  }

  std::optional<std::string> PinsOf(const Node* pins, const std::string& pointer) {
    if (pins == nullptr) return "";
    std::string text;
    const auto& items = ItemsOf(*pins, pointer, reading_);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto written = TextOf(items[i], ItemPointer(pointer, i), reading_);
      if (!written) return std::nullopt;
      const auto block = values::ParseCidr(*written);
      if (!block) {
        reading_.sink.Report(items[i].span, diag::ValueNotTaken, ItemPointer(pointer, i),
                             block.error().message);
        return std::nullopt;
      }
      text += fmt::format("{}{}", text.empty() ? " at " : ", ",
                          syntax::StringLiteral(ToString(*block)));
    }
    return text;
  }

  std::vector<std::uint16_t> PortsOf(const Node* port, const Node* ports, const Fields& fields) {
    std::vector<std::uint16_t> numbers;
    const auto add = [&](const Node& node, const std::string& pointer) {
      const auto parsed = values::ParsePort(node.text);
      if (parsed) {
        numbers.push_back(*parsed);
      } else {
        reading_.sink.Report(node.span, diag::ValueNotTaken, pointer, parsed.error().message);
      }
    };
    if (port != nullptr) add(*port, fields.PointerOf("port"));
    if (ports == nullptr) return numbers;
    const std::string at = fields.PointerOf("ports");
    const auto& items = ItemsOf(*ports, at, reading_);
    for (std::size_t i = 0; i < items.size(); ++i) add(items[i], ItemPointer(at, i));
    return numbers;
  }

  void Put(const Endpoint& endpoint, std::string text, source::Span from = {}) {
    into_.network.push_back({from.is_nowhere() ? endpoint.from : from, {}, std::move(text)});
  }
  void NotTaken(const Endpoint& endpoint, const std::string& pointer, std::string_view why) {
    reading_.sink.Report(endpoint.from, diag::ValueNotTaken, pointer, why);
    into_.network.push_back(
        {endpoint.from, {fmt::format("not carried over: {}: {}", endpoint.stream, why)}, {}});
  }

  DraftClass& into_;
  Reading& reading_;
};

void ReadFilesystem(const Node& node, DraftClass& into, Reading& reading) {
  Fields fields(node, "/filesystem_policy", reading);
  fields.TakeBool({"include_workdir"});
  fields.TakeNotCarried({"read_only"},
                        "a sandbox's image is its own, and what it writes there ends "
                        "with it");
  const Node* writable = fields.Take("read_write");
  fields.Finish();
  if (writable == nullptr) return;
  const auto& items = ItemsOf(*writable, "/filesystem_policy/read_write", reading);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = ItemPointer("/filesystem_policy/read_write", i);
    const auto path = TextOf(items[i], pointer, reading);
    if (!path) continue;
    reading.sink.Report(items[i].span, diag::NotCarriedOver, pointer,
                        "scratch space states its size: `scratch \"/PATH\" 1GiB`");
    into.filesystem.push_back(
        {items[i].span, {fmt::format("not carried over: scratch {} 1GiB", Printable(*path))}, {}});
  }
}

void Read(const Node& root, std::string_view class_name, Draft& draft, Reading& reading) {
  Fields fields(root, "", reading);
  DraftClass& into = draft.AddClass(class_name, root.span);
  const auto version = fields.TakeNumber({"version"});
  if (version && *version != 1) {
    reading.sink.Report(root.span, diag::ValueNotTaken, "/version", "version 1 is known here");
  }
  if (const Node* files = fields.Take("filesystem_policy")) ReadFilesystem(*files, into, reading);
  fields.TakeNotCarried({"landlock"}, "a virtual machine is the boundary here");
  fields.TakeNotCarried({"process"}, "`exec` says the user, with each request");
  fields.TakeNotCarried({"network_middlewares"}, "the gateway has none");
  const Node* policies = fields.Take("network_policies");
  fields.Finish();
  if (policies == nullptr) return;
  Fields named(*policies, "/network_policies", reading);
  if (!named.is_map()) return;
  OpenShellReader reader(into, reading);
  for (const Member& member : policies->members) {
    reader.Policy(member.value, named.PointerOf(member.name), member.name);
  }
}

}  // namespace

const Shape OpenShell{"an OpenShell policy", "`network_policies` or `filesystem_policy`", Knows,
                      Read};

}  // namespace curfew::import
