#include "compiler/explain/candidate_values.h"

#include "compiler/base/check.h"
#include "compiler/values/host.h"
#include "compiler/values/query.h"

#include <algorithm>
#include <string>

namespace curfew::explain {
namespace {

using module::NodeOp;
using module::NodeRecord;
using module::TermKind;
using module::TermRecord;
using module::Value;

// A text that the glob meets: each star is one letter.
std::string SampleOf(std::string_view glob) {
  std::string sample;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\' && i + 1 < glob.size()) {
      sample += glob[++i];
    } else if (glob[i] == '*') {
      if (i == 0 || glob[i - 1] != '*') sample += 'x';
    } else {
      sample += glob[i];
    }
  }
  return sample;
}

std::string SampleOf(values::HostReach reach, std::string_view name) {
  return reach == values::HostReach::Exact ? std::string(name) : "x." + std::string(name);
}

bool SameValue(const Candidate& a, const Candidate& b, const FactType& type) {
  if (a.slot != b.slot || a.absent != b.absent) return false;
  if (a.absent) return true;
  if (type.collection != schema::Collection::One) return false;
  switch (type.kind) {
    case schema::TypeKind::Bool:
    case schema::TypeKind::Int:
    case schema::TypeKind::Duration:
    case schema::TypeKind::Size:
    case schema::TypeKind::Time:
    case schema::TypeKind::Enum:
      return a.value.integer == b.value.integer;
    case schema::TypeKind::Text:
    case schema::TypeKind::Principal:
    case schema::TypeKind::Ip:
    case schema::TypeKind::Cidr:
    case schema::TypeKind::Host:
    case schema::TypeKind::UrlPath:
    case schema::TypeKind::FilePath:
    case schema::TypeKind::Digest:
      return a.value.text() == b.value.text();
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

class Suggestions {
 public:
  Suggestions(const module::PolicyModule& policy, const module::Request& request,
              module::ValueArena& arena, std::vector<Candidate>& candidates)
      : t_(policy.tables()),
        request_(request),
        vocabulary_(policy, request.action()),
        arena_(arena),
        candidates_(candidates) {}

  void Of(std::uint32_t index) {
    const NodeRecord& node = t_.nodes[index];
    switch (node.op) {
      case NodeOp::False:
      case NodeOp::True:
        return;
      case NodeOp::Not:
        return Of(node.a);
      case NodeOp::And:
      case NodeOp::Or:
        for (std::uint32_t i = 0; i < node.b; ++i) Of(t_.children[node.a + i]);
        return;
      case NodeOp::Has:
        return Absent(static_cast<schema::Slot>(node.a));
      case NodeOp::HostIn:
        for (std::uint32_t i = node.b; i < node.b + node.c; ++i) {
          const auto& [text, mode] = t_.patterns[i];
          Text(node.a, SampleOf(static_cast<values::HostReach>(mode), t_.TextOf(text)));
        }
        return;
      case NodeOp::PathIn:
      case NodeOp::TextIn:
        for (std::uint32_t i = node.b; i < node.b + node.c; ++i) {
          Text(node.a, SampleOf(t_.TextOf(t_.patterns[i].text)));
        }
        return;
      case NodeOp::QueryIn:
        for (std::uint32_t i = node.b; i < node.b + node.c; ++i) {
          Text(node.a, values::QueryOf(t_.TextOf(t_.patterns[i].text)));
        }
        return;
      case NodeOp::AddressIn:
        for (std::uint32_t i = node.b; i < node.b + node.c; ++i) {
          const auto* bytes = reinterpret_cast<const char*>(t_.addresses[i].base);
          Text(node.a, std::string(bytes, sizeof t_.addresses[i].base));
        }
        return;
      case NodeOp::AnyOf:
      case NodeOp::AllOf:
      case NodeOp::NoneOf:
        return Items(node.a, {});
      case NodeOp::SubsetOf:
      case NodeOp::Intersects:
      case NodeOp::SameItems:
      case NodeOp::Starts:
        return Sets(node);
      case NodeOp::In:
        return Membership(node);
      case NodeOp::Equal:
      case NodeOp::NotEqual:
      case NodeOp::Less:
      case NodeOp::LessEqual:
      case NodeOp::Greater:
      case NodeOp::GreaterEqual:
      case NodeOp::AddressInItems:
        Comparison(node.a, node.b);
        return Comparison(node.b, node.a);
    }
  }

 private:
  [[nodiscard]] const TermRecord& TermAt(std::uint32_t term) const { return t_.terms[term]; }
  [[nodiscard]] std::vector<Value> ConstantsOf(std::uint32_t term) const {
    const TermRecord& record = TermAt(term);
    std::vector<Value> values;
    for (std::uint32_t i = record.a; i < record.a + record.b; ++i) {
      if (record.kind == TermKind::TextSet || record.kind == TermKind::TextList) {
        values.push_back(Value::OfText(t_.TextOf(t_.text_items[i])));
      } else if (record.kind == TermKind::IntegerSet || record.kind == TermKind::IntegerList) {
        values.push_back(Value::OfInteger(t_.integers[i]));
      }
    }
    return values;
  }

  void Add(Candidate candidate) {
    const FactType type = vocabulary_.TypeOf(candidate.slot);
    if (type.origin == schema::Origin::Derived || type.origin == schema::Origin::Internal) return;
    // What the host can do, and which sandbox asks, is nobody's to change.
    if (candidate.slot == schema::slot::HostCapabilities) return;
    if (candidate.slot == schema::slot::SandboxClass &&
        request_.action() != schema::Action::Create) {
      return;
    }
    const bool known =
        std::any_of(candidates_.begin(), candidates_.end(),
                    [&](const Candidate& other) { return SameValue(other, candidate, type); });
    if (!known) candidates_.push_back(candidate);
  }
  void Absent(schema::Slot slot) {
    if (vocabulary_.TypeOf(slot).optional) Add({.slot = slot, .absent = true, .value = {}});
  }
  void Text(std::uint32_t term, std::string text) {
    const TermRecord& record = TermAt(term);
    if (record.kind != TermKind::Slot) return;
    Add({.slot = record.slot, .value = Value::OfText(arena_.Keep(std::move(text)))});
  }
  void Integer(schema::Slot slot, std::int64_t integer) {
    const FactType type = vocabulary_.TypeOf(slot);
    const bool is_word = type.kind == schema::TypeKind::Enum;
    if (type.kind == schema::TypeKind::Bool && (integer < 0 || integer > 1)) return;
    if (is_word && (integer < 0 || integer >= std::ssize(type.enum_values))) return;
    Add({.slot = slot, .value = Value::OfInteger(integer)});
  }
  void Items(std::uint32_t term, std::vector<Value> items) {
    const TermRecord& record = TermAt(term);
    if (record.kind != TermKind::Slot) return;
    Add({.slot = record.slot, .value = Value::OfItems(arena_.Keep(std::move(items)))});
  }
  [[nodiscard]] std::vector<Value> PresentItems(schema::Slot slot) const {
    if (!request_.is_known(slot) || !request_.is_present(slot)) return {};
    const auto elements = request_.value(slot).elements();
    return {elements.begin(), elements.end()};
  }

  // A fact beside a constant, or beside another fact: the constant and its neighbours, or what the
  // other is now.
  void Comparison(std::uint32_t fact_term, std::uint32_t other_term) {
    const TermRecord& fact = TermAt(fact_term);
    const TermRecord& other = TermAt(other_term);
    if (fact.kind == TermKind::Count && TermAt(fact.a).kind == TermKind::Slot &&
        other.kind == TermKind::Integer) {
      std::vector<Value> items = PresentItems(TermAt(fact.a).slot);
      const std::int64_t most = t_.integers[other.a];
      if (most >= 0 && most < std::ssize(items)) {
        items.resize(static_cast<std::size_t>(most));
        Items(fact.a, std::move(items));
      }
      return;
    }
    if (fact.kind != TermKind::Slot) return;
    if (other.kind == TermKind::Text) return Text(fact_term, std::string(t_.TextOf(other.a)));
    if (other.kind == TermKind::Integer) {
      const std::int64_t integer = t_.integers[other.a];
      Integer(fact.slot, integer);
      if (integer > INT64_MIN) Integer(fact.slot, integer - 1);
      if (integer < INT64_MAX) Integer(fact.slot, integer + 1);
      return;
    }
    if (other.kind == TermKind::Slot && request_.is_known(other.slot) &&
        request_.is_present(other.slot)) {
      Add({.slot = fact.slot, .value = request_.value(other.slot)});
    }
  }

  void Membership(const NodeRecord& node) {
    const TermRecord& element = TermAt(node.a);
    const TermRecord& items = TermAt(node.b);
    if (element.kind == TermKind::Slot) {
      for (const Value& value : ConstantsOf(node.b)) {
        Add({.slot = element.slot, .value = value});
      }
      if (items.kind == TermKind::Slot) {
        for (const Value& value : PresentItems(items.slot)) {
          Add({.slot = element.slot, .value = value});
        }
      }
    }
    if (items.kind != TermKind::Slot) return;
    // The set with the element, where it is a text.
    std::optional<Value> added;
    if (element.kind == TermKind::Text) added = Value::OfText(t_.TextOf(element.a));
    if (element.kind == TermKind::Slot && request_.is_known(element.slot) &&
        request_.is_present(element.slot) &&
        vocabulary_.TypeOf(items.slot).kind == vocabulary_.TypeOf(element.slot).kind) {
      added = request_.value(element.slot);
    }
    if (!added || added->size == 0) return;
    std::vector<Value> with = PresentItems(items.slot);
    const auto place =
        std::lower_bound(with.begin(), with.end(), *added,
                         [](const Value& a, const Value& b) { return a.text() < b.text(); });
    if (place != with.end() && place->text() == added->text()) {
      with.erase(place);
    } else {
      with.insert(place, *added);
    }
    Items(node.b, std::move(with));
  }

  void Sets(const NodeRecord& node) {
    for (const auto& [fact, other] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
      if (TermAt(fact).kind != TermKind::Slot) continue;
      Items(fact, {});
      const std::vector<Value> constants = ConstantsOf(other);
      if (!constants.empty()) Items(fact, constants);
    }
  }

  const module::Tables& t_;
  const module::Request& request_;
  Vocabulary vocabulary_;
  module::ValueArena& arena_;
  std::vector<Candidate>& candidates_;
};

}  // namespace

void AddCandidates(const module::PolicyModule& policy, const module::Request& request,
                   std::uint32_t node, module::ValueArena& arena,
                   std::vector<Candidate>& candidates) {
  if (node == module::NoIndex) return;
  Suggestions(policy, request, arena, candidates).Of(node);
}

}  // namespace curfew::explain
