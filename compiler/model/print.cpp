#include "compiler/model/print.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/values/quantity.h"

#include <fmt/format.h>

namespace curfew::model {
namespace {

// Injective, unlike Printable: ids and digests are made of it.
std::string Quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{{{:x}}}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

template <typename Items, typename Show>
std::string Joined(const Items& items, Show&& show, std::string_view between = ", ") {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += between;
    text += show(item);
  }
  return text;
}

std::string ScalarText(const PolicyModel& model, const Type& type, const Scalar& scalar) {
  if (const auto* text = std::get_if<std::string>(&scalar)) return Quote(*text);
  if (const auto* digest = std::get_if<Digest>(&scalar)) return ToString(*digest);
  if (const auto* address = std::get_if<values::Address>(&scalar)) {
    return Quote(values::ToString(*address));
  }
  if (const auto* block = std::get_if<values::Cidr>(&scalar))
    return Quote(values::ToString(*block));
  const std::int64_t integer = std::get<std::int64_t>(scalar);
  switch (type.kind) {
    case schema::TypeKind::Bool:
      return integer != 0 ? "true" : "false";
    case schema::TypeKind::Duration:
      return values::DurationText(integer);
    case schema::TypeKind::Size:
      return values::SizeText(integer);
    case schema::TypeKind::Time:
      return values::TimeText(integer);
    case schema::TypeKind::Enum:
      return model.enums[static_cast<std::size_t>(type.enumeration)]
          .values[static_cast<std::size_t>(integer)];
    case schema::TypeKind::Int:
    case schema::TypeKind::Text:
    case schema::TypeKind::Principal:
    case schema::TypeKind::Ip:
    case schema::TypeKind::Cidr:
    case schema::TypeKind::Host:
    case schema::TypeKind::UrlPath:
    case schema::TypeKind::FilePath:
    case schema::TypeKind::Digest:
      return fmt::format("{}", integer);
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string PatternText(const Pattern& pattern) {
  if (const auto* host = std::get_if<values::HostPattern>(&pattern)) {
    return Quote(values::ToString(*host));
  }
  if (const auto* path = std::get_if<values::PathGlob>(&pattern)) return Quote(path->text);
  return Quote(std::get<values::TextGlob>(pattern).text);
}

// An operand: in parentheses unless it is a leaf.
std::string OperandText(const PolicyModel& model, ExprId id) {
  const ExprKind kind = model.expressions.at(id).kind;
  const bool leaf = kind == ExprKind::Constant || kind == ExprKind::Attribute ||
                    kind == ExprKind::Variable || kind == ExprKind::Count;
  return leaf ? Print(model, id) : "(" + Print(model, id) + ")";
}

// The lines of one declaration, each with its indentation.
class Lines {
 public:
  template <typename... Args>
  void Add(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string TrialText(const std::optional<Trial>& trial) {
  if (!trial) return {};
  return trial->until_ms ? fmt::format("trial until {} ", values::TimeText(*trial->until_ms))
                         : "trial ";
}

std::string TailText(const PolicyModel& model, ExprId condition, const std::string& message) {
  std::string text;
  if (condition != NoExpr) text += " when " + Print(model, condition);
  if (!message.empty()) text += " because " + Quote(message);
  return text;
}

template <typename Show>
std::string BoundText(const Bound& bound, Show&& show) {
  const std::string most = "at most " + show(bound.value.most);
  return bound.value.standard ? show(*bound.value.standard) + " " + most : most;
}

std::string IntegerText(std::int64_t integer) { return fmt::format("{}", integer); }

std::string PlaceText(const values::Place& place) {
  if (const auto* host = std::get_if<values::HostPattern>(&place)) return values::ToString(*host);
  return values::ToString(std::get<values::Cidr>(place));
}

std::string PortsText(const PortRange& range) {
  return range.first == range.last ? fmt::format("{}", range.first)
                                   : fmt::format("{}..{}", range.first, range.last);
}

std::string TargetText(const EgressTarget& target) {
  std::string text;
  if (target.http) text += "http ";
  if (target.https) text += "https ";
  if (target.tcp) text += "tcp ";
  text += target.place ? Quote(PlaceText(*target.place)) : target.internet ? "internet" : "any";
  if (!target.ports.empty()) {
    text += " port " + Joined(target.ports, PortsText);
  }
  if (target.path) text += " path " + Quote(target.path->text);
  return text;
}

std::string GlobsText(const std::vector<values::PathGlob>& globs) {
  return Joined(globs, [](const values::PathGlob& glob) { return Quote(glob.text); });
}

void PrintImagePlane(const PolicyModel& model, const ImagePlane& plane, Lines& lines) {
  for (const ImageGrant& grant : plane.allow) {
    lines.Add(1, "{}: allow {}", grant.id, At(model, grant.image).name);
  }
  if (plane.allow_none) lines.Add(1, "image allow none");
  if (plane.exec) {
    switch (plane.exec->reach) {
      case ExecGrant::Reach::None:
        lines.Add(1, "{}: exec none", plane.exec->id);
        break;
      case ExecGrant::Reach::Any:
        lines.Add(1, "{}: exec any", plane.exec->id);
        break;
      case ExecGrant::Reach::Patterns:
        lines.Add(1, "{}: exec {}", plane.exec->id, GlobsText(plane.exec->patterns));
        break;
    }
  }
  if (plane.cpu) lines.Add(1, "{}: cpu {}", plane.cpu->id, BoundText(*plane.cpu, IntegerText));
  if (plane.memory) {
    lines.Add(1, "{}: memory {}", plane.memory->id, BoundText(*plane.memory, values::SizeText));
  }
  if (plane.disk) {
    lines.Add(1, "{}: disk {}", plane.disk->id, BoundText(*plane.disk, values::SizeText));
  }
  if (plane.isolation) {
    lines.Add(1, "isolation {}", *plane.isolation == module::Isolation::Kvm ? "kvm" : "any");
  }
}

std::string ActionsText(const ActionSet& actions) {
  std::string text;
  for (const schema::ActionInfo& info : schema::Actions()) {
    if (!actions[static_cast<std::size_t>(info.action)]) continue;
    if (!text.empty()) text += ", ";
    text += info.word;
  }
  return text;
}

void PrintEvidence(const EvidencePlane& plane, Lines& lines) {
  if (plane.record && plane.record->except_allows_of.any()) {
    lines.Add(1, "record all except allows of {}", ActionsText(plane.record->except_allows_of));
  } else if (plane.record) {
    lines.Add(1, "record all");
  }
  if (!plane.redacted_headers.empty()) {
    lines.Add(1, "redact header {}", Joined(plane.redacted_headers, Quote));
  }
  if (plane.retain_ms) lines.Add(1, "retain {}", values::DurationText(*plane.retain_ms));
}

// What outlives a sandbox.
void PrintKept(const PolicyModel& model, const FilesystemPlane& plane, Lines& lines) {
  for (const Persist& persist : plane.persists) {
    const module::Volume& volume = persist.volume;
    lines.Add(1, "{}: persist {} {} reason {} owner {} expires {}{}", persist.id,
              Quote(volume.path), values::SizeText(volume.bytes), Quote(volume.reason),
              Quote(volume.owner), values::DurationText(volume.expires_ms),
              volume.shared_by_class ? " shared by class" : "");
  }
  if (plane.persist_none) lines.Add(1, "persist none");
  for (const SnapshotRule& rule : plane.snapshots) {
    std::string text = fmt::format("expires {}", BoundText(rule.expires, values::DurationText));
    if (rule.size) text += " size " + BoundText(*rule.size, values::SizeText);
    if (rule.keep) text += fmt::format(" keep {}", rule.keep->value.most);
    if (rule.branches) text += fmt::format(" branches {}", rule.branches->value.most);
    if (rule.renews) text += " renews";
    if (!rule.from.empty()) {
      text += " from " + Joined(rule.from, [&](ClassId id) { return At(model, id).name; });
    }
    lines.Add(1, "{}: {}", rule.id, text);
  }
  if (plane.snapshot_none) lines.Add(1, "snapshot none");
}

std::string_view WordOf(module::SecretForm form) {
  switch (form) {
    case module::SecretForm::Bearer:
      return "bearer";
    case module::SecretForm::Basic:
      return "basic";
    case module::SecretForm::Header:
      return "header";
  }
  CURFEW_UNREACHABLE("the switch names every form");
}

std::string SecretText(const Secret& secret) {
  return fmt::format("secret {} from {} {} send {} {} to {}", secret.name,
                     secret.from == Secret::From::Env ? "env" : "file", Quote(secret.source),
                     WordOf(secret.form), Quote(secret.header),
                     Joined(secret.hosts, [](const SecretHost& host) {
                       return Quote(fmt::format("{}:{}", host.name, host.port));
                     }));
}

// What is no `allow` and no `deny`.
void PrintNetworkRest(const PolicyModel& model, const NetworkPlane& plane, Lines& lines) {
  if (plane.allow_none) lines.Add(1, "network allow none");
  if (plane.tls) lines.Add(1, "tls {}", *plane.tls == Tls::Inspect ? "inspect" : "names");
  if (const auto& rate = plane.request_rate) {
    lines.Add(1, "{}: limit {} requests per {}", rate->id, rate->most,
              values::DurationText(rate->per_ms));
  }
  if (const auto& bound = plane.request_bytes) {
    lines.Add(1, "{}: limit {} per request", bound->id, values::SizeText(bound->value.most));
  }
  if (const auto& bound = plane.total_bytes) {
    lines.Add(1, "{}: limit {} in all", bound->id, values::SizeText(bound->value.most));
  }
  for (const ExposeRule& rule : plane.exposes) {
    lines.Add(1, "{}: {}", rule.id, RuleText(model, rule));
  }
  if (plane.expose_none) lines.Add(1, "expose none");
}

void PrintClass(const PolicyModel& model, const Class& of, Lines& lines) {
  if (model.floor && &of == &*model.floor) {
    lines.Add(0, "every sandbox");
  } else {
    const bool narrows = of.chain.size() > 1;
    lines.Add(0, "class {}{}{}{}{}", of.name, narrows ? " narrows " : "",
              narrows ? At(model, of.chain[of.chain.size() - 2]).name : "",
              of.by_name ? " by name" : "", TailText(model, of.when, ""));
  }
  PrintImagePlane(model, of.image, lines);
  if (const auto& grant = of.identity.token) {
    lines.Add(1, "{}: token audience {} lives {}", grant->id, Quote(grant->token.audience),
              values::DurationText(grant->token.lives_ms));
  }
  if (const auto& grant = of.identity.secrets) {
    if (grant->secrets.empty()) lines.Add(1, "secrets none");
    for (const SecretGrant& secret : grant->secrets) {
      lines.Add(1, "{}: secrets {}", secret.id, At(model, secret.secret).name);
    }
  }
  if (const auto& env = of.identity.env) {
    lines.Add(1, "{}: env {}", env->id, env->names.empty() ? "none" : Joined(env->names, Quote));
  }
  if (const auto& access = of.identity.access) {
    const std::string listed = Joined(access->principals, Quote);
    lines.Add(1, "{}: access {}{}", access->id, access->any ? "any" : "",
              access->any      ? (listed.empty() ? "" : ", " + listed)
              : listed.empty() ? "none"
                               : listed);
  }
  for (const Scratch& scratch : of.filesystem.scratch) {
    lines.Add(1, "scratch {} {}", Quote(scratch.path), values::SizeText(scratch.bytes));
  }
  PrintKept(model, of.filesystem, lines);
  for (const auto* rules : {&of.filesystem.imports, &of.filesystem.exports}) {
    for (const TransferRule& rule : *rules) {
      lines.Add(1, "{}: {}", rule.id, RuleText(model, rule));
    }
  }
  if (of.filesystem.imports_none) lines.Add(1, "import none");
  if (of.filesystem.exports_none) lines.Add(1, "export none");
  for (const EgressRule& rule : of.network.rules) {
    lines.Add(1, "{}: {}", rule.id, RuleText(model, rule));
  }
  for (const EgressRule& rule : of.network.trials) {
    lines.Add(1, "{}: {}", rule.id, RuleText(model, rule));
  }
  PrintNetworkRest(model, of.network, lines);
  if (const auto& ttl = of.lifetime.ttl) {
    lines.Add(1, "{}: ttl {}", ttl->id, BoundText(*ttl, values::DurationText));
  }
  if (const auto& idle = of.lifetime.idle) {
    lines.Add(1, "{}: idle {} then {}", idle->id, values::DurationText(idle->after_ms),
              idle->then == module::IdleEnd::Close ? "close" : "freeze");
  }
  if (const auto& frozen = of.lifetime.frozen) {
    lines.Add(1, "{}: frozen at most {}", frozen->id, values::DurationText(frozen->most_ms));
  }
  if (const auto& renewal = of.lifetime.renewal) {
    lines.Add(1, "{}: renew at most {} times by {}", renewal->id, renewal->renewal.times,
              values::DurationText(renewal->renewal.by_ms));
  }
  if (of.lifetime.renew_none) lines.Add(1, "renew none");
  if (of.lifetime.grace_ms) {
    lines.Add(1, "grace {}", values::DurationText(*of.lifetime.grace_ms));
  }
  PrintEvidence(of.evidence, lines);
}

std::string FactText(const PolicyModel& model, const Fact& fact) {
  return fact.path + ": " + (fact.value ? Print(model, *fact.value) : "absent");
}

std::string FactsText(const PolicyModel& model, const std::vector<Fact>& facts) {
  return Joined(facts, [&](const Fact& fact) { return FactText(model, fact); });
}

void PrintStep(const PolicyModel& model, const TestStep& step, Lines& lines) {
  if (const auto* given = std::get_if<GivenStep>(&step.what)) {
    lines.Add(1, "given {}", FactsText(model, given->facts));
  } else if (const auto* after = std::get_if<AfterStep>(&step.what)) {
    lines.Add(1, "after {}", values::DurationText(after->duration_ms));
  } else if (const auto* at = std::get_if<AtStep>(&step.what)) {
    lines.Add(1, "at {}", values::TimeText(at->time_ms));
  } else if (std::holds_alternative<CloseStep>(step.what)) {
    lines.Add(1, "close");
  } else if (std::holds_alternative<FreezeStep>(step.what)) {
    lines.Add(1, "freeze");
  } else if (const auto* reload = std::get_if<ReloadStep>(&step.what)) {
    lines.Add(1, "reload {}", Quote(reload->file));
  } else {
    const AskStep& ask = std::get<AskStep>(step.what);
    const auto id_of = [](const ExpectedId& expected) { return expected.id; };
    std::string trial;
    if (!ask.trial_ids.empty()) {
      trial = fmt::format(", trial {} {}", ask.trial_allow ? "allow" : "deny",
                          Joined(ask.trial_ids, id_of));
    }
    lines.Add(1, "{} {{ {} }} -> {}{} {}{}{}", schema::WordOf(ask.action),
              FactsText(model, ask.facts), ask.allow ? "allow" : "deny", ask.only ? " only" : "",
              Joined(ask.ids, id_of),
              ask.plan.empty() ? "" : " with { " + FactsText(model, ask.plan) + " }", trial);
  }
}

}  // namespace

std::string Print(const PolicyModel& model, const Type& type) {
  std::string text;
  if (type.collection == schema::Collection::Set) text = "set of ";
  if (type.collection == schema::Collection::List) text = "list of ";
  if (type.kind == schema::TypeKind::Enum) {
    const EnumType& of = model.enums[static_cast<std::size_t>(type.enumeration)];
    text += Joined(
        of.values, [](const std::string& value) { return value; }, of.ordered ? " < " : " | ");
  } else {
    text += schema::WordOf(type.kind);
  }
  if (type.optional) text += "?";
  if (type.collection != schema::Collection::One &&
      type.elements_max != limits::SetElementsDefault) {
    text += fmt::format(" at most {}", type.elements_max);
  }
  return text;
}

std::string Print(const PolicyModel& model, const Constant& constant) {
  if (const auto* scalar = std::get_if<Scalar>(&constant.value)) {
    return ScalarText(model, constant.type, *scalar);
  }
  return "[" +
         Joined(std::get<std::vector<Scalar>>(constant.value),
                [&](const Scalar& scalar) { return ScalarText(model, constant.type, scalar); }) +
         "]";
}

std::string Print(const PolicyModel& model, ExprId expression) {
  const Expressions& all = model.expressions;
  const Expr& expr = all.at(expression);
  const auto operands = all.OperandsOf(expression);
  switch (expr.kind) {
    case ExprKind::Constant:
      return Print(model, all.ConstantOf(expression));
    case ExprKind::Attribute:
      return all.AttributeOf(expression).path;
    case ExprKind::Variable:
      return "it";
    case ExprKind::Has:
      return "has " + all.AttributeOf(expression).path;
    case ExprKind::Not:
      return "not " + OperandText(model, operands[0]);
    case ExprKind::Matches:
      return OperandText(model, operands[0]) + " matches " + PatternText(all.PatternOf(expression));
    case ExprKind::Count:
      return "count(" + Print(model, operands[0]) + ")";
    case ExprKind::AnyOf:
    case ExprKind::AllOf:
    case ExprKind::NoneOf:
      return fmt::format("{} it in {} where ({})", NameOf(expr.kind),
                         OperandText(model, operands[0]), Print(model, operands[1]));
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Equal:
    case ExprKind::NotEqual:
    case ExprKind::Less:
    case ExprKind::LessEqual:
    case ExprKind::Greater:
    case ExprKind::GreaterEqual:
    case ExprKind::In:
    case ExprKind::Starts:
    case ExprKind::SubsetOf:
    case ExprKind::Intersects:
    case ExprKind::Plus:
    case ExprKind::Minus:
      return Joined(
          operands, [&](ExprId operand) { return OperandText(model, operand); },
          fmt::format(" {} ", NameOf(expr.kind)));
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string RuleText(const PolicyModel& model, const Rule& rule) {
  return TrialText(rule.trial) + (rule.never ? "never " : "deny ") + ActionsText(rule.actions) +
         TailText(model, rule.condition, rule.message);
}

std::string RuleText(const PolicyModel& model, const TransferRule& rule) {
  const bool is_import = rule.direction == TransferRule::Direction::Import;
  return fmt::format("{} {}{} {}{}", is_import ? "import" : "export", GlobsText(rule.patterns),
                     rule.each ? " each" : "", BoundText(rule.size, values::SizeText),
                     TailText(model, rule.condition, rule.message));
}

std::string RuleText(const PolicyModel& model, const EgressRule& rule) {
  std::string text = TrialText(rule.trial);
  text += rule.effect == EgressRule::Effect::Allow ? "allow " : "deny ";
  text += rule.websocket ? "websocket"
          : rule.methods.empty()
              ? "any"
              : Joined(rule.methods, [](const std::string& name) { return name; });
  text += " to " + Joined(rule.targets, TargetText, "; ");
  if (!rule.pins.empty()) {
    text += " at " + Joined(rule.pins, [](const values::Cidr& block) {
              return Quote(values::ToString(block));
            });
  }
  if (!rule.query.empty()) {
    text += " query " + Joined(rule.query, [](const QueryTerm& term) {
              return term.key + " == " + Quote(term.value);
            });
  }
  if (rule.encoded_slash) text += " with encoded slash";
  if (rule.secret) text += " using " + At(model, *rule.secret).name;
  return text + TailText(model, rule.condition, rule.message);
}

std::string Print(const Audience& audience) {
  switch (audience.kind) {
    case Audience::Kind::Any:
      return "any";
    case Audience::Kind::TaskOwner:
      return "task.owner";
    case Audience::Kind::Principal:
      return Quote(audience.principal);
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string RuleText(const PolicyModel& model, const ExposeRule& rule) {
  return fmt::format("expose {} to {} for {}{}", PortsText(rule.ports), Print(rule.to),
                     BoundText(rule.lasts, values::DurationText),
                     TailText(model, rule.condition, rule.message));
}

std::string PrintDeclarations(const PolicyModel& model) {
  Lines lines;
  for (const DeclaredAttribute& attribute : model.declared) {
    lines.Add(0, "attribute {}: {}{}", attribute.path, Print(model, attribute.type),
              attribute.restated ? " restated" : "");
  }
  for (const Image& image : model.images) {
    lines.Add(0, "image {} ref {} digest {}", image.name, Quote(image.ref), ToString(image.digest));
  }
  for (const Secret& secret : model.secrets) lines.Add(0, "{}", SecretText(secret));
  for (const List& list : model.lists) {
    lines.Add(0, "{} {} [{}]", list.kind, list.name, Joined(list.elements, Quote));
  }
  for (const Class& of : model.classes) PrintClass(model, of, lines);
  if (model.floor) PrintClass(model, *model.floor, lines);
  for (const Rule& rule : model.rules) lines.Add(0, "{}: {}", rule.id, RuleText(model, rule));
  for (const Rule& rule : model.trials) lines.Add(0, "{}: {}", rule.id, RuleText(model, rule));
  return std::move(lines).Take();
}

std::string Print(const PolicyModel& model) {
  Lines lines;
  lines.Add(0, "policy {}", ToString(model.digest));
  lines.Add(0, "language {}", model.language);
  for (const std::string& name : model.packages) lines.Add(0, "package {}", name);
  std::string text = std::move(lines).Take() + PrintDeclarations(model);
  Lines tests;
  for (const Test& test : model.tests) {
    tests.Add(0, "test {}", Quote(test.name));
    for (const TestStep& step : test.steps) PrintStep(model, step, tests);
  }
  return text + std::move(tests).Take();
}

}  // namespace curfew::model
