#include "tests/properties/generated_request.h"

#include "compiler/base/check.h"
#include "compiler/module/capability.h"
#include "compiler/values/address.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::properties {
namespace {

using module::Request;
using module::Value;
using schema::Action;
using schema::Slot;
namespace slot = schema::slot;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kMiB = 1024 * 1024;

// The attributes that generated policies declare, in the order of their paths: budget, labels,
// nets, risk, ticket, urgent.
constexpr std::size_t kDeclared = 6;

// Blocks of addresses as a request has them, in order.
std::vector<std::string> Blocks() {
  std::vector<std::string> blocks;
  for (const char* text : {"10.0.0.0/8", "93.184.216.0/24", "8.8.8.8/32", "fd00::/8"}) {
    const auto cidr = values::ParseCidr(text);
    blocks.push_back(std::string(AsText(cidr->base.bytes)) + static_cast<char>(cidr->prefix));
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks;
}

std::string BytesOf(const std::string& address) {
  return std::string(AsText(values::ParseAddress(address)->bytes));
}

std::int64_t Near(Random& r, std::int64_t value) {
  return value - 1 + static_cast<std::int64_t>(r.Below(3));
}

}  // namespace

std::size_t RequestGenerator::SlotCount(Action action) {
  return schema::AttributesOf(action).size() + kDeclared;
}

Value RequestGenerator::Text(std::string text) {
  texts_.push_back(std::move(text));
  return Value::OfText(texts_.back());
}

Value RequestGenerator::Items(const std::vector<std::string>& pool) {
  std::vector<std::string> chosen;
  for (const std::string& text : pool) {
    if (r_.OneIn(3)) chosen.push_back(text);
  }
  std::vector<Value> values;
  for (const std::string& text : chosen) values.push_back(Text(text));
  items_.push_back(std::move(values));
  return Value::OfItems(items_.back());
}

Value RequestGenerator::Capabilities() {
  std::vector<Value> values;
  for (const std::string_view word : module::capability::All) {
    values.push_back(Text(std::string(word)));
  }
  items_.push_back(std::move(values));
  return Value::OfItems(items_.back());
}

std::string RequestGenerator::DigestBytes() {
  std::string bytes(32, '\0');
  bytes[30] = static_cast<char>(0xab);
  bytes[31] = static_cast<char>(0xc0 + r_.Below(4));
  return bytes;
}

std::string RequestGenerator::AddressBytes() {
  if (!r_.OneIn(3)) {
    return std::string(AsText(values::ParseAddress(r_.Pick({"93.184.216.34", "8.8.8.8"}))->bytes));
  }
  const auto address = values::ParseAddress(
      r_.Pick({"10.1.2.3", "10.0.0.1", "192.168.3.4", "93.184.216.34", "127.0.0.1", "8.8.8.8",
               "169.254.169.254", "2606:4700::1", "fd00::1", "::1", "100.64.0.1", "0.0.0.0"}));
  return std::string(AsText(address->bytes));
}

Value RequestGenerator::ValueOf(Action action, Slot which) {
  const auto attributes = schema::AttributesOf(action);
  const auto number = [&](std::int64_t value) { return Value::OfInteger(value); };
  if (which >= attributes.size()) {
    switch (which - attributes.size()) {
      case 0:
        return number(static_cast<std::int64_t>(r_.Below(7)) - 1);
      case 1:
        return Items({"", "l0", "l1", "x"});
      case 2:
        return Items(Blocks());
      case 3:
        return number(static_cast<std::int64_t>(r_.Below(3)));
      case 4:
        return Text(r_.Pick({"T-0", "T-1", "", "X"}));
      default:
        return number(static_cast<std::int64_t>(r_.Below(2)));
    }
  }
  const schema::Attribute& attribute = attributes[which];
  const std::string_view path = attribute.path;
  if (path == "caller.groups") return Items({"group:g0", "group:g1", "group:g2", "group:g9"});
  if (path == "host.capabilities") {
    if (!r_.OneIn(4)) return Capabilities();
    return Items({std::begin(module::capability::All), std::end(module::capability::All)});
  }
  if (path == "exec.args") return Items({"-m", "pip", "-c", "", "x"});
  if (path == "create.secrets") return Items({"t0", "t1"});
  if (path == "create.env") return Items({"LANG", "TZ"});
  if (attribute.type.collection != schema::Collection::One) {
    return r_.OneIn(4) ? Items({"a", "b"}) : Items({});
  }
  if (path == "task.kind") return Text(r_.Pick({"k0", "k0", "k1", "k2", "k3", ""}));
  if (path == "task.team") return Text(r_.Pick({"t0", "t1", "t2", "t3"}));
  if (path == "sandbox.class" || path == "create.class") {
    return Text(r_.Pick({"c0", "c0", "c0", "c1", "c2", "gone"}));
  }
  if (path == "exec.program") {
    return Text(r_.Pick({"/usr/bin/python3", "/usr/bin/", "/usr/bin", "/bin/sh", "/work/x"}));
  }
  if (path == "exec.user") return Text(r_.Pick({"root", "agent"}));
  if (path == "egress.host") {
    return Text(r_.Pick({"api.example.com", "db.example.com", "example.com", "a.b.example.com",
                         "evilexample.com", "xapi.example.com", "h1.example.com",
                         "a.h2.example.com", "a.b.h3.example.com", "h19.example.com"}));
  }
  if (path == "egress.scheme" && r_.OneIn(2)) return number(1);
  if (path == "egress.method") return Text(r_.Pick({"GET", "GET", "HEAD", "POST", "get", "PUT"}));
  if (path == "egress.path")
    return Text(r_.Pick({"/", "/a", "/a/", "/a/x/b", "/A/X", "/a/x", "/a%2Fb", "/a/x%2Fb",
                         "/A;p/x;q/b", "/;p/a", "/a;p", "/a;/x", "/a;p%2Fx/b", "/a%3Bp/x"}));
  if (path == "egress.query") {
    return Text(r_.Pick({"", "k=v", "k=v", "k=v&k=v", "K=v", "k=a+b", "k=a%20b", "k=v;l=w",
                         "l=w&k=v", "k=%76", "x=1&k=v%", "k"}));
  }
  if (path == "egress.upgrade") return Text(r_.Pick({"websocket", "h2c"}));
  if (path == "expose.port" && !r_.OneIn(4)) return number(r_.Pick({8080, 8000, 443, 8101}));
  if (path == "egress.port") {
    if (!r_.OneIn(12)) return number(r_.Pick({443, 443, 443, 8080, 22, 5432}));
    return number(r_.Pick({80, 0, 1, 65535, 65536}));
  }
  if (path == "create.persist") return r_.OneIn(3) ? Items({"deps", "logs", "x"}) : Items({});
  if (path == "snapshot.class") return Text(r_.Pick({"c0", "c0", "c1", "c2", "gone"}));
  if (path == "import.path") {
    return Text(r_.Pick({"/work/in/a", "/work/in/a/b", "/data/x", "/etc/shadow"}));
  }
  if (path == "export.path") {
    return Text(r_.Pick({"/work/out/a", "/work/out/a/b", "/work/out", "/data/x", "/etc/shadow"}));
  }
  switch (attribute.type.kind) {
    case schema::TypeKind::Bool:
      return number(static_cast<std::int64_t>(r_.Below(2)));
    case schema::TypeKind::Int:
      return number(static_cast<std::int64_t>(r_.Below(6)));
    case schema::TypeKind::Duration:
      if (path == "sandbox.ttl_left") {
        if (!r_.OneIn(4)) return number(30 * kMinuteMs);
        return number(r_.Pick<std::int64_t>({-90'000, -1'000, -1, 0, 1, kMinuteMs}));
      }
      if (path == "extend.by")
        return number(Near(r_, static_cast<std::int64_t>(r_.Below(10)) * kMinuteMs));
      if (path == "sandbox.idle" && !r_.OneIn(4)) return number(1);
      return number(Near(r_, static_cast<std::int64_t>(r_.Below(80)) * kMinuteMs));
    case schema::TypeKind::Size:
      if (r_.OneIn(10)) return number(r_.Pick<std::int64_t>({-1, 0, 1}));
      if (path == "create.memory") {
        return number(static_cast<std::int64_t>(128 + r_.Below(2048)) * kMiB);
      }
      if (path == "create.disk")
        return number(static_cast<std::int64_t>(r_.Below(6)) * 1024 * kMiB);
      return number(Near(r_, r_.Pick<std::int64_t>({1, 4, 16, 64}) * kMiB));
    case schema::TypeKind::Time:
      return number(1'780'000'000'000 + static_cast<std::int64_t>(r_.Below(20'000)) * kMinuteMs);
    case schema::TypeKind::Enum:
      return number(static_cast<std::int64_t>(
          r_.Below(schema::InfoOf(attribute.type.enumeration).values.size())));
    case schema::TypeKind::Principal:
      return Text(r_.Pick({"user:ana", "user:ana", "user:bo", "user:cy", "group:g1"}));
    case schema::TypeKind::Digest:
      return Text(DigestBytes());
    case schema::TypeKind::Ip:
      return Text(AddressBytes());
    case schema::TypeKind::Text:
    case schema::TypeKind::Cidr:
    case schema::TypeKind::Host:
    case schema::TypeKind::UrlPath:
    case schema::TypeKind::FilePath:
      return Text(r_.Pick({"", "a", "/x", "b"}));
  }
  CURFEW_UNREACHABLE("every type has values");
}

// What one of the rules is about that are alike but for one fact.
void RequestGenerator::MakeOneOfMany(Request& request) {
  const std::size_t n = r_.Below(12);
  request.SetText(slot::EgressHost, "api.example.com");
  switch (r_.Pick({0, 0, 0, 1, 2, 3})) {
    case 0:
      request.Set(slot::EgressPath,
                  Text(fmt::format("/{}{}{}", r_.Pick({"p", "P"}), n,
                                   r_.Pick({"", "/x", "/x/b", ";v/x", ";v", "%2Fx", "/X", "0"}))));
      break;
    case 1:
      request.SetInteger(slot::EgressPort, static_cast<std::int64_t>(4996 + n));
      break;
    case 2:
      request.SetAbsent(slot::EgressHost);
      request.Set(slot::EgressIp,
                  Text(BytesOf(r_.OneIn(2) ? fmt::format("93.184.216.{}", 28 + n)
                                           : fmt::format("93.185.{}.{}", r_.Below(2) * n, n))));
      break;
    default:
      request.Set(slot::EgressHost,
                  Text(fmt::format("{}h{}.example.com", r_.Pick({"", "", "a."}), n)));
  }
}

void RequestGenerator::MakeLikely(Request& request) {
  const Action action = request.action();
  request.SetText(slot::CallerId, "user:ana");
  if (action == Action::Create) {
    for (std::size_t i = slot::SharedCount; i < schema::AttributesOf(action).size(); ++i) {
      const schema::Attribute& attribute = schema::AttributesOf(action)[i];
      if (attribute.origin == schema::Origin::Wish) request.SetAbsent(static_cast<Slot>(i));
    }
    request.SetText(slot::TaskKind, "k0");
    request.SetAbsent(slot::CreateClass);
    request.Set(slot::CreateImage, Text(DigestBytes()));
    request.Set(slot::HostCapabilities, Capabilities());
    return;
  }
  request.SetText(slot::SandboxClass, "c0");
  request.SetText(slot::SandboxCreator, "user:ana");
  request.SetInteger(slot::SandboxTtlLeft, kMinuteMs);
  request.SetInteger(slot::SandboxIdle, 0);
  request.SetInteger(slot::SandboxFrozen, r_.OneIn(8) ? 1 : 0);
  if (action == Action::Resume) {
    request.SetInteger(slot::ResumeSnapshotKind, static_cast<std::int64_t>(r_.Below(3)));
    request.SetInteger(slot::ResumeSnapshotAge, Near(r_, r_.Pick({1, 10, 30}) * kMinuteMs));
    request.SetInteger(slot::ResumeSnapshotBranches, static_cast<std::int64_t>(1 + r_.Below(2)));
    request.SetInteger(slot::ResumeSnapshotExpiresIn, r_.OneIn(8) ? 0 : kMinuteMs);
    request.Set(slot::ResumeSnapshotClass, Text(r_.Pick({"c0", "c0", "c1"})));
    request.Set(slot::ResumeSnapshotOwner, Text(r_.Pick({"user:ana", "user:bo"})));
    request.Set(slot::HostCapabilities, Capabilities());
    request.SetAbsent(slot::ResumeTtl);
    request.SetAbsent(slot::ResumeSecrets);
  } else if (action == Action::Snapshot) {
    request.SetInteger(slot::SnapshotKind, static_cast<std::int64_t>(r_.Below(2)));
    request.Set(slot::SnapshotOwner, Text("user:ana"));
    request.Set(slot::SnapshotReason, Text(r_.Pick({"why", "why", "why", ""})));
    request.SetInteger(slot::SnapshotSize, Near(r_, r_.Pick<std::int64_t>({1, 4, 16}) * kMiB));
    request.SetInteger(slot::SnapshotKept, static_cast<std::int64_t>(1 + r_.Below(3)));
    request.SetAbsent(slot::SnapshotExpiresIn);
    if (r_.OneIn(2)) {
      request.SetInteger(slot::SnapshotExpiresIn, Near(r_, r_.Pick({5, 30, 40}) * kMinuteMs));
    }
    request.SetAbsent(slot::SnapshotLineageExpiresIn);
    if (r_.OneIn(3)) {
      request.SetInteger(slot::SnapshotLineageExpiresIn, r_.Pick({9, 20, 60}) * kMinuteMs);
    }
    request.Set(slot::HostCapabilities, Capabilities());
  } else if (action == Action::Import) {
    request.Set(slot::ImportPath, Text(r_.Pick({"/work/in/a", "/work/in/a/b"})));
    request.SetInteger(slot::ImportSize, kMiB);
    request.SetInteger(slot::ImportTotal, kMiB);
  } else if (action == Action::Extend) {
    request.SetInteger(slot::SandboxAge, 2 * kMinuteMs);
    request.SetInteger(slot::ExtendBy, Near(r_, r_.Pick({1, 3, 9}) * kMinuteMs));
    request.SetInteger(slot::ExtendTimes, static_cast<std::int64_t>(1 + r_.Below(3)));
    request.SetInteger(slot::ExtendHardEndIn, 30 * kMinuteMs);
  } else if (action == Action::Exec) {
    request.Set(slot::ExecProgram, Text(r_.Pick({"/usr/bin/python3", "/bin/sh"})));
  } else if (action == Action::Export) {
    request.Set(slot::ExportPath, Text(r_.Pick({"/work/out/a", "/work/out/a/b"})));
    request.SetInteger(slot::ExportSize, kMiB);
    request.SetInteger(slot::ExportTotal, kMiB);
  } else if (action == Action::Egress) {
    request.SetInteger(slot::EgressScheme, 1);
    request.SetInteger(slot::EgressPort, 443);
    request.Set(slot::EgressHost,
                Text(r_.Pick({"api.example.com", "api.example.com", "api.example.com",
                              "a.b.example.com", "h1.example.com", "a.h2.example.com"})));
    request.Set(slot::EgressIp,
                Text(std::string(AsText(values::ParseAddress("93.184.216.34")->bytes))));
    request.Set(slot::EgressMethod, Text(r_.Pick({"GET", "GET", "POST"})));
    request.Set(slot::EgressPath, Text(r_.Pick({"/a", "/a", "/a/x/b", "/a%2Fb", "/a;p/x/b"})));
    if (!r_.OneIn(8)) request.SetAbsent(slot::EgressUpgrade);
    request.SetInteger(slot::EgressRequests, 1 + static_cast<std::int64_t>(r_.Below(3)));
    request.SetInteger(slot::EgressBytes, kMiB);
    request.SetInteger(slot::EgressTotal, r_.Pick({kMiB, kMiB, 2 * kMiB, 3 * kMiB}));
    const std::size_t n = r_.Below(5);
    if (r_.OneIn(6)) {
      request.SetInteger(slot::EgressPort, static_cast<std::int64_t>(5000 + n));
      request.Set(slot::EgressHost, Text(fmt::format("h{}.example.com", n)));
    } else if (r_.OneIn(3)) {
      MakeOneOfMany(request);
    }
  }
}

Request RequestGenerator::Generate() {
  static const std::vector<Action> kOften = {Action::Create, Action::Exec,     Action::Egress,
                                             Action::Egress, Action::Egress,   Action::Egress,
                                             Action::Export, Action::Observe,  Action::Resume,
                                             Action::Extend, Action::Snapshot, Action::Import};
  const Action action =
      r_.OneIn(6) ? static_cast<Action>(r_.Below(schema::ActionCount)) : r_.Pick(kOften);
  Request request(action, r_.Pick({schema::Stage::Request, schema::Stage::Request,
                                   schema::Stage::Address, schema::Stage::Name}));
  // Some requests are whole, so that an allow can be reached at all.
  const std::size_t gap = r_.Pick<std::size_t>({1'000'000, 40, 12});
  const auto attributes = schema::AttributesOf(action);
  for (std::size_t i = 0; i < SlotCount(action); ++i) {
    const auto which = static_cast<Slot>(i);
    const bool of_sandbox = which >= slot::FirstOfSandbox && which < slot::SharedCount;
    const bool wish = i < attributes.size() && attributes[i].origin == schema::Origin::Wish;
    if (action == Action::Create && of_sandbox) {
      request.SetAbsent(which);
    } else if (r_.OneIn(gap)) {
      if (!r_.OneIn(2)) request.SetAbsent(which);
    } else if (wish && !r_.OneIn(3)) {
      request.SetAbsent(which);
    } else {
      request.Set(which, ValueOf(action, which));
    }
  }
  // Of random parts few agree, so some requests are what a client would really send.
  if (!r_.OneIn(5)) MakeLikely(request);
  return request;
}

std::string Describe(const Request& request) {
  std::string text =
      fmt::format("{} at {}:", schema::WordOf(request.action()), schema::WordOf(request.stage()));
  const auto attributes = schema::AttributesOf(request.action());
  for (std::size_t i = 0; i < RequestGenerator::SlotCount(request.action()); ++i) {
    const auto slot = static_cast<Slot>(i);
    const std::string name =
        i < attributes.size() ? std::string(attributes[i].path) : fmt::format("declared {}", i);
    if (!request.is_known(slot)) {
      text += fmt::format("\n  {} unknown", name);
    } else if (request.is_present(slot)) {
      const module::Value& value = request.value(slot);
      text += value.size == 0 ? fmt::format("\n  {} = {}", name, value.integer)
                              : fmt::format("\n  {} of {} bytes or items", name, value.size);
    }
  }
  return text;
}

}  // namespace curfew::properties
