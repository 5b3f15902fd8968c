#include "compiler/prove/request_text.h"

#include "compiler/base/text.h"
#include "compiler/module/capability.h"
#include "compiler/values/address.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace curfew::prove {
namespace {

using module::Value;
using schema::TypeKind;

// 2026-01-05T12:00:00Z, a Monday.
constexpr std::int64_t kNowMs = 1'767'614'400'000;
constexpr std::int64_t kHourMs = 3'600'000;

constexpr std::string_view kAddress("\0\0\0\0\0\0\0\0\0\0\xff\xff\x5d\xb8\xd7\x0e", 16);
constexpr std::string_view kDigest =
    "\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11"
    "\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11"
    "\x11\x11";

// Of a fact that nothing asks about.
Value UsualOf(const Fact& fact) {
  static const std::map<std::string_view, std::int64_t> kNumbers = {
      {"now", kNowMs},
      {"sandbox.ttl_left", kHourMs},
      {"token.valid", 1},
      {"token.expires_in", kHourMs},
      {"resume.credentials_valid", 1},
      {"snapshot.expires_in", kHourMs},
      {"snapshot.lineage_expires_in", kHourMs},
      {"extend.hard_end_in", kHourMs},
      {"egress.scheme", 1},
      {"egress.port", 443}};
  static const std::map<std::string_view, std::string_view> kTexts = {
      {"egress.host", "host.example"},
      {"egress.method", "GET"},
      {"egress.path", "/"},
      {"exec.program", "/bin/true"},
      {"exec.cwd", "/"},
      {"exec.user", "agent"},
      {"task.owner", "user:owner"},
      {"caller.id", "user:caller"},
      {"sandbox.creator", "user:creator"}};
  if (fact.collection != schema::Collection::One) return Value::OfItems({});
  if (fact.is_number()) {
    const auto known = kNumbers.find(fact.path);
    if (known != kNumbers.end()) return Value::OfInteger(known->second);
    const std::int64_t step = fact.is_duration_or_time() ? 1000 : 1;
    // The next whole second.
    const std::int64_t least = std::max<std::int64_t>(0, fact.least);
    return Value::OfInteger((least + step - 1) / step * step);
  }
  const auto known = kTexts.find(fact.path);
  if (known != kTexts.end()) return Value::OfText(known->second);
  switch (fact.kind) {
    case TypeKind::Ip:
      return Value::OfText(kAddress);
    case TypeKind::Digest:
      return Value::OfText(kDigest);
    case TypeKind::Principal:
      return Value::OfText("user:someone");
    case TypeKind::Host:
      return Value::OfText("host.example");
    case TypeKind::FilePath:
    case TypeKind::UrlPath:
      return Value::OfText("/x");
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Text:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
    case TypeKind::Cidr:
    case TypeKind::Enum:
      return Value::OfText("x");
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

bool IsUsuallyThere(const Fact& fact) {
  return !fact.may_be_absent || fact.path == "egress.host" || fact.path == "egress.ip" ||
         fact.path == "egress.method" || fact.path == "egress.path";
}

std::string QuantityText(std::int64_t amount, std::string (*text)(std::int64_t)) {
  return JsonQuoted(amount < 0 ? "-" + text(-amount) : text(amount));
}

std::string TextOfOne(const Fact& fact, const Value& value) {
  switch (fact.kind) {
    case TypeKind::Bool:
      return value.integer != 0 ? "true" : "false";
    case TypeKind::Int:
      return std::to_string(value.integer);
    case TypeKind::Duration:
      return QuantityText(value.integer, values::DurationText);
    case TypeKind::Size:
      return JsonQuoted(values::SizeText(value.integer));
    case TypeKind::Time:
      return JsonQuoted(values::TimeText(value.integer));
    case TypeKind::Enum:
      return JsonQuoted(fact.enum_values[static_cast<std::size_t>(value.integer)]);
    case TypeKind::Ip:
    case TypeKind::Cidr: {
      values::Cidr block;
      std::memcpy(block.base.bytes.data(), value.data, block.base.bytes.size());
      if (fact.kind == TypeKind::Ip) return JsonQuoted(values::ToString(block.base));
      block.prefix = static_cast<std::uint8_t>(value.data[block.base.bytes.size()]);
      return JsonQuoted(values::ToString(block));
    }
    case TypeKind::Digest:
      return JsonQuoted("sha256:" + Hex(AsBytes(value.text())));
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
      return JsonQuoted(value.text());
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string TextOfValue(const Fact& fact, const Value& value) {
  if (fact.collection == schema::Collection::One) return TextOfOne(fact, value);
  std::string text;
  for (const Value& element : value.elements()) {
    text.append(text.empty() ? "" : ", ").append(TextOfOne(fact, element));
  }
  return "[" + text + "]";
}

}  // namespace

module::Request RequestOf(const FactSpace& space, Side side, const Witness& witness,
                          module::ValueArena& arena) {
  module::Request request(space.action());
  // Nothing of a sandbox is in a create.
  for (const schema::Attribute& attribute : schema::AttributesOf(space.action())) {
    request.SetAbsent(attribute.slot);
  }
  const auto scheme = witness.find(space.action() == schema::Action::Egress
                                       ? space.BuiltIn(schema::slot::EgressScheme)
                                       : FactId{0});
  constexpr std::int64_t kTcp = 2;
  const bool is_stream = space.action() == schema::Action::Egress && scheme != witness.end() &&
                         scheme->second.value.integer == kTcp;
  for (FactId id = 0; id < space.facts().size(); ++id) {
    const Fact& fact = space.fact(id);
    if (!fact.slots[side]) continue;
    const schema::Slot slot = *fact.slots[side];
    const auto told = witness.find(id);
    const bool of_http = fact.path == "egress.method" || fact.path == "egress.path";
    if (fact.path == "host.capabilities") {
      std::vector<Value> all;
      for (const std::string_view word : module::capability::All) {
        all.push_back(Value::OfText(word));
      }
      request.Set(slot, Value::OfItems(arena.Keep(std::move(all))));
    } else if (told != witness.end()) {
      if (told->second.present) {
        request.Set(slot, told->second.value);
      } else {
        request.SetAbsent(slot);
      }
    } else if (!IsUsuallyThere(fact) || (of_http && is_stream)) {
      request.SetAbsent(slot);
    } else {
      request.Set(slot, UsualOf(fact));
    }
  }
  if (request.is_present(schema::slot::Now)) {
    request.SetNow(request.value(schema::slot::Now).integer);
  }
  return request;
}

std::string TextOf(const FactSpace& space, Side side, const module::Request& request) {
  // Members by subject, in the order of the facts.
  std::vector<std::pair<std::string, std::string>> subjects;
  std::string top = "{\"version\": 1, \"action\": " + JsonQuoted(WordOf(space.action()));
  for (const Fact& fact : space.facts()) {
    if (!fact.slots[side] || !request.is_present(*fact.slots[side])) continue;
    if (fact.origin == schema::Origin::Derived || fact.path == "host.capabilities") continue;
    const std::string value = TextOfValue(fact, request.value(*fact.slots[side]));
    const std::size_t dot = fact.path.find('.');
    if (dot == std::string::npos) {
      top += ", " + JsonQuoted(fact.path) + ": " + value;
      continue;
    }
    const std::string subject = fact.path.substr(0, dot);
    auto place = std::find_if(subjects.begin(), subjects.end(),
                              [&](const auto& known) { return known.first == subject; });
    if (place == subjects.end()) place = subjects.insert(subjects.end(), {subject, ""});
    place->second +=
        (place->second.empty() ? "" : ", ") + JsonQuoted(fact.path.substr(dot + 1)) + ": " + value;
  }
  for (const auto& [subject, members] : subjects) {
    top += ", " + JsonQuoted(subject) + ": {" + members + "}";
  }
  return top + "}";
}

}  // namespace curfew::prove
