// The network plane, read naively.
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "tests/properties/naive_decision.h"

#include <cctype>
#include <regex>

namespace curfew::properties {
namespace {

bool MeetsExactly(const values::PathGlob& glob, std::string_view path) {
  return values::MatchesPathGlob(glob.text, path);
}

// As a deny reads a path: in small letters, an escaped slash as one or not, and as it stands or
// without parameters.
bool MeetsWidely(values::PathGlob glob, std::string path) {
  for (std::string* text : {&glob.text, &path}) {
    for (char& c : *text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  for (std::string one : {path, std::regex_replace(path, std::regex("%2f"), "/")}) {
    if (MeetsExactly(glob, one)) return true;
    if (one.find(';') == std::string::npos) continue;
    one = std::regex_replace(one, std::regex("/;[^/]*(?=/)"), "");
    if (MeetsExactly(glob, std::regex_replace(one, std::regex(";[^/]*"), ""))) return true;
  }
  return false;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

struct Decoding {
  std::string text;
  bool is_broken = false;  // some escape is none, and stands for itself
};
Decoding Decoded(const std::string& text, bool plus_is_blank) {
  Decoding decoding;
  const auto is_hex = [&](std::size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      decoding.text += ' ';
    } else if (text[i] != '%') {
      decoding.text += text[i];
    } else if (is_hex(i + 1) && is_hex(i + 2)) {
      decoding.text += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      decoding.text += '%';
      decoding.is_broken = true;
    }
  }
  return decoding;
}

struct Parameter {
  std::string key;
  Decoding value;
};

std::vector<Parameter> ParametersOf(const std::string& query, bool semicolon, bool plus_is_blank) {
  std::vector<std::string> texts(1);
  for (const char c : query) {
    if (c == '&' || (semicolon && c == ';')) {
      texts.emplace_back();
    } else {
      texts.back() += c;
    }
  }
  std::vector<Parameter> parameters;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    parameters.push_back(
        {Decoded(text.substr(0, equals), plus_is_blank).text, Decoded(value, plus_is_blank)});
  }
  return parameters;
}

// An allow must be right in every way that a server may read the query, a deny in one.
bool AsksFor(const model::QueryTerm& term, const std::string& query, bool allow) {
  for (const bool semicolon : {false, true}) {
    for (const bool plus : {false, true}) {
      std::size_t keys = 0;
      bool meets = false;
      bool exact = false;
      bool broken = false;
      for (const Parameter& one : ParametersOf(query, semicolon, plus)) {
        if (Lower(one.key) != Lower(term.key)) continue;
        ++keys;
        broken = broken || one.value.is_broken;
        meets = meets || one.value.text == term.value;
        exact = one.key == term.key && one.value.text == term.value;
      }
      if (!allow && meets) return true;
      if (allow && !(keys == 1 && exact && !broken)) return false;
    }
  }
  return allow;
}

bool LiesIn(const values::Address& address, const std::vector<values::Cidr>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const values::Cidr& block) { return values::Contains(block, address); });
}

bool Meets(const values::HostPattern& pattern, std::string_view host) {
  return values::MatchesHost(pattern.reach, pattern.name, host);
}

}  // namespace

Truth NaiveDecision::Reaches(const model::EgressTarget& target, bool allow) const {
  std::vector<Truth> parts;
  if (target.internet) parts.push_back(Present(slot::EgressHost));
  if (target.place) {
    if (const auto* pattern = std::get_if<values::HostPattern>(&*target.place)) {
      const Fact host = Text(slot::EgressHost);
      parts.push_back(
          All({Present(slot::EgressHost), host ? Truth(Meets(*pattern, host->text)) : Truth()}));
    } else {
      const auto address = AddressOf(Text(slot::EgressIp));
      const auto& block = std::get<values::Cidr>(*target.place);
      parts.push_back(address ? Truth(values::Contains(block, *address)) : Truth());
      if (allow) parts.push_back(Not(Present(slot::EgressHost)));
    }
  }
  if (!target.ports.empty()) {
    parts.push_back(NumberIs(slot::EgressPort, [&](Wide port) {
      return std::any_of(target.ports.begin(), target.ports.end(), [&](const auto& range) {
        return port >= range.first && port <= range.last;
      });
    }));
  }
  if (!(target.http && target.https && target.tcp)) {
    parts.push_back(NumberIs(slot::EgressScheme, [&](Wide scheme) {
      return scheme == 0 ? target.http : scheme == 1 ? target.https : target.tcp;
    }));
  }
  if (target.path) {
    const Fact path = Text(slot::EgressPath);
    parts.push_back(!path   ? Truth()
                    : allow ? Truth(MeetsExactly(*target.path, path->text))
                            : Truth(MeetsWidely(*target.path, path->text)));
  }
  return All(parts);
}

Truth NaiveDecision::Says(const model::EgressRule& rule) const {
  const bool allow = rule.effect == model::EgressRule::Effect::Allow;
  std::vector<Truth> targets;
  for (const auto& target : rule.targets) targets.push_back(Reaches(target, allow));
  Truth methods = true;
  if (!rule.methods.empty()) {
    const Fact method = Text(slot::EgressMethod);
    const Truth named = method ? Truth(std::find(rule.methods.begin(), rule.methods.end(),
                                                 method->text) != rule.methods.end())
                               : Truth();
    methods = All({NumberIs(slot::EgressScheme, [](Wide scheme) { return scheme != 2; }), named});
  }
  return All(
      {Some(targets), methods, Upgrades(rule), Asks(rule), Slashes(rule), Holds(rule.condition)});
}

// Whether HTTP is there and cannot be seen: nobody can say.
Truth NaiveDecision::Hidden() const {
  const Fact method = Text(slot::EgressMethod);
  return method ? Truth(method->text.empty()) : Truth();
}

Truth NaiveDecision::Upgrades(const model::EgressRule& rule) const {
  const bool stream = rule.targets.front().tcp;
  const Truth some = Present(slot::EgressUpgrade);
  if (!rule.websocket) {
    if (rule.effect == model::EgressRule::Effect::Deny || stream) return true;
    return Not(some);
  }
  const Fact upgrade = Text(slot::EgressUpgrade);
  const Truth named = upgrade ? Truth(upgrade->text == "websocket") : Truth();
  return Some({All({some, named}), All({Not(some), Hidden()})});
}

Truth NaiveDecision::Asks(const model::EgressRule& rule) const {
  if (rule.query.empty()) return true;
  const bool allow = rule.effect == model::EgressRule::Effect::Allow;
  const Truth some = Present(slot::EgressQuery);
  const Fact query = Text(slot::EgressQuery);
  std::vector<Truth> terms{some};
  for (const model::QueryTerm& term : rule.query) {
    terms.push_back(query ? Truth(AsksFor(term, query->text, allow)) : Truth());
  }
  return Some({All(terms), All({Not(some), Hidden()})});
}

Truth NaiveDecision::Slashes(const model::EgressRule& rule) const {
  if (rule.effect == model::EgressRule::Effect::Deny || rule.encoded_slash ||
      rule.targets.front().tcp) {
    return true;
  }
  const Fact path = Text(slot::EgressPath);
  const Truth escaped = path ? Truth(path->text.find("%2F") != std::string::npos) : Truth();
  return Not(All({Present(slot::EgressPath), escaped}));
}

void NaiveDecision::Limits(const model::Class& of) {
  const auto deny = [&](const std::optional<model::Bound>& bound, Slot which) {
    if (!bound) return;
    Deny(bound->id, NumberIs(which, [&](Wide n) { return n > bound->value.most; }));
  };
  std::optional<model::RequestRate> rate;
  std::optional<model::Bound> request;
  std::optional<model::Bound> total;
  const auto smaller = [](std::optional<model::Bound>& a, const std::optional<model::Bound>& b) {
    if (b && (!a || b->value.most < a->value.most)) a = b;
  };
  for (const model::Class* link : Links(of)) {
    const model::NetworkPlane& plane = link->network;
    if (plane.request_rate && (!rate || plane.request_rate->most < rate->most)) {
      rate = plane.request_rate;
    }
    smaller(request, plane.request_bytes);
    smaller(total, plane.total_bytes);
  }
  if (rate) {
    Deny(rate->id, NumberIs(slot::EgressRequests, [&](Wide n) { return n > rate->most; }));
  }
  deny(request, slot::EgressBytes);
  deny(total, slot::EgressTotal);
}

void NaiveDecision::NetworkNeeds(const model::Class& of) {
  bool reads_inside = false;
  bool websocket = false;
  bool secret = false;
  bool inspects = false;
  for (const model::Class* link : Links(of)) {
    inspects = inspects || link->network.tls == model::Tls::Inspect;
    for (const model::EgressRule& rule : link->network.rules) {
      if (rule.effect == model::EgressRule::Effect::Deny) continue;
      websocket = websocket || rule.websocket;
      secret = secret || rule.secret;
      for (const model::EgressTarget& target : rule.targets) {
        if (!target.https) continue;
        reads_inside = reads_inside || rule.websocket || !rule.methods.empty() ||
                       !rule.query.empty() || rule.secret ||
                       (target.path && target.path->text != "/**");
      }
    }
  }
  if (reads_inside && inspects) Deny("builtin.unsupported", HostCannot("inspect"));
  if (websocket) Deny("builtin.unsupported", HostCannot("websocket"));
  if (secret) Deny("builtin.unsupported", HostCannot("secrets"));
}

Truth NaiveDecision::HostCannot(const char* word) const {
  const Fact can = Texts(slot::HostCapabilities);
  return can ? Truth(!Has(can->items, Thing{0, word, {}})) : Truth();
}

void NaiveDecision::Expose(const model::Class& of) {
  Deny("builtin.unsupported", HostCannot("expose"));
  std::vector<const model::Class*> writers = Links(of);
  std::erase_if(writers, [](const model::Class* link) {
    return link->network.exposes.empty() && !link->network.expose_none;
  });
  std::optional<std::int64_t> standard;
  for (const model::Class* link : writers) {
    for (const model::ExposeRule& rule : link->network.exposes) {
      const auto& own = rule.lasts.value.standard;
      if (own) standard = std::min(standard.value_or(*own), *own);
    }
  }
  if (standard && Present(slot::ExposeLasts) == Truth(false)) {
    r_.SetInteger(slot::ExposeLasts, *standard);
  }
  if (writers.empty()) DenySurely(of.name + ".network.expose");
  for (const model::Class* link : writers) ExposeOf(*link);
}

void NaiveDecision::ExposeOf(const model::Class& link) {
  bool granted = false;
  bool said = false;
  bool unknown = false;
  for (const model::ExposeRule& rule : link.network.exposes) {
    const Truth port = NumberIs(
        slot::ExposePort, [&](Wide n) { return n >= rule.ports.first && n <= rule.ports.last; });
    Truth whom = true;
    const Fact to = Text(slot::ExposeTo);
    const Fact owner = Text(slot::TaskOwner);
    if (rule.to.kind == model::Audience::Kind::TaskOwner) {
      whom = to && owner ? Truth(*to == *owner) : Truth();
    } else if (rule.to.kind == model::Audience::Kind::Principal) {
      whom = to ? Truth(to->text == rule.to.principal) : Truth();
    }
    const Truth says = All({port, whom, Holds(rule.condition)});
    const Truth fits =
        All({Present(slot::ExposeLasts),
             NumberIs(slot::ExposeLasts, [&](Wide n) { return n <= rule.lasts.value.most; })});
    const Truth grants = All({says, fits});
    said = said || says == Truth(true);
    if (grants == Truth(true)) {
      granted = true;
      answer_.allows.insert(rule.id);
    } else if (!grants) {
      unknown = true;
    }
  }
  if (granted) return;
  DenyByDefault(said ? link.name + ".network.expose.lasts" : class_->name + ".network.expose",
                unknown);
}

void NaiveDecision::Egress(const model::Class& of) {
  bool written = false;
  std::vector<values::Cidr> pinned;
  for (const model::Class* link : Links(of)) {
    bool allows = link->network.allow_none.has_value();
    for (const model::EgressRule& rule : link->network.rules) {
      if (rule.effect == model::EgressRule::Effect::Deny) {
        Deny(rule.id, Says(rule));
      } else {
        allows = true;
        pinned.insert(pinned.end(), rule.pins.begin(), rule.pins.end());
      }
    }
    for (const model::EgressRule& rule : link->network.trials) {
      OnTrial(rule.id, rule.trial, Says(rule));
    }
    if (allows) EgressOf(*link);
    written = written || allows;
  }
  if (!written) DenySurely(of.name + ".network.default");
  Limits(of);
  const auto address = AddressOf(Text(slot::EgressIp));
  Truth barred;
  if (address) {
    const auto range = values::RangeOf(*address);
    barred = values::IsBarred(range) && !(values::CanBePinned(range) && LiesIn(*address, pinned));
  }
  Deny("builtin.address", All({Present(slot::EgressIp), barred}));
}

// The allows of one link, of which one must count.
void NaiveDecision::EgressOf(const model::Class& link) {
  const auto address = AddressOf(Text(slot::EgressIp));
  bool granted = false;
  bool said = false;
  bool unknown = false;
  for (const model::EgressRule& rule : link.network.rules) {
    if (rule.effect == model::EgressRule::Effect::Deny) continue;
    const Truth says = Says(rule);
    Truth within;
    if (address) {
      const auto range = values::RangeOf(*address);
      within = rule.pins.empty() ? !values::IsBarred(range)
                                 : LiesIn(*address, rule.pins) && values::CanBePinned(range);
    }
    const Truth grants = All({says, within});
    if (says != Truth(false) && Counts(says)) said = true;
    if (Counts(grants) && grants != Truth(false)) {
      granted = true;
      answer_.allows.insert(rule.id);
    } else if (!grants) {
      unknown = true;
    }
  }
  if (!granted)
    DenyByDefault(said ? "builtin.address" : class_->name + ".network.default", unknown);
}

}  // namespace curfew::properties
