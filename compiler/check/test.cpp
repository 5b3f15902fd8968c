#include "compiler/check/test.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"
#include "compiler/check/attributes.h"
#include "compiler/check/literal.h"
#include "compiler/check/rule.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using schema::Action;
using schema::TypeKind;

// A search for the nearest of more ids than this would take longer than reading them.
constexpr std::size_t kNearestIdsMax = 20'000;

constexpr std::string_view kWebsocket = "websocket";

// What a plan can be asked for, and the type of each.
struct PlanField {
  std::string_view name;
  model::Type type;
};
std::vector<PlanField> PlanFields() {
  const model::Type isolation{
      TypeKind::Enum, schema::Collection::One, false,
      model::EnumId{static_cast<std::uint32_t>(schema::Enum::WishedIsolation)}};
  return {{"ttl", {TypeKind::Duration}},    {"idle", {TypeKind::Duration}},
          {"grace", {TypeKind::Duration}},  {"cpu", {TypeKind::Int}},
          {"memory", {TypeKind::Size}},     {"disk", {TypeKind::Size}},
          {"image", {TypeKind::Digest}},    {"isolation", isolation},
          {"frozen", {TypeKind::Duration}}, {"renewals", {TypeKind::Int}},
          {"retain", {TypeKind::Duration}}};
}

bool Says(const std::optional<syntax::Object>& object, std::string_view name) {
  return object && std::any_of(object->fields.begin(), object->fields.end(),
                               [&](const syntax::Field& field) { return field.name.text == name; });
}

class TestChecker {
 public:
  TestChecker(Context& context, std::span<const std::string> known_ids)
      : context_(context), known_ids_(known_ids) {}

  void operator()(const syntax::Given& given) {
    model::GivenStep step;
    for (const syntax::Fixture& fixture : given.fixtures) ReadFixture(fixture, step.facts);
    Add(std::move(step), given.span);
  }
  void operator()(const syntax::AfterStep& after) {
    const auto duration = ReadDuration(context_, after.duration);
    if (duration) Add(model::AfterStep{*duration}, after.span);
  }
  void operator()(const syntax::AtStep& at) {
    const auto time = values::ParseTime(at.time.text);
    if (!time) return ReportWrong(context_, at.time.span, "a time", time.error());
    Add(model::AtStep{*time}, at.span);
  }
  void operator()(const syntax::EventStep& event) {
    switch (event.event) {
      case syntax::EventStep::Event::Freeze:
        return Add(model::FreezeStep{}, event.span);
      case syntax::EventStep::Event::Reload:
        if (event.file) Add(model::ReloadStep{event.file->text}, event.span);
        is_reloaded_ = true;  // the set that decides from here on has ids of its own
        return;
      case syntax::EventStep::Event::Close:
        return Add(model::CloseStep{}, event.span);
    }
  }
  void operator()(const syntax::Ask& ask);

  std::vector<model::TestStep> Take() && { return std::move(steps_); }

 private:
  template <typename Step>
  void Add(Step step, Span span) {
    steps_.push_back({std::move(step), span});
  }

  void ReadFixture(const syntax::Fixture& fixture, std::vector<model::Fact>& facts);
  void ReadFields(const std::vector<syntax::Field>& fields, std::string_view prefix, Action action,
                  bool own, std::vector<model::Fact>& facts);
  void ReadField(const syntax::Field& field, std::string_view path, Action action, bool own,
                 std::vector<model::Fact>& facts);

  [[nodiscard]] bool MayRestate(Action action, std::string_view path) const;

  // A fact that a short form states: `ttl 2h` behind `create`, the URL of `egress`.
  void State(std::vector<model::Fact>& facts, std::string path, TypeKind kind,
             std::optional<model::Scalar> value, Span span);
  void StateEnum(std::vector<model::Fact>& facts, std::string path, schema::Enum which,
                 std::string_view value, Span span);
  void AddFact(std::vector<model::Fact>& facts, model::Fact fact);

  void ReadWishes(const syntax::Ask& ask, std::vector<model::Fact>& facts);
  void ReadSubject(const syntax::Ask& ask, std::vector<model::Fact>& facts);
  void ReadUrl(const syntax::String& text, const std::optional<syntax::Name>& method,
               std::vector<model::Fact>& facts);
  void ReadStream(const syntax::String& text, std::vector<model::Fact>& facts);
  std::vector<model::ExpectedId> ReadIds(const std::vector<syntax::Name>& names);
  void ReadAnswer(const syntax::Answer& answer, model::AskStep& step);

  Context& context_;
  std::span<const std::string> known_ids_;
  std::vector<model::TestStep> steps_;
  bool is_reloaded_ = false;
};

void TestChecker::AddFact(std::vector<model::Fact>& facts, model::Fact fact) {
  const auto same = std::find_if(facts.begin(), facts.end(),
                                 [&](const model::Fact& other) { return other.path == fact.path; });
  if (same != facts.end()) {
    context_.sink.Report(fact.span, diag::StatedTwice, fact.path).Note(same->span, diag::FirstHere);
    return;
  }
  facts.push_back(std::move(fact));
}

void TestChecker::State(std::vector<model::Fact>& facts, std::string path, TypeKind kind,
                        std::optional<model::Scalar> value, Span span) {
  model::Fact fact{std::move(path), std::nullopt, span};
  if (value) fact.value = model::Constant{model::Type{kind}, *std::move(value)};
  AddFact(facts, std::move(fact));
}

void TestChecker::StateEnum(std::vector<model::Fact>& facts, std::string path, schema::Enum which,
                            std::string_view value, Span span) {
  const auto& values = schema::InfoOf(which).values;
  const auto found = std::find(values.begin(), values.end(), value);
  CURFEW_CHECK(found != values.end(), "callers name a value of the schema");
  model::Type type{TypeKind::Enum};
  type.enumeration = model::EnumId{static_cast<std::uint32_t>(which)};
  AddFact(facts,
          {std::move(path),
           model::Constant{type, model::Scalar(std::int64_t{found - values.begin()})}, span});
}

void TestChecker::ReadFixture(const syntax::Fixture& fixture, std::vector<model::Fact>& facts) {
  constexpr std::string_view kSubjects[] = {"task",    "caller", "snapshot",
                                            "sandbox", "token",  "host"};
  const std::string& subject = fixture.subject.text;
  if (std::find(std::begin(kSubjects), std::end(kSubjects), subject) == std::end(kSubjects)) {
    return ReportUnknown(context_, "subject", fixture.subject, kSubjects);
  }
  // A snapshot is given to be resumed; exec knows all the others.
  const Action knowing = subject == "snapshot" ? Action::Resume : Action::Exec;
  ReadFields(fixture.facts.fields, subject + ".", knowing, false, facts);
}

void TestChecker::ReadFields(const std::vector<syntax::Field>& fields, std::string_view prefix,
                             Action action, bool own, std::vector<model::Fact>& facts) {
  // Nesting is a dotted path; a stack of its own, in the order of the text.
  struct Place {
    const syntax::Field* field;
    std::string path;
  };
  std::vector<Place> rest;
  const auto push = [&](const std::vector<syntax::Field>& of, const std::string& path) {
    for (auto field = of.rbegin(); field != of.rend(); ++field) {
      rest.push_back({&*field, path + field->name.text});
    }
  };
  push(fields, std::string(prefix));
  while (!rest.empty()) {
    const Place place = std::move(rest.back());
    rest.pop_back();
    if (place.field->value) {
      ReadField(*place.field, place.path, action, own, facts);
    } else {
      push(place.field->fields, place.path + ".");
    }
  }
}

void TestChecker::ReadField(const syntax::Field& field, std::string_view path, Action action,
                            bool own, std::vector<model::Fact>& facts) {
  auto found = FindAttribute(context_.model, action, path);
  std::string full(path);
  // In an ask, what is not the action's own is a path from the top: `sandbox: { age: 1h }`.
  if (!found && own) {
    full = full.substr(full.find('.') + 1);
    found = FindAttribute(context_.model, action, full);
  }
  const bool host = path.starts_with("host.");
  if (!found || (found->origin == schema::Origin::Internal && !host)) {
    if (context_.partial || context_.names.unread_attributes.contains(path)) return;
    Guess guess = NearestPath(path, PathsOf(context_.model, action));
    auto draft =
        context_.sink.Report(field.name.span, diag::UnknownAttribute, path, DidYouMean(guess));
    // Where the rest of the path is right, the field's name is what is wrong.
    const std::string_view parent = path.substr(0, path.size() - field.name.text.size());
    if (!guess.name.starts_with(parent)) return;
    guess.name.remove_prefix(parent.size());
    OfferGuess(draft, field.name.span, guess);
    return;
  }
  if (found->origin == schema::Origin::Derived) {
    context_.sink.Report(field.name.span, diag::NeverStated, full);
    return;
  }
  if (own && action != Action::Create && full.starts_with("task.") && !MayRestate(action, full)) {
    context_.sink.Report(field.name.span, diag::SealedFact, full,
                         action == Action::Resume
                             ? "; `restated` in its declaration lets a resume state it again"
                             : "; say it by `given task` before the `create`");
    return;
  }
  auto value = ReadLiteral(context_, *field.value, found->type);
  if (value) AddFact(facts, {std::move(full), std::move(value), field.span});
}

bool TestChecker::MayRestate(Action action, std::string_view path) const {
  const auto& declared = context_.model.declared;
  return action == Action::Resume &&
         std::any_of(declared.begin(), declared.end(), [&](const model::DeclaredAttribute& one) {
           return one.path == path && one.restated;
         });
}

void TestChecker::ReadWishes(const syntax::Ask& ask, std::vector<model::Fact>& facts) {
  for (const syntax::Wish& wish : ask.wishes) {
    const std::string path = "create." + wish.name.text;
    if (wish.name.text == "class") {
      // A class is named as such, not as a string.
      if (wish.value.kind == syntax::ExprKind::Name &&
          !context_.names.classes.contains(wish.value.text)) {
        std::vector<std::string_view> classes;
        for (const auto& [name, id] : context_.names.classes) classes.push_back(name);
        if (!context_.partial) {
          ReportUnknown(context_, "class", {wish.value.text, wish.value.span}, classes);
        }
        continue;
      }
      if (wish.value.kind == syntax::ExprKind::Name) {
        State(facts, path, TypeKind::Text, model::Scalar(wish.value.text), wish.span);
        continue;
      }
    }
    const auto found = FindAttribute(context_.model, Action::Create, path);
    if (!found) {
      std::vector<std::string_view> wishes;
      for (const schema::Attribute& attribute : schema::AttributesOf(Action::Create)) {
        if (attribute.path.starts_with("create.")) wishes.push_back(attribute.path.substr(7));
      }
      ReportUnknown(context_, "wish", wish.name, wishes);
      continue;
    }
    auto value = ReadLiteral(context_, wish.value, found->type);
    if (value) AddFact(facts, {path, std::move(value), wish.span});
  }
}

void TestChecker::ReadUrl(const syntax::String& text, const std::optional<syntax::Name>& method,
                          std::vector<model::Fact>& facts) {
  auto url = values::ParseUrl(text.text);
  if (!url) return ReportWrong(context_, text.span, "a URL", url.error(), {});
  const bool https = url->scheme == values::UrlScheme::Https;
  StateEnum(facts, "egress.scheme", schema::Enum::Scheme, https ? "https" : "http", text.span);
  if (const auto* host = std::get_if<std::string>(&url->place)) {
    State(facts, "egress.host", TypeKind::Host, *host, text.span);
  } else {
    State(facts, "egress.host", TypeKind::Host, std::nullopt, text.span);
    State(facts, "egress.ip", TypeKind::Ip, std::get<values::Address>(url->place), text.span);
  }
  State(facts, "egress.port", TypeKind::Int, std::int64_t{url->port}, text.span);
  State(facts, "egress.path", TypeKind::UrlPath, url->path, text.span);
  std::optional<model::Scalar> query;
  if (url->query) query = *url->query;
  State(facts, "egress.query", TypeKind::Text, query, text.span);
  if (!method) return;
  if (method->text == kWebsocket) {
    // It begins as a GET (RFC 6455 section 4.1).
    State(facts, "egress.method", TypeKind::Text, std::string("GET"), method->span);
    return State(facts, "egress.upgrade", TypeKind::Text, std::string(kWebsocket), method->span);
  }
  auto name = values::ParseMethod(method->text);
  if (!name) return ReportWrong(context_, method->span, "a method", name.error());
  State(facts, "egress.method", TypeKind::Text, *name, method->span);
}

void TestChecker::ReadStream(const syntax::String& text, std::vector<model::Fact>& facts) {
  auto place = values::ParsePlacePattern(text.text);
  if (!place) return ReportWrong(context_, text.span, "`host:port`", place.error(), Quoted);
  const auto* host = std::get_if<values::HostPattern>(&place->place);
  const auto* block = std::get_if<values::Cidr>(&place->place);
  const bool one = host != nullptr ? host->reach == values::HostReach::Exact : block->prefix == 128;
  if (!one || !place->port) {
    context_.sink.Report(text.span, diag::WrongLiteral, "`host:port`",
                         "a stream goes to one host or address and one port");
    return;
  }
  StateEnum(facts, "egress.scheme", schema::Enum::Scheme, "tcp", text.span);
  if (host != nullptr) {
    State(facts, "egress.host", TypeKind::Host, host->name, text.span);
  } else {
    State(facts, "egress.host", TypeKind::Host, std::nullopt, text.span);
    State(facts, "egress.ip", TypeKind::Ip, block->base, text.span);
  }
  State(facts, "egress.port", TypeKind::Int, std::int64_t{*place->port}, text.span);
  for (const char* none : {"egress.method", "egress.path", "egress.query"}) {
    State(facts, none, TypeKind::Text, std::nullopt, text.span);
  }
}

// What stands between the action and its braces.
void TestChecker::ReadSubject(const syntax::Ask& ask, std::vector<model::Fact>& facts) {
  const Action action = ActionOf(ask.action.action);
  const std::string word(schema::WordOf(action));
  const auto literal = [&](const std::string& path, const syntax::Expr& expr) {
    const auto found = FindAttribute(context_.model, action, path);
    CURFEW_CHECK(found.has_value(), "short forms name attributes of the schema");
    auto value = ReadLiteral(context_, expr, found->type);
    if (value) AddFact(facts, {path, std::move(value), expr.span});
  };
  const auto leaf = [](syntax::ExprKind kind, const std::string& text, Span span) {
    syntax::Expr expr;
    expr.kind = kind;
    expr.text = text;
    expr.span = span;
    return expr;
  };
  switch (action) {
    case Action::Create:
      return ReadWishes(ask, facts);
    case Action::Exec:
      for (const syntax::String& program : ask.subjects) {
        literal("exec.program", leaf(syntax::ExprKind::String, program.text, program.span));
      }
      if (ask.args) return literal("exec.args", *ask.args);
      if (!Says(ask.facts, "args")) {
        AddFact(facts, {"exec.args",
                        model::Constant{{TypeKind::Text, schema::Collection::List},
                                        std::vector<model::Scalar>()},
                        ask.action.span});
      }
      return;
    case Action::Import:
    case Action::Export:
      for (const syntax::String& path : ask.subjects) {
        literal(word + ".path", leaf(syntax::ExprKind::String, path.text, path.span));
      }
      return;
    case Action::Expose:
      if (ask.port) {
        literal("expose.port", leaf(syntax::ExprKind::Quantity, ask.port->text, ask.port->span));
      }
      if (ask.to) literal("expose.to", leaf(syntax::ExprKind::String, ask.to->text, ask.to->span));
      if (ask.duration) {
        literal("expose.lasts",
                leaf(syntax::ExprKind::Quantity, ask.duration->text, ask.duration->span));
      }
      return;
    case Action::Extend:
      if (ask.duration) {
        literal("extend.by",
                leaf(syntax::ExprKind::Quantity, ask.duration->text, ask.duration->span));
      }
      return;
    case Action::Observe:
      if (ask.kind) {
        literal("observe.what", leaf(syntax::ExprKind::Name, ask.kind->text, ask.kind->span));
      }
      return;
    case Action::Resume:
    case Action::Snapshot:
      if (action == Action::Resume && !ask.snapshot) {
        return StateEnum(facts, "snapshot.kind", schema::Enum::ResumeKind, "frozen",
                         ask.action.span);
      }
      if (ask.kind) {
        literal("snapshot.kind", leaf(syntax::ExprKind::Name, ask.kind->text, ask.kind->span));
      }
      return;
    case Action::Egress:
      return;  // one ask for each URL: see the caller
  }
}

// Ids of the set.
std::vector<model::ExpectedId> TestChecker::ReadIds(const std::vector<syntax::Name>& names) {
  std::vector<model::ExpectedId> ids;
  for (const syntax::Name& id : names) {
    const bool known = known_ids_.empty() || is_reloaded_ ||
                       std::binary_search(known_ids_.begin(), known_ids_.end(), id.text);
    if (!known) {
      Guess guess;
      if (known_ids_.size() <= kNearestIdsMax) {
        const std::vector<std::string_view> all(known_ids_.begin(), known_ids_.end());
        guess = NearestPath(id.text, all);
      }
      OfferGuess(context_.sink.Report(id.span, diag::UnknownRuleId, id.text, DidYouMean(guess)),
                 id.span, guess);
    }
    ids.push_back({id.text, id.span});
  }
  return ids;
}

void TestChecker::ReadAnswer(const syntax::Answer& answer, model::AskStep& step) {
  step.allow = answer.allow;
  step.only = answer.only;
  step.ids = ReadIds(answer.ids);
  if (answer.trial) {
    step.trial_allow = answer.trial->allow;
    step.trial_ids = ReadIds(answer.trial->ids);
  }
  if (!answer.plan) return;
  const auto fields = PlanFields();
  for (const syntax::Field& field : answer.plan->fields) {
    const auto known = std::find_if(fields.begin(), fields.end(), [&](const PlanField& plan) {
      return plan.name == field.name.text;
    });
    if (known == fields.end() || !field.value) {
      ReportUnknown(context_, "part of a plan", field.name, PlanFieldNames());
      continue;
    }
    auto value = ReadLiteral(context_, *field.value, known->type);
    if (value) AddFact(step.plan, {field.name.text, std::move(value), field.span});
  }
}

void TestChecker::operator()(const syntax::Ask& ask) {
  const Action action = ActionOf(ask.action.action);
  model::AskStep step;
  step.action = action;
  step.snapshot = ask.snapshot.has_value();
  ReadSubject(ask, step.facts);
  if (ask.facts) {
    ReadFields(ask.facts->fields, std::string(schema::WordOf(action)) + ".", action, true,
               step.facts);
  }
  ReadAnswer(ask.answer, step);
  if (action != Action::Egress) return Add(std::move(step), ask.span);
  for (const syntax::String& text : ask.subjects) {
    model::AskStep one = step;
    // What the braces say of a fact is not what the URL says: it is an error to say both.
    if (text.text.find("://") != std::string::npos) {
      const bool connect = ask.method && ask.method->text == "connect";
      if (connect) {
        context_.sink.Report(text.span, diag::WrongLiteral, "`host:port`",
                             "a stream goes to a host and a port, not to a URL");
        continue;
      }
      ReadUrl(text, ask.method, one.facts);
    } else if (ask.method && ask.method->text == kWebsocket) {
      context_.sink.Report(text.span, diag::WrongLiteral, "a URL",
                           "a WebSocket is asked for by `https://` or `http://`");
      continue;
    } else {
      ReadStream(text, one.facts);
    }
    Add(std::move(one), ask.span);
  }
}

}  // namespace

std::vector<std::string_view> PlanFieldNames() {
  std::vector<std::string_view> names;
  for (const PlanField& field : PlanFields()) names.push_back(field.name);
  return names;
}

void CheckTest(Context& context, const syntax::TestDecl& test,
               std::span<const std::string> known_ids) {
  TestChecker checker(context, known_ids);
  for (const syntax::TestItem& item : test.items) std::visit(checker, item);
  const bool asks = std::any_of(test.items.begin(), test.items.end(), [](const auto& item) {
    return std::holds_alternative<syntax::Ask>(item);
  });
  if (!asks && !context.partial) {
    context.sink.Report(test.name.span, diag::TestAsksNothing, test.name.text);
  }
  context.model.tests.push_back({test.name.text, std::move(checker).Take(), test.span});
}

}  // namespace curfew::check
