#include "compiler/import/draft.h"

#include "compiler/base/text.h"
#include "compiler/syntax/string_literal.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::import {
namespace {

constexpr std::size_t kNameBytesMax = 60;
constexpr std::int64_t kCountMax = std::int64_t{1} << 31;

// Words that nothing can be called by, and parts of ids of built-in reasons.
constexpr std::array<std::string_view, 33> ReservedNames = {
    "and",     "or",        "not",     "in",      "has",      "true",    "false",
    "when",    "because",   "where",   "any",     "all",      "none",    "allow",
    "deny",    "require",   "never",   "trial",   "internet", "connect", "websocket",
    "builtin", "class",     "request", "sandbox", "set",      "default", "exec",
    "size",    "isolation", "reason",  "owner",   "lineage"};

bool IsEverything(std::string_view text) {
  return text == "*" || text == "**" || text == "0.0.0.0/0" || text == "::/0";
}

std::string HostOf(const Destination& destination) {
  switch (destination.kind) {
    case Destination::Kind::Host:
      return ToString(destination.host);
    case Destination::Kind::Block:
      return ToString(destination.block);
    case Destination::Kind::Everything:
      return "internet";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

std::string NameLike(std::string_view text) {
  if (!FindCredentials(text, 0).empty()) return "imported";
  std::string name;
  for (const char c : text.substr(0, kNameBytesMax)) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_capital) {
      name += static_cast<char>(c - 'A' + 'a');
    } else if (is_plain) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty()) return "imported";
  const bool is_reserved =
      std::find(ReservedNames.begin(), ReservedNames.end(), name) != ReservedNames.end();
  return is_reserved || (name.front() >= '0' && name.front() <= '9') ? "imported_" + name : name;
}

std::string UniqueNames::Next(const std::string& base) {
  std::string name = base;
  std::size_t& count = counts_[base];
  while (++count > 1) {
    name = fmt::format("{}_{}", base, count);
    if (counts_.emplace(name, 1).second) break;
  }
  return name;
}

std::string DraftClass::Label(std::string_view from_text) {
  return labels_.Next(NameLike(from_text)) + ": ";
}

// Its image is called by it, with a tail that NameLike cannot have made of two.
DraftClass& Draft::AddClass(std::string_view from_text, source::Span from) {
  std::string base = NameLike(from_text);
  if (base.ends_with("_image")) base += "_class";
  return classes.emplace_back(names.Next(base), from);
}

std::optional<Destination> DestinationOf(const Node& node, std::string_view pointer, Effect effect,
                                         Reading& reading) {
  const auto text = TextOf(node, pointer, reading);
  if (!text) return std::nullopt;
  Destination made;
  if (IsEverything(*text)) {
    made.kind = Destination::Kind::Everything;
    return made;
  }
  const auto place = values::ParsePlacePattern(*text);
  if (!place) {
    reading.sink.Report(node.span, diag::ValueNotTaken, Printable(pointer), place.error().message);
    return std::nullopt;
  }
  if (place->port) made.port = fmt::format(":{}", *place->port);
  if (const auto* block = std::get_if<values::Cidr>(&place->place)) {
    made.kind = Destination::Kind::Block;
    made.block = *block;
    return made;
  }
  made.host = std::get<values::HostPattern>(place->place);
  if (made.host.reach == values::HostReach::OneLabel) {
    if (effect == Effect::Deny) made.host.reach = values::HostReach::AnyDepth;
    reading.sink.Report(
        node.span, diag::WildcardOfSource, ToString(made.host),
        effect == Effect::Deny ? "any number of labels is denied" : "exactly one label is allowed");
  } else if (made.host.reach == values::HostReach::AnyDepth && effect == Effect::Allow) {
    reading.sink.Report(node.span, diag::WildcardOfSource, ToString(made.host),
                        "any number of labels is allowed");
  }
  return made;
}

std::string TokenFor(const Destination& destination, source::Span from, std::string_view pointer,
                     Reading& reading) {
  const std::string host = HostOf(destination);
  const std::string name = "fill_in_token_" + NameLike(host);
  reading.sink.Report(from, diag::TokenLeftOut, pointer, host, name);
  return name;
}

void AddAllow(DraftClass& into, const Destination& destination, Allow allow, Reading& reading) {
  Statement made{allow.from, std::move(allow.remarks), {}};
  const std::string label = into.Label(HostOf(destination));
  std::string tail;
  if (!allow.placeholder.empty()) tail += " using " + allow.placeholder;
  if (!allow.condition.empty()) tail += " when " + allow.condition;
  switch (destination.kind) {
    case Destination::Kind::Host:
      made.text =
          fmt::format("{}allow {} {}{}", label, allow.methods,
                      syntax::StringLiteral(fmt::format("https://{}{}{}", HostOf(destination),
                                                        destination.port, allow.path)),
                      tail);
      into.reads_https = true;
      break;
    case Destination::Kind::Block:
      // Any port of any protocol: nothing here can say that, and a stream names its port.
      reading.sink.Report(allow.from, diag::NotCarriedOver, allow.pointer,
                          "an allow of addresses states a port: write `allow connect "
                          "\"BLOCK:PORT\"`");
      made.remarks.push_back(
          fmt::format("not carried over: an allow of {}, without its port", HostOf(destination)));
      break;
    case Destination::Kind::Everything:
      reading.sink.Report(allow.from, diag::ReasonLeftOut, into.name());
      made.remarks.emplace_back("fill in: because \"…\", or better the hosts that are needed");
      made.text = fmt::format("{}allow {} internet{}", label, allow.methods, tail);
      into.reads_https = true;
      break;
  }
  into.network.push_back(std::move(made));
}

void AddDeny(DraftClass& into, const Destination& destination, source::Span from) {
  Statement made{from, {}, {}};
  if (destination.kind == Destination::Kind::Everything) {
    made.remarks.emplace_back("what no rule allows is denied, so that the rest needs no rule");
  } else {
    const std::string host = HostOf(destination);
    made.text = fmt::format("{}deny {}", into.Label("no_" + host),
                            syntax::StringLiteral(host + destination.port));
  }
  into.network.push_back(std::move(made));
}

void AddTtl(DraftClass& into, std::int64_t count, std::int64_t unit_ms, source::Span from,
            std::string_view pointer, Reading& reading) {
  const std::int64_t ms = count > kCountMax ? 0 : count * unit_ms;
  if (ms < 1000 || ms % 1000 != 0) {
    reading.sink.Report(from, diag::ValueNotTaken, pointer,
                        "a lifetime is whole seconds, at least one");
    return;
  }
  into.lifetime.push_back({from, {}, "ttl " + values::DurationText(ms)});
  into.has_ttl = true;
}

}  // namespace curfew::import
