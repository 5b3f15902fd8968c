#include "tests/properties/naive_evaluator.h"

#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "tests/properties/naive_decision.h"

#include <algorithm>
#include <cstring>
#include <optional>

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

bool Meets(const values::TextGlob& glob, std::string_view text) {
  return values::MatchesTextGlob(glob.text, text);
}
bool Meets(const values::HostPattern& pattern, std::string_view host) {
  return values::MatchesHost(pattern.reach, pattern.name, host);
}
bool Meets(const values::PathGlob& glob, std::string_view path) {
  return values::MatchesPathGlob(glob.text, path);
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
    std::vector<Truth> parts = {named};
    for (const model::Class* link : Links(of)) parts.push_back(Holds(link->when));
    const Truth truth = All(parts);
    if (truth != Truth(false)) left.emplace_back(&of, truth);
  }
  // Who surely is one puts aside what it narrows.
  const auto candidates = left;
  for (const auto& [of, truth] : candidates) {
    if (truth != Truth(true)) continue;
    std::erase_if(left, [&, narrow = of](const auto& entry) {
      const auto links = Links(*narrow);
      return entry.first != narrow &&
             std::find(links.begin(), links.end(), entry.first) != links.end();
    });
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

// Of the class and what holds for it, or of the whole set.
void NaiveDecision::Rules(const model::Class* of) {
  const auto is_about_it = [&](const model::Rule& rule) {
    if (rule.of_class.has_value() != (of != nullptr)) return false;
    if (!rule.actions.test(static_cast<std::size_t>(r_.action()))) return false;
    if (of == nullptr) return true;
    const auto links = Links(*of);
    return std::find(links.begin(), links.end(), &At(m_, *rule.of_class)) != links.end();
  };
  for (const model::Rule& rule : m_.rules) {
    if (is_about_it(rule)) Deny(rule.id, Holds(rule.condition));
  }
  for (const model::Rule& rule : m_.trials) {
    if (is_about_it(rule)) OnTrial(rule.id, rule.trial, Holds(rule.condition));
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

// Of what is written the smallest maximum and the smallest default; `silent` where nothing is.
void NaiveDecision::Bound(const model::Class& of, const std::string& path, Slot which,
                          module::Bound silent,
                          const std::vector<std::optional<model::Bound>>& written) {
  std::string id = of.name + "." + path;
  std::optional<std::int64_t> most;
  std::optional<std::int64_t> standard;
  for (const auto& bound : written) {
    if (!bound) continue;
    if (!most || bound->value.most < *most) {
      most = bound->value.most;
      id = bound->id;
    }
    if (bound->value.standard) {
      standard = standard ? std::min(*standard, *bound->value.standard) : bound->value.standard;
    }
  }
  if (!most) {
    most = silent.most;
    standard = silent.standard;
  }
  if (standard) standard = std::min(*standard, *most);
  if (!standard) Deny(id, Not(Present(which)));
  if (standard && Present(which) == Truth(false)) r_.SetInteger(which, *standard);
  Deny(id, All({Present(which), NumberIs(which, [&](Wide n) { return n > *most; })}));
}

void NaiveDecision::Create(const model::Class& of) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  const auto links = Links(of);
  // Silence is `kvm`, and one `kvm` is enough.
  std::string says_kvm;
  bool says_any = false;
  for (const model::Class* link : links) {
    if (link->image.isolation == module::Isolation::Kvm) says_kvm = link->name;
    if (link->image.isolation == module::Isolation::Any) says_any = true;
  }
  const bool kvm_only = !says_kvm.empty() || !says_any;
  if (says_kvm.empty()) says_kvm = of.name;
  // Every default first: rules read them.
  if (Present(slot::CreateIsolation) == Truth(false)) {
    r_.SetInteger(slot::CreateIsolation, kvm_only ? 0 : 1);
  }
  for (const Slot which : {slot::CreatePersist, slot::CreateSecrets, slot::CreateEnv}) {
    if (Present(which) == Truth(false)) r_.Set(which, module::Value::OfItems({}));
  }
  if (Present(slot::CreateImageRef) == Truth(false)) r_.SetText(slot::CreateImageRef, "");
  const auto bound = [&](const char* path, Slot which, module::Bound silent, auto read) {
    std::vector<std::optional<model::Bound>> written;
    for (const model::Class* link : links) written.push_back(read(*link));
    Bound(of, path, which, silent, written);
  };
  bound("image.size.cpu", slot::CreateCpu, {1, 1}, [](const auto& c) { return c.image.cpu; });
  bound("image.size.memory", slot::CreateMemory, {512 * kMiB, 512 * kMiB},
        [](const auto& c) { return c.image.memory; });
  bound("image.size.disk", slot::CreateDisk, {0, 0}, [](const auto& c) { return c.image.disk; });
  bound("lifetime.ttl", slot::CreateTtl, {std::nullopt, 0},
        [](const auto& c) { return c.lifetime.ttl; });
  Persist(of);
  IdentityWishes(of);

  const auto wants_kvm = NumberIs(slot::CreateIsolation, [](Wide n) { return n == 0; });
  if (kvm_only) Deny(says_kvm + ".image.isolation", Not(wants_kvm));
  const auto cannot = [&](const char* word) { return HostCannot(word); };
  Deny("builtin.unsupported", All({wants_kvm, cannot("kvm")}));
  Deny("builtin.unsupported", All({cannot("kvm"), cannot("emulation")}));
  bool network = false;
  bool no_network = false;
  for (const model::Class* link : links) {
    no_network = no_network || link->network.allow_none;
    for (const model::EgressRule& rule : link->network.rules) {
      network = network || rule.effect == model::EgressRule::Effect::Allow;
    }
  }
  if (network && !no_network) Deny("builtin.unsupported", cannot("egress"));
  if (network && !no_network) NetworkNeeds(of);
  // Off the record stays what everyone who speaks of it leaves off.
  bool omits = false;
  std::optional<model::ActionSet> unrecorded;
  for (const model::Class* link : links) {
    if (!link->evidence.record) continue;
    const auto& except = link->evidence.record->except_allows_of;
    unrecorded = unrecorded ? *unrecorded & except : except;
    omits = unrecorded->any();
  }
  if (omits) Deny("builtin.unsupported", cannot("omit"));
  if (FreezesWhenIdle(of)) Deny("builtin.unsupported", cannot("freeze"));
  for (const model::Class* link : links) {
    if (link->image.allow_none || !link->image.allow.empty()) Image(*link);
  }
}

void NaiveDecision::Image(const model::Class& link) {
  const Fact image = Text(slot::CreateImage);
  bool granted = false;
  for (const model::ImageGrant& grant : link.image.allow) {
    const Digest& digest = At(m_, grant.image).digest;
    if (!image || image->text != AsText(digest.bytes)) continue;
    granted = true;
    answer_.allows.insert(grant.id);
  }
  if (!granted) {
    DenyByDefault(class_->name + ".image.allow", !image && !link.image.allow.empty());
  }
}

void NaiveDecision::Exec(const model::Class& of) {
  using Reach = model::ExecGrant::Reach;
  const std::string id = of.name + ".image.exec";
  const Fact program = Text(slot::ExecProgram);
  bool written = false;
  for (const model::Class* link : Links(of)) {
    if (!link->image.exec) continue;
    written = true;
    const auto& exec = *link->image.exec;
    bool granted = exec.reach == Reach::Any;
    if (exec.reach == Reach::Patterns && program) {
      for (const auto& glob : exec.patterns) granted = granted || Meets(glob, program->text);
    }
    if (granted) {
      answer_.allows.insert(link->name + ".image.exec");
    } else {
      DenyByDefault(id, exec.reach == Reach::Patterns && !program);
    }
  }
  if (!written) DenySurely(id);
}

Truth NaiveDecision::IsGranted(const model::AccessGrant& access) const {
  return access.any ? Truth(true) : IsNamed(access.principals);
}

// Who may ask: as creator, owner, operator, or named by each `access` that holds for the class.
void NaiveDecision::Access(const model::Class* of) {
  std::vector<const model::Class*> writers;
  if (of != nullptr) writers = Links(*of);
  std::erase_if(writers, [](const model::Class* link) { return !link->identity.access; });
  if (writers.empty()) writers.push_back(nullptr);
  for (const model::Class* link : writers) {
    const Truth own = OwnAccess();
    bool granted = own == Truth(true);
    bool unknown = !own;
    if (granted) answer_.allows.insert("builtin.access");
    if (link != nullptr) {
      const model::AccessGrant& access = *link->identity.access;
      const Truth named = IsGranted(access);
      if (named == Truth(true)) {
        granted = true;
        answer_.allows.insert(link->name + ".identity.access");
      }
      unknown = unknown || !named;
    }
    if (!granted) DenyByDefault("builtin.access", unknown);
  }
}

Truth NaiveDecision::IsNamed(const std::vector<std::string>& listed) const {
  const Fact caller = Text(slot::CallerId);
  const Fact groups = Texts(slot::CallerGroups);
  const auto is_listed = [&](const Thing& thing) {
    return std::find(listed.begin(), listed.end(), thing.text) != listed.end();
  };
  if (listed.empty()) return false;
  return Some({caller ? Truth(is_listed(*caller)) : Truth(),
               groups ? Truth(std::any_of(groups->items.begin(), groups->items.end(), is_listed))
                      : Truth()});
}

NaiveAnswer NaiveDecision::Run() {
  const Action action = r_.action();
  Checks();
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
      case Action::Import:
      case Action::Export:
        Transfer(*class_);
        break;
      case Action::Snapshot:
        Snapshot(*class_);
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
        Expose(*class_);
        break;
    }
    if (action != Action::Create && action != Action::Observe) Time(*class_);
    if (action == Action::Resume) {
      ResumeAccess(*class_);
    } else if (action != Action::Create && action != Action::Egress) {
      Access(class_);
    }
    Rules(class_);
  }
  Rules(nullptr);
  answer_.allow = answer_.denials.empty();
  answer_.undecided = !answer_.allow && !sure_;
  answer_.only_nevers = sure_ && last_ && std::ranges::all_of(answer_.denials, [&](const auto& id) {
                          const auto rule = std::ranges::find(m_.rules, id, &model::Rule::id);
                          return rule != m_.rules.end() && rule->never;
                        });
  if (answer_.allow && action == Action::Create) answer_.allows.insert(class_->name);
  return answer_;
}

NaiveAnswer DecideNaively(const model::PolicyModel& model, const Request& request) {
  return NaiveDecision(model, request).Run();
}

}  // namespace curfew::properties
