#include "tests/properties/naive_evaluator.h"

#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "tests/properties/naive_decision.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <regex>

namespace curfew::properties {
namespace {

bool IsNumber(TypeKind kind) {
  return kind == TypeKind::Bool || kind == TypeKind::Int || kind == TypeKind::Duration ||
         kind == TypeKind::Size || kind == TypeKind::Time || kind == TypeKind::Enum;
}

Thing ThingOf(const module::Value& value, TypeKind kind) {
  Thing thing;
  if (IsNumber(kind)) {
    thing.number = value.integer;
  } else {
    thing.text = std::string(value.text());
  }
  return thing;
}

Thing ThingOf(const model::Scalar& scalar) {
  Thing thing;
  if (const auto* number = std::get_if<std::int64_t>(&scalar)) thing.number = *number;
  if (const auto* text = std::get_if<std::string>(&scalar)) thing.text = *text;
  if (const auto* digest = std::get_if<Digest>(&scalar)) {
    thing.text = std::string(AsText(digest->bytes));
  }
  if (const auto* address = std::get_if<values::Address>(&scalar)) {
    thing.text = std::string(AsText(address->bytes));
  }
  if (const auto* block = std::get_if<values::Cidr>(&scalar)) {
    thing.text = std::string(AsText(block->base.bytes)) + static_cast<char>(block->prefix);
  }
  return thing;
}

std::optional<values::Address> AddressOf(const Fact& fact) {
  if (!fact || fact->text.size() != 16) return std::nullopt;
  values::Address address;
  std::memcpy(address.bytes.data(), fact->text.data(), 16);
  return address;
}

bool Meets(const values::TextGlob& glob, std::string_view text) {
  return values::MatchesTextGlob(glob.text, text);
}
bool Meets(const values::HostPattern& pattern, std::string_view host) {
  return values::MatchesHost(pattern.reach, pattern.name, host);
}
bool Meets(const values::PathGlob& glob, std::string_view path) {
  return values::MatchesPathGlob(glob.text, path);
}
// As a deny reads a path: in small letters, as it stands or without parameters.
bool MeetsWidely(values::PathGlob glob, std::string path) {
  for (std::string* text : {&glob.text, &path}) {
    for (char& c : *text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  if (Meets(glob, path)) return true;
  if (path.find(';') == std::string::npos) return false;
  path = std::regex_replace(path, std::regex("/;[^/]*(?=/)"), "");
  return Meets(glob, std::regex_replace(path, std::regex(";[^/]*"), ""));
}

// ---- Conditions ---------------------------------------------------------------------------------

class Conditions {
 public:
  Conditions(const model::PolicyModel& model, const Request& request)
      : e_(model.expressions), r_(request) {}

  Truth Of(ExprId id, const Thing* variable = nullptr) const;

 private:
  Fact Value(ExprId id, const Thing* variable) const;
  Truth Compare(ExprId id, const Thing* variable) const;
  Truth In(ExprId id, const Thing* variable) const;
  Truth OverItems(ExprId id, const Thing* variable) const;
  ExprId Operand(ExprId id, std::size_t n) const { return e_.OperandsOf(id)[n]; }

  const model::Expressions& e_;
  const Request& r_;
};

Fact Conditions::Value(ExprId id, const Thing* variable) const {
  const model::Expr& expr = e_.at(id);
  if (expr.kind == ExprKind::Constant) {
    const auto& constant = e_.ConstantOf(id);
    if (const auto* one = std::get_if<model::Scalar>(&constant.value)) return ThingOf(*one);
    Thing many;
    for (const auto& one : std::get<std::vector<model::Scalar>>(constant.value)) {
      many.items.push_back(ThingOf(one));
    }
    return many;
  }
  if (expr.kind == ExprKind::Attribute) {
    return ReadFact(r_, model::SlotOf(e_.AttributeOf(id), r_.action()), expr.type.kind,
                    expr.type.collection);
  }
  if (expr.kind == ExprKind::Variable) return *variable;
  if (expr.kind == ExprKind::Count) {
    const Fact counted = Value(Operand(id, 0), variable);
    if (!counted) return std::nullopt;
    return Thing{static_cast<Wide>(counted->items.size()), {}, {}};
  }
  if (expr.kind == ExprKind::Plus || expr.kind == ExprKind::Minus) {
    const Fact a = Value(Operand(id, 0), variable);
    const Fact b = Value(Operand(id, 1), variable);
    if (!a || !b) return std::nullopt;
    return Thing{
        expr.kind == ExprKind::Plus ? a->number + b->number : a->number - b->number, {}, {}};
  }
  const Truth truth = Of(id, variable);
  if (!truth) return std::nullopt;
  return Thing{*truth ? 1 : 0, {}, {}};
}

Truth Conditions::Compare(ExprId id, const Thing* variable) const {
  const Fact a = Value(Operand(id, 0), variable);
  const Fact b = Value(Operand(id, 1), variable);
  if (!a || !b) return std::nullopt;
  switch (e_.at(id).kind) {
    case ExprKind::Less:
      return *a < *b;
    case ExprKind::LessEqual:
      return !(*b < *a);
    case ExprKind::Greater:
      return *b < *a;
    case ExprKind::GreaterEqual:
      return !(*a < *b);
    case ExprKind::SubsetOf:
      return std::all_of(a->items.begin(), a->items.end(),
                         [&](const Thing& thing) { return Has(b->items, thing); });
    case ExprKind::Intersects:
      return std::any_of(a->items.begin(), a->items.end(),
                         [&](const Thing& thing) { return Has(b->items, thing); });
    case ExprKind::Starts:
      return a->items.size() >= b->items.size() &&
             std::equal(b->items.begin(), b->items.end(), a->items.begin());
    default:
      return (e_.at(id).kind == ExprKind::Equal) == (*a == *b);
  }
}

Truth Conditions::In(ExprId id, const Thing* variable) const {
  const Fact element = Value(Operand(id, 0), variable);
  const Fact place = Value(Operand(id, 1), variable);
  if (!element || !place) return std::nullopt;
  if (e_.at(Operand(id, 1)).type.kind != TypeKind::Cidr) return Has(place->items, *element);
  const auto address = AddressOf(element);
  if (!address) return std::nullopt;
  const bool is_one = e_.at(Operand(id, 1)).type.collection == schema::Collection::One;
  const std::vector<Thing> blocks = is_one ? std::vector{*place} : place->items;
  return std::any_of(blocks.begin(), blocks.end(), [&](const Thing& thing) {
    values::Cidr block;
    std::memcpy(block.base.bytes.data(), thing.text.data(), 16);
    block.prefix = static_cast<std::uint8_t>(thing.text[16]);
    return values::Contains(block, *address);
  });
}

Truth Conditions::OverItems(ExprId id, const Thing* variable) const {
  const Fact items = Value(Operand(id, 0), variable);
  if (!items) return std::nullopt;
  std::vector<Truth> each;
  for (const Thing& item : items->items) each.push_back(Of(Operand(id, 1), &item));
  const ExprKind kind = e_.at(id).kind;
  if (kind == ExprKind::AllOf) return All(each);
  return kind == ExprKind::AnyOf ? Some(each) : Not(Some(each));
}

Truth Conditions::Of(ExprId id, const Thing* variable) const {
  if (id == model::NoExpr) return true;
  const model::Expr& expr = e_.at(id);
  switch (expr.kind) {
    case ExprKind::Has: {
      const Slot which = model::SlotOf(e_.AttributeOf(id), r_.action());
      return r_.is_known(which) ? Truth(r_.is_present(which)) : Truth();
    }
    case ExprKind::Not:
      return Not(Of(Operand(id, 0), variable));
    case ExprKind::And:
    case ExprKind::Or: {
      std::vector<Truth> parts;
      for (const ExprId part : e_.OperandsOf(id)) parts.push_back(Of(part, variable));
      return expr.kind == ExprKind::And ? All(parts) : Some(parts);
    }
    case ExprKind::In:
      return In(id, variable);
    case ExprKind::Matches: {
      const Fact text = Value(Operand(id, 0), variable);
      if (!text) return std::nullopt;
      return std::visit([&](const auto& pattern) { return Meets(pattern, text->text); },
                        e_.PatternOf(id));
    }
    case ExprKind::AnyOf:
    case ExprKind::AllOf:
    case ExprKind::NoneOf:
      return OverItems(id, variable);
    case ExprKind::Constant:
    case ExprKind::Attribute:
    case ExprKind::Variable: {
      const Fact fact = Value(id, variable);
      return fact ? Truth(fact->number == 1) : Truth();
    }
    default:
      return Compare(id, variable);
  }
}

}  // namespace

Fact ReadFact(const Request& request, Slot which, TypeKind kind, schema::Collection collection) {
  if (!request.is_known(which) || !request.is_present(which)) return std::nullopt;
  const module::Value& value = request.value(which);
  if (collection == schema::Collection::One) return ThingOf(value, kind);
  Thing many;
  for (const module::Value& element : value.elements()) {
    many.items.push_back(ThingOf(element, kind));
  }
  return many;
}

// ---- Decisions ----------------------------------------------------------------------------------

Truth NaiveDecision::Holds(ExprId condition) const { return Conditions(m_, r_).Of(condition); }

void NaiveDecision::Checks() {
  const auto wrong = [&](Slot which, auto test) { Deny("request.invalid", NumberIs(which, test)); };
  const auto wrong_wish = [&](Slot which, auto test) {
    Deny("request.invalid", All({Present(which), NumberIs(which, test)}));
  };
  const auto below_one = [](Wide n) { return n < 1; };
  const auto negative = [](Wide n) { return n < 0; };
  const auto no_port = [](Wide n) { return n < 1 || n > 65535; };
  switch (r_.action()) {
    case Action::Create:
      for (const Slot which :
           {slot::CreateCpu, slot::CreateMemory, slot::CreateDisk, slot::CreateTtl}) {
        wrong_wish(which, below_one);
      }
      break;
    case Action::Resume:
      wrong_wish(slot::ResumeTtl, below_one);
      break;
    case Action::Egress:
      wrong(slot::EgressPort, no_port);
      break;
    case Action::Expose:
      wrong(slot::ExposePort, no_port);
      wrong_wish(slot::ExposeLasts, below_one);
      break;
    case Action::Snapshot:
      wrong_wish(slot::SnapshotExpiresIn, below_one);
      break;
    case Action::Import:
      wrong(slot::ImportSize, negative);
      break;
    case Action::Export:
      wrong(slot::ExportSize, negative);
      break;
    case Action::Extend:
      wrong(slot::ExtendBy, below_one);
      break;
    case Action::Exec:
    case Action::Observe:
      break;
  }
}

void NaiveDecision::SelectClass() {
  std::vector<std::pair<const model::Class*, Truth>> left;
  for (const model::Class& of : m_.classes) {
    Truth named = true;
    if (of.by_name) {
      named = All({Present(slot::CreateClass), Text(slot::CreateClass)
                                                   ? Truth(Text(slot::CreateClass)->text == of.name)
                                                   : Truth()});
    }
    const Truth truth = All({named, Holds(of.when)});
    if (truth != Truth(false)) left.emplace_back(&of, truth);
  }
  const bool some_unknown =
      std::any_of(left.begin(), left.end(), [](const auto& entry) { return !entry.second; });
  if (left.empty()) return DenySurely("class.none");
  if (left.size() > 1) {
    return some_unknown ? DenyUnsurely("class.ambiguous") : DenySurely("class.ambiguous");
  }
  if (some_unknown) return DenyUnsurely("class.none");
  class_ = left.front().first;
  if (!Present(slot::CreateClass)) return DenyUnsurely("class.not_selected");
  if (*Present(slot::CreateClass) && Text(slot::CreateClass)->text != class_->name) {
    DenySurely("class.not_selected");
  }
}

void NaiveDecision::Rules(std::optional<std::size_t> of_class) {
  for (const model::Rule& rule : m_.rules) {
    const auto owner =
        rule.of_class ? std::optional(static_cast<std::size_t>(*rule.of_class)) : std::nullopt;
    if (owner != of_class || !rule.actions.test(static_cast<std::size_t>(r_.action()))) continue;
    Deny(rule.id, Holds(rule.condition));
  }
}

Truth NaiveDecision::OwnAccess() const {
  const Fact caller = Text(slot::CallerId);
  const Fact owner = Text(slot::TaskOwner);
  const Fact creator = Text(slot::SandboxCreator);
  const Fact groups = Texts(slot::CallerGroups);
  const auto same = [](const Fact& a, const Fact& b) { return a && b ? Truth(*a == *b) : Truth(); };
  const std::vector<Truth> ways = {same(caller, creator), same(caller, owner),
                                   owner && groups ? Truth(Has(groups->items, *owner)) : Truth(),
                                   NumberIs(slot::CallerOperator, [](Wide n) { return n == 1; })};
  return Some(ways);
}

void NaiveDecision::Bound(const std::string& id, const module::Bound& bound, Slot which) {
  if (!bound.standard) Deny(id, Not(Present(which)));
  if (bound.standard && Present(which) == Truth(false)) r_.SetInteger(which, *bound.standard);
  Deny(id, All({Present(which), NumberIs(which, [&](Wide n) { return n > bound.most; })}));
}

void NaiveDecision::Create(const model::Class& of) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  const auto value = [](const std::optional<model::Bound>& bound, module::Bound silent) {
    return bound ? bound->value : silent;
  };
  const bool kvm_only =
      of.image.isolation.value_or(module::Isolation::Kvm) == module::Isolation::Kvm;
  // Every default first: rules read them.
  if (Present(slot::CreateIsolation) == Truth(false)) {
    r_.SetInteger(slot::CreateIsolation, kvm_only ? 0 : 1);
  }
  for (const Slot which : {slot::CreatePersist, slot::CreateSecrets, slot::CreateEnv}) {
    if (Present(which) == Truth(false)) r_.Set(which, module::Value::OfItems({}));
  }
  if (Present(slot::CreateImageRef) == Truth(false)) r_.SetText(slot::CreateImageRef, "");
  Bound(of.name + ".image.size.cpu", value(of.image.cpu, {1, 1}), slot::CreateCpu);
  Bound(of.name + ".image.size.memory", value(of.image.memory, {512 * kMiB, 512 * kMiB}),
        slot::CreateMemory);
  Bound(of.name + ".image.size.disk", value(of.image.disk, {0, 0}), slot::CreateDisk);
  Bound(of.name + ".lifetime.ttl", of.lifetime.ttl->value, slot::CreateTtl);
  const auto none_of = [&](Slot which, const char* path) {
    const Fact items = Texts(which);
    Deny(of.name + path, items ? Truth(!items->items.empty()) : Truth());
  };
  none_of(slot::CreatePersist, ".filesystem.persist");
  none_of(slot::CreateSecrets, ".identity.secrets");
  none_of(slot::CreateEnv, ".identity.env");

  const auto wants_kvm = NumberIs(slot::CreateIsolation, [](Wide n) { return n == 0; });
  if (kvm_only) Deny(of.name + ".image.isolation", Not(wants_kvm));
  const Fact can = Texts(slot::HostCapabilities);
  const auto cannot = [&](const char* word) {
    return can ? Truth(!Has(can->items, Thing{0, word, {}})) : Truth();
  };
  Deny("builtin.unsupported", All({wants_kvm, cannot("kvm")}));
  Deny("builtin.unsupported", All({cannot("kvm"), cannot("emulation")}));
  const bool network =
      std::any_of(of.network.rules.begin(), of.network.rules.end(),
                  [](const auto& rule) { return rule.effect == model::EgressRule::Effect::Allow; });
  if (network) Deny("builtin.unsupported", cannot("egress"));
  if (of.evidence.record && of.evidence.record->except_allows_of.any()) {
    Deny("builtin.unsupported", cannot("omit"));
  }
  if (of.lifetime.idle && of.lifetime.idle->then == module::IdleEnd::Freeze) {
    Deny("builtin.unsupported", cannot("freeze"));
  }

  const Fact image = Text(slot::CreateImage);
  bool granted = false;
  for (const model::ImageGrant& grant : of.image.allow) {
    const Digest& digest = At(m_, grant.image).digest;
    if (!image || image->text != AsText(digest.bytes)) continue;
    granted = true;
    answer_.allows.insert(grant.id);
  }
  if (!granted) DenyByDefault(of.name + ".image.allow", !image && !of.image.allow.empty());
}

void NaiveDecision::Exec(const model::Class& of) {
  const std::string id = of.name + ".image.exec";
  const auto reach = of.image.exec ? of.image.exec->reach : model::ExecGrant::Reach::None;
  const Fact program = Text(slot::ExecProgram);
  bool granted = reach == model::ExecGrant::Reach::Any;
  if (reach == model::ExecGrant::Reach::Patterns && program) {
    for (const auto& glob : of.image.exec->patterns) {
      granted = granted || Meets(glob, program->text);
    }
  }
  if (granted) {
    answer_.allows.insert(id);
  } else {
    DenyByDefault(id, reach == model::ExecGrant::Reach::Patterns && !program);
  }
}

Truth NaiveDecision::Reaches(const model::EgressTarget& target, bool allow) const {
  std::vector<Truth> parts;
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
                    : allow ? Truth(Meets(*target.path, path->text))
                            : Truth(MeetsWidely(*target.path, std::string(path->text))));
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
  return All({Some(targets), methods, Holds(rule.condition)});
}

void NaiveDecision::Egress(const model::Class& of) {
  const auto address = AddressOf(Text(slot::EgressIp));
  const auto lies_in = [&](const std::vector<values::Cidr>& blocks) {
    return std::any_of(blocks.begin(), blocks.end(), [&](const values::Cidr& block) {
      return values::Contains(block, *address);
    });
  };
  std::vector<values::Cidr> pinned;
  bool granted = false;
  bool said = false;
  bool unknown = false;
  for (const model::EgressRule& rule : of.network.rules) {
    const Truth says = Says(rule);
    if (rule.effect == model::EgressRule::Effect::Deny) {
      Deny(rule.id, says);
      continue;
    }
    pinned.insert(pinned.end(), rule.pins.begin(), rule.pins.end());
    Truth within;
    if (address) {
      const auto range = values::RangeOf(*address);
      within = rule.pins.empty() ? !values::IsBarred(range)
                                 : lies_in(rule.pins) && values::CanBePinned(range);
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
  if (!granted) DenyByDefault(said ? "builtin.address" : of.name + ".network.default", unknown);
  Truth barred;
  if (address) {
    const auto range = values::RangeOf(*address);
    barred = values::IsBarred(range) && !(values::CanBePinned(range) && lies_in(pinned));
  }
  Deny("builtin.address", All({Present(slot::EgressIp), barred}));
}

void NaiveDecision::Export(const model::Class& of) {
  const Fact path = Text(slot::ExportPath);
  bool granted = false;
  bool said = false;
  bool unknown = false;
  for (const model::TransferRule& rule : of.filesystem.exports) {
    Truth meets;
    if (path) {
      meets = std::any_of(rule.patterns.begin(), rule.patterns.end(),
                          [&](const auto& glob) { return Meets(glob, path->text); });
    }
    const Truth says = All({meets, Holds(rule.condition)});
    const Truth fits = NumberIs(rule.each ? slot::ExportSize : slot::ExportTotal,
                                [&](Wide n) { return n <= rule.size.value.most; });
    const Truth grants = All({says, fits});
    said = said || says == Truth(true);
    if (grants == Truth(true)) {
      granted = true;
      answer_.allows.insert(rule.id);
    } else if (!grants) {
      unknown = true;
    }
  }
  if (!granted) {
    DenyByDefault(of.name + (said ? ".filesystem.export.size" : ".filesystem.export"), unknown);
  }
}

// Who may ask: as creator, owner, operator, or named by `access` of the class, if there is one.
void NaiveDecision::Access(const model::Class* of) {
  const Truth own = OwnAccess();
  bool granted = own == Truth(true);
  bool unknown = !own;
  if (granted) answer_.allows.insert("builtin.access");
  if (of != nullptr && of->identity.access) {
    const auto& listed = of->identity.access->principals;
    const Fact caller = Text(slot::CallerId);
    const Fact groups = Texts(slot::CallerGroups);
    const auto is_listed = [&](const Thing& thing) {
      return std::find(listed.begin(), listed.end(), thing.text) != listed.end();
    };
    Truth named = false;
    if (!listed.empty()) {
      named =
          Some({caller ? Truth(is_listed(*caller)) : Truth(),
                groups ? Truth(std::any_of(groups->items.begin(), groups->items.end(), is_listed))
                       : Truth()});
    }
    if (named == Truth(true)) {
      granted = true;
      answer_.allows.insert(of->name + ".identity.access");
    }
    unknown = unknown || !named;
  }
  if (!granted) DenyByDefault("builtin.access", unknown);
}

NaiveAnswer NaiveDecision::Run() {
  const Action action = r_.action();
  Checks();
  std::optional<std::size_t> index;
  if (action == Action::Create) {
    SelectClass();
    unknown_denies_ = class_ != nullptr;
  } else if (const Fact name = Text(slot::SandboxClass)) {
    for (const model::Class& of : m_.classes) {
      if (of.name == name->text) class_ = &of;
    }
    if (class_ == nullptr && action != Action::Observe) DenySurely("class.gone");
    if (class_ == nullptr && action == Action::Observe) Access(nullptr);
  } else {
    DenyUnsurely("class.gone");
  }
  if (class_ != nullptr) {
    index = static_cast<std::size_t>(class_ - m_.classes.data());
    answer_.class_name = class_->name;
    switch (action) {
      case Action::Create:
        Create(*class_);
        break;
      case Action::Exec:
        Exec(*class_);
        break;
      case Action::Egress:
        Egress(*class_);
        break;
      case Action::Export:
        Export(*class_);
        break;
      case Action::Observe:
        break;
      case Action::Resume:
        Resume(*class_);
        break;
      case Action::Extend:
        Extend(*class_);
        break;
      case Action::Expose:
      case Action::Snapshot:
      case Action::Import:
        DenySurely(model::DefaultIdOf(class_->name, action));
        break;
    }
    if (action != Action::Create && action != Action::Observe) Time(*class_);
    if (action != Action::Create && action != Action::Egress) Access(class_);
    Rules(index);
  }
  Rules(std::nullopt);
  answer_.allow = answer_.denials.empty();
  answer_.undecided = !answer_.allow && !sure_;
  if (answer_.allow && action == Action::Create) answer_.allows.insert(class_->name);
  return answer_;
}

NaiveAnswer DecideNaively(const model::PolicyModel& model, const Request& request) {
  return NaiveDecision(model, request).Run();
}

}  // namespace curfew::properties
