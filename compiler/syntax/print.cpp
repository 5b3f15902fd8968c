#include "compiler/syntax/print.h"

#include "compiler/base/check.h"
#include "compiler/syntax/string_literal.h"

#include <fmt/format.h>

namespace curfew::syntax {

namespace {

// One line a node or field, nesting by two blanks; what is absent, empty or false is not printed.
class Printer {
 public:
  std::string Take() { return std::move(out_); }

  void Node(std::string_view name, auto&& fields) {
    Line(name);
    ++depth_;
    fields();
    --depth_;
  }

  // ---- Fields by their type

  void Field(std::string_view name, const std::string& text) {
    if (!text.empty()) Line(fmt::format("{}: {}", name, StringLiteral(text)));
  }
  void Field(std::string_view name, bool flag) {
    if (flag) Line(name);
  }
  void Field(std::string_view name, const Name& leaf) {
    if (!leaf.text.empty()) Line(fmt::format("{}: {}", name, leaf.text));
  }
  void Field(std::string_view name, const Quantity& leaf) { Bare(name, leaf.text); }
  void Field(std::string_view name, const Time& leaf) { Bare(name, leaf.text); }
  void Field(std::string_view name, const DigestLiteral& leaf) { Bare(name, leaf.text); }
  void Field(std::string_view name, const String& leaf) { Bare(name, StringLiteral(leaf.text)); }
  void Field(std::string_view name, const ActionName& leaf) { Bare(name, NameOf(leaf.action)); }
  void Field(std::string_view name, Span) { Line(name); }
  void Field(std::string_view name, const Doc& doc) {
    for (const std::string& line : doc.lines) Bare(name, StringLiteral(line));
  }
  template <typename T>
  void Field(std::string_view name, const std::optional<T>& value) {
    if (value) Field(name, *value);
  }
  template <typename T>
  void Field(std::string_view name, const std::vector<T>& values) {
    for (const T& value : values) Field(name, value);
  }

  void Field(std::string_view name, const Expr& expr) {
    std::string head = fmt::format("{}: {}", name, NameOf(expr.kind));
    if (!expr.text.empty() || expr.kind == ExprKind::String) {
      head += ' ';
      head += expr.kind == ExprKind::String ? StringLiteral(expr.text) : expr.text;
    }
    if (expr.parenthesised) head += " (parenthesised)";
    Node(head, [&] { Field("operand", expr.operands); });
  }
  void Field(std::string_view name, const syntax::Field& field) {
    Node(fmt::format("{} {}", name, field.name.text), [&] {
      Field("value", field.value);
      Field("field", field.fields);
    });
  }
  void Field(std::string_view name, const Object& object) {
    Node(name, [&] { Field("field", object.fields); });
  }
  void Field(std::string_view name, const Bound& bound) {
    Node(name, [&] {
      Field("value", bound.value);
      Field("at most", bound.at_most);
    });
  }
  void Field(std::string_view name, const Tail& tail) {
    (void)name;
    Field("when", tail.when);
    Field("because", tail.because);
  }
  void Field(std::string_view name, const Trial& trial) {
    Node(name, [&] { Field("until", trial.until); });
  }
  void Field(std::string_view name, const Audience& audience) {
    switch (audience.kind) {
      case Audience::Kind::Attribute:
        return Bare(name, audience.text);
      case Audience::Kind::Principal:
        return Bare(name, StringLiteral(audience.text));
      case Audience::Kind::Any:
        return Bare(name, "any");
    }
  }
  void Field(std::string_view name, const Target& target) {
    switch (target.kind) {
      case Target::Kind::Pattern:
        return Bare(name, StringLiteral(target.text));
      case Target::Kind::List:
        return Bare(name, target.text);
      case Target::Kind::Internet:
        return Bare(name, "the internet");
    }
  }
  void Field(std::string_view name, const Place& place) {
    Bare(name, place.kind == Place::Kind::Block ? StringLiteral(place.text) : place.text);
  }
  void Field(std::string_view name, const PortRange& range) {
    Bare(name,
         range.last ? fmt::format("{}..{}", range.first.text, range.last->text) : range.first.text);
  }
  void Field(std::string_view name, const QueryTerm& term) {
    Bare(name, fmt::format("{} == {}", term.key.text, StringLiteral(term.value.text)));
  }
  void Field(std::string_view name, const SizeItem& item) {
    Node(fmt::format("{} {}", name, item.what.text), [&] { Field("bound", item.bound); });
  }
  void Field(std::string_view name, const KeepItem& item) {
    Node(fmt::format("{} {}", name, NameOf(item.kind)), [&] {
      Field("text", item.text);
      Field("bound", item.bound);
      Field("class", item.classes);
    });
  }
  void Field(std::string_view name, const LimitItem& item) {
    Node(fmt::format("{} {}", name, NameOf(item.kind)), [&] {
      Field("amount", item.amount);
      Field("per", item.per);
    });
  }
  void Field(std::string_view name, const Fixture& fixture) {
    Node(fmt::format("{} {}", name, fixture.subject.text),
         [&] { Field("fact", fixture.facts.fields); });
  }
  void Field(std::string_view name, const Wish& wish) {
    Node(fmt::format("{} {}", name, wish.name.text), [&] { Field("value", wish.value); });
  }
  void Field(std::string_view name, const Answer::TrialAnswer& trial) {
    Node(fmt::format("{} {}", name, trial.allow ? "allow" : "deny"),
         [&] { Field("id", trial.ids); });
  }
  void Field(std::string_view name, const Answer& answer) {
    Node(fmt::format("{} {}", name, answer.allow ? "allow" : "deny"), [&] {
      Field("only", answer.only);
      Field("id", answer.ids);
      Field("with", answer.plan);
      Field("trial", answer.trial);
    });
  }
  void Field(std::string_view name, const TypeExpr& type) {
    Node(name, [&] {
      if (type.collection == TypeExpr::Collection::Set) Line("set");
      if (type.collection == TypeExpr::Collection::List) Line("list");
      if (type.shape == TypeExpr::Shape::OrderedEnum) Line("ordered");
      if (type.shape == TypeExpr::Shape::UnorderedEnum) Line("unordered");
      Field("name", type.names);
      Field("optional", type.optional);
      Field("at most", type.at_most);
    });
  }
  void Field(std::string_view name, const AttributeDecl& attribute) {
    Node(fmt::format("{} {}", name, attribute.name.text), [&] {
      Field("doc", attribute.doc);
      Field("type", attribute.type);
      Field("restated", attribute.restated);
    });
  }
  void Field(std::string_view name, const SecretSource& source) {
    Bare(name, fmt::format("{} {}", source.kind.text, StringLiteral(source.name.text)));
  }
  void Field(std::string_view name, const SecretSend& send) {
    Node(fmt::format("{} {}", name, send.form.text), [&] {
      Field("header", send.header);
      Field("target", send.targets);
    });
  }

  void Field(const Traffic& traffic) {
    if (traffic.stream == Traffic::Stream::Connect) Line("connect");
    if (traffic.stream == Traffic::Stream::Websocket) Line("websocket");
    Field("method", traffic.methods);
    Field("any method", traffic.any_method);
    Field("any target", traffic.any_target);
    Field("target", traffic.targets);
    Field("at", traffic.at);
    Field("port", traffic.ports);
    Field("query", traffic.query);
  }

  // ---- Statements

  void operator()(const AllowImages& s) {
    Node("allow", [&] {
      Field("image", s.images);
      Field("none", s.none);
    });
  }
  void operator()(const ExecStatement& s) {
    Node("exec", [&] {
      if (s.kind == ExecStatement::Kind::Any) Line("any");
      if (s.kind == ExecStatement::Kind::None) Line("none");
      Field("pattern", s.patterns);
    });
  }
  void operator()(const SizeStatement& s) {
    Node("size", [&] { Field("item", s.items); });
  }
  void operator()(const IsolationStatement& s) {
    Node("isolation", [&] { Field("level", s.level); });
  }
  void operator()(const TokenStatement& s) {
    Node("token", [&] {
      Field("audience", s.audience);
      Field("lives", s.lives);
    });
  }
  void operator()(const SecretsStatement& s) {
    Node("secrets", [&] {
      Field("secret", s.secrets);
      Field("none", s.none);
    });
  }
  void operator()(const EnvStatement& s) {
    Node("env", [&] {
      Field("name", s.names);
      Field("none", s.none);
    });
  }
  void operator()(const AccessStatement& s) {
    Node("access", [&] {
      Field("audience", s.audiences);
      Field("none", s.none);
    });
  }
  void operator()(const ScratchStatement& s) {
    Node("scratch", [&] {
      Field("path", s.path);
      Field("size", s.size);
    });
  }
  void operator()(const TransferStatement& s) {
    Node(s.direction == TransferStatement::Direction::Import ? "import" : "export", [&] {
      Field("label", s.label);
      Field("none", s.none);
      Field("pattern", s.patterns);
      Field("each", s.each);
      Field("at most", s.at_most);
      Field("tail", s.tail);
    });
  }
  void operator()(const PersistStatement& s) {
    Node("persist", [&] {
      Field("none", s.none);
      Field("name", s.name);
      Field("path", s.path);
      Field("size", s.size);
      Field("item", s.items);
    });
  }
  void operator()(const SnapshotStatement& s) {
    Node("snapshot", [&] {
      Field("none", s.none);
      Field("kind", s.kind);
      Field("item", s.items);
    });
  }
  void operator()(const TlsStatement& s) {
    Node("tls", [&] { Field("mode", s.mode); });
  }
  void operator()(const AllowTraffic& s) {
    Node("allow", [&] {
      Field("label", s.label);
      Field("none", s.none);
      Field(s.traffic);
      Field("with encoded slash", s.encoded_slash);
      Field("using", s.secret);
      Field("tail", s.tail);
    });
  }
  void operator()(const DenyTraffic& s) {
    Node("deny", [&] {
      Field("label", s.label);
      Field("trial", s.trial);
      Field(s.traffic);
      Field("tail", s.tail);
    });
  }
  void operator()(const LimitStatement& s) {
    Node("limit", [&] { Field("item", s.items); });
  }
  void operator()(const ExposeStatement& s) {
    Node("expose", [&] {
      Field("label", s.label);
      Field("none", s.none);
      Field("ports", s.ports);
      Field("to", s.to);
      Field("for", s.lasts);
      Field("tail", s.tail);
    });
  }
  void operator()(const TtlStatement& s) {
    Node("ttl", [&] { Field("bound", s.bound); });
  }
  void operator()(const IdleStatement& s) {
    Node("idle", [&] {
      Field("after", s.after);
      Field("then", s.then);
    });
  }
  void operator()(const FrozenStatement& s) {
    Node("frozen", [&] { Field("at most", s.at_most); });
  }
  void operator()(const RenewStatement& s) {
    Node("renew", [&] {
      Field("none", s.none);
      if (s.none) return;
      Field("times", s.times);
      Field("by", s.by);
    });
  }
  void operator()(const GraceStatement& s) {
    Node("grace", [&] { Field("duration", s.duration); });
  }
  void operator()(const RecordStatement& s) {
    Node("record all", [&] { Field("except allows of", s.except_allows_of); });
  }
  void operator()(const RedactStatement& s) {
    Node("redact", [&] {
      Field("what", s.what);
      Field("name", s.names);
    });
  }
  void operator()(const RetainStatement& s) {
    Node("retain", [&] { Field("duration", s.duration); });
  }

  // ---- Tests

  void operator()(const Given& s) {
    Node("given", [&] { Field("fixture", s.fixtures); });
  }
  void operator()(const AfterStep& s) {
    Node("after", [&] { Field("duration", s.duration); });
  }
  void operator()(const AtStep& s) {
    Node("at", [&] { Field("time", s.time); });
  }
  void operator()(const EventStep& s) {
    switch (s.event) {
      case EventStep::Event::Freeze:
        return Line("freeze");
      case EventStep::Event::Close:
        return Line("close");
      case EventStep::Event::Reload:
        return Node("reload", [&] { Field("file", s.file); });
    }
  }
  void operator()(const Ask& s) {
    Node(fmt::format("ask {}", NameOf(s.action.action)), [&] {
      Field("wish", s.wishes);
      Field("snapshot", s.snapshot);
      Field("kind", s.kind);
      Field("method", s.method);
      Field("subject", s.subjects);
      Field("args", s.args);
      Field("port", s.port);
      Field("to", s.to);
      Field("duration", s.duration);
      Field("facts", s.facts);
      Field("answer", s.answer);
    });
  }

  // ---- Declarations

  void operator()(const LanguageHeader& d) {
    Node("language", [&] { Field("version", d.version); });
  }
  void operator()(const PackageHeader& d) {
    Node("package", [&] { Field("name", d.name); });
  }
  void operator()(const UseHeader& d) {
    Node("use", [&] { Field("path", d.path); });
  }
  void operator()(const AttributesDecl& d) {
    Node("attributes", [&] {
      Field("doc", d.doc);
      Field("subject", d.subject);
      Field("attribute", d.attributes);
    });
  }
  void operator()(const ImageDecl& d) {
    Node("image", [&] {
      Field("doc", d.doc);
      Field("name", d.name);
      Field("ref", d.ref);
      Field("digest", d.digest);
    });
  }
  void operator()(const SecretDecl& d) {
    Node("secret", [&] {
      Field("doc", d.doc);
      Field("name", d.name);
      Field("from", d.from);
      Field("send", d.sends);
    });
  }
  void operator()(const ListDecl& d) {
    Node(NameOf(d.kind), [&] {
      Field("doc", d.doc);
      Field("name", d.name);
      Field("from", d.from);
      Field("element", d.elements);
    });
  }
  void operator()(const SandboxDecl& d) {
    Node(d.every ? "every sandbox" : "sandbox", [&] {
      Field("doc", d.doc);
      Field("name", d.name);
      Field("narrows", d.narrows);
      Field("by name", d.by_name);
      Field("when", d.when);
      for (const SandboxMember& member : d.members) std::visit(*this, member);
    });
  }
  void operator()(const Plane& d) {
    Node(fmt::format("plane {}", NameOf(d.kind)), [&] {
      Field("doc", d.doc);
      for (const Statement& statement : d.statements) std::visit(*this, statement);
    });
  }
  void operator()(const Rule& d) {
    Node(fmt::format("rule {}", NameOf(d.effect)), [&] {
      Field("doc", d.doc);
      Field("label", d.label);
      Field("trial", d.trial);
      Field("action", d.actions);
      Field("tail", d.tail);
      Field("condition", d.condition);
    });
  }
  void operator()(const TestDecl& d) {
    Node("test", [&] {
      Field("doc", d.doc);
      Field("name", d.name);
      for (const TestItem& item : d.items) std::visit(*this, item);
    });
  }

 private:
  static std::string_view NameOf(ExprKind kind) { return syntax::NameOf(kind); }
  static std::string_view NameOf(Action action) { return syntax::NameOf(action); }
  static std::string_view NameOf(PlaneKind kind) { return syntax::NameOf(kind); }
  static std::string_view NameOf(ListDecl::Kind kind) { return syntax::NameOf(kind); }
  static std::string_view NameOf(KeepItem::Kind kind) { return syntax::NameOf(kind); }
  static std::string_view NameOf(LimitItem::Kind kind) {
    switch (kind) {
      case LimitItem::Kind::Requests:
        return "requests";
      case LimitItem::Kind::PerRequest:
        return "per request";
      case LimitItem::Kind::InAll:
        return "in all";
    }
    CURFEW_UNREACHABLE("the switch names every kind");
  }
  static std::string_view NameOf(Rule::Effect effect) {
    switch (effect) {
      case Rule::Effect::Deny:
        return "deny";
      case Rule::Effect::Require:
        return "require";
      case Rule::Effect::Never:
        return "never";
    }
    CURFEW_UNREACHABLE("the switch names every effect");
  }

  void Bare(std::string_view name, std::string_view value) {
    Line(fmt::format("{}: {}", name, value));
  }
  void Line(std::string_view text) {
    out_.append(2 * depth_, ' ');
    out_ += text;
    out_ += '\n';
  }

  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string Print(const Ast& ast) {
  Printer printer;
  for (const Declaration& declaration : ast.declarations) std::visit(printer, declaration);
  return printer.Take();
}

bool Equal(const Ast& a, const Ast& b) { return Print(a) == Print(b); }

}  // namespace curfew::syntax
