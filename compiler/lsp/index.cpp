#include "compiler/lsp/index.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using source::Span;
using syntax::ExprKind;

// Attributes whose values are names of classes, as strings.
constexpr std::string_view ClassPaths[] = {"sandbox.class", "create.class", "snapshot.class"};

bool HoldsClassNames(std::string_view path) {
  return std::find(std::begin(ClassPaths), std::end(ClassPaths), path) != std::end(ClassPaths);
}

std::string Joined(const syntax::Doc& doc) { return fmt::format("{}", fmt::join(doc.lines, "\n")); }

Span TailOf(Span span, std::size_t bytes) {
  const std::size_t most = span.end - span.begin;
  return {span.file, static_cast<std::uint32_t>(span.end - std::min(bytes, most)), span.end};
}

Actions ActionsOf(std::span<const syntax::ActionName> names) {
  Actions actions;
  for (const syntax::ActionName& name : names) {
    if (const auto action = schema::ActionOf(syntax::NameOf(name.action))) {
      actions.set(static_cast<std::size_t>(*action));
    }
  }
  return actions;
}

Actions Only(schema::Action action) {
  Actions actions;
  actions.set(static_cast<std::size_t>(action));
  return actions;
}

class Indexer {
 public:
  Indexer(const Analysis& analysis, const Vocabulary& vocabulary)
      : analysis_(analysis), vocabulary_(vocabulary) {}

  Index Run() {
    for (const syntax::Ast& file : analysis_.files) {
      for (const syntax::Declaration& declaration : file.declarations) Declare(declaration);
    }
    for (const syntax::Ast& file : analysis_.files) {
      for (const syntax::Declaration& declaration : file.declarations) Walk(declaration);
    }
    return std::move(index_);
  }

 private:
  // ---- Declarations

  void Add(SymbolKind kind, const syntax::Name& name, std::string path, Span whole,
           const syntax::Doc& doc) {
    const std::size_t id = index_.symbols.size();
    known_.emplace(std::pair(kind, path), id);
    Symbol symbol;
    symbol.kind = kind;
    symbol.name = name.text;
    symbol.path = std::move(path);
    symbol.declared = name.span;
    symbol.whole = whole;
    symbol.doc = Joined(doc);
    index_.symbols.push_back(std::move(symbol));
    index_.references.push_back({id, name.span, name.span});
  }

  void AddLabel(const std::optional<syntax::Name>& label, std::string_view scope, Span whole,
                const syntax::Doc& doc = {}) {
    if (!label) return;
    Add(SymbolKind::Label, *label, fmt::format("{}.{}", scope, label->text), whole, doc);
  }

  void Declare(const syntax::Declaration& declaration) {
    if (const auto* image = std::get_if<syntax::ImageDecl>(&declaration)) {
      Add(SymbolKind::Image, image->name, image->name.text, image->span, image->doc);
    } else if (const auto* secret = std::get_if<syntax::SecretDecl>(&declaration)) {
      Add(SymbolKind::Secret, secret->name, secret->name.text, secret->span, secret->doc);
    } else if (const auto* list = std::get_if<syntax::ListDecl>(&declaration)) {
      Add(SymbolKind::List, list->name, list->name.text, list->span, list->doc);
      index_.symbols.back().list = list->kind;
    } else if (const auto* rule = std::get_if<syntax::Rule>(&declaration)) {
      AddLabel(rule->label, "set", rule->span, rule->doc);
    } else if (const auto* attributes = std::get_if<syntax::AttributesDecl>(&declaration)) {
      for (const syntax::AttributeDecl& attribute : attributes->attributes) {
        DeclareAttribute(attributes->subject.text, attribute);
      }
    } else if (const auto* sandbox = std::get_if<syntax::SandboxDecl>(&declaration)) {
      DeclareSandbox(*sandbox);
    }
  }

  void DeclareAttribute(const std::string& subject, const syntax::AttributeDecl& attribute) {
    const std::string path = subject + "." + attribute.name.text;
    Add(SymbolKind::Attribute, attribute.name, path, attribute.span, attribute.doc);
    index_.attributes.push_back({path, attribute.name.span, {}});
    if (attribute.type.shape == syntax::TypeExpr::Shape::Named) return;
    for (const syntax::Name& value : attribute.type.names) {
      Add(SymbolKind::EnumValue, value, path + "." + value.text, attribute.span, attribute.doc);
    }
  }

  void DeclareSandbox(const syntax::SandboxDecl& sandbox) {
    if (!sandbox.every) {
      Add(SymbolKind::Class, sandbox.name, sandbox.name.text, sandbox.span, sandbox.doc);
    }
    const std::string scope = sandbox.every ? "sandbox" : sandbox.name.text;
    for (const syntax::SandboxMember& member : sandbox.members) {
      if (const auto* rule = std::get_if<syntax::Rule>(&member)) {
        AddLabel(rule->label, scope, rule->span, rule->doc);
        continue;
      }
      const auto& plane = std::get<syntax::Plane>(member);
      const std::string inner = fmt::format("{}.{}", scope, syntax::NameOf(plane.kind));
      for (const syntax::Statement& statement : plane.statements) {
        std::visit(
            [&](const auto& form) {
              if constexpr (requires { form.label; }) AddLabel(form.label, inner, form.span);
            },
            statement);
      }
    }
  }

  // ---- Uses

  bool Use(SymbolKind kind, std::string_view path, Span span, Span token) {
    const auto found = known_.find(std::pair(kind, std::string(path)));
    if (found == known_.end()) return false;
    index_.references.push_back({found->second, span, token});
    return true;
  }
  void Use(SymbolKind kind, const syntax::Name& name) {
    static_cast<void>(Use(kind, name.text, name.span, name.span));
  }

  void UsePath(const std::string& path, Span token, Actions actions) {
    index_.attributes.push_back({path, token, actions});
    const std::size_t dot = path.rfind('.');
    const std::size_t last = dot == std::string::npos ? path.size() : path.size() - dot - 1;
    static_cast<void>(Use(SymbolKind::Attribute, path, TailOf(token, last), token));
  }

  // Where a path stands in an expression's text, which may have parentheses and `has` around it.
  [[nodiscard]] Span Within(Span span, std::string_view path) const {
    const std::size_t at = analysis_.sources.text(span).rfind(path);
    if (at == std::string_view::npos) return span;
    const auto begin = static_cast<std::uint32_t>(span.begin + at);
    return {span.file, begin, static_cast<std::uint32_t>(begin + path.size())};
  }

  // A name whose place asks for values of the attribute at `path` (or of none that is known).
  void UseValue(const syntax::Expr& expr, const std::string& path) {
    if (expr.kind == ExprKind::List) {
      for (const syntax::Expr& element : expr.operands) UseValue(element, path);
      return;
    }
    const Span token = Within(expr.span, expr.text);
    if (expr.kind == ExprKind::String && HoldsClassNames(path)) {
      static_cast<void>(Use(SymbolKind::Class, expr.text, token, token));
    }
    if (expr.kind != ExprKind::Name || expr.text == variable_) return;
    if (HoldsClassNames(path) && Use(SymbolKind::Class, expr.text, token, token)) return;
    if (Use(SymbolKind::EnumValue, path + "." + expr.text, token, token)) return;
    for (const Attribute* attribute : vocabulary_.Find(path)) {
      const auto& values = attribute->values;
      if (std::find(values.begin(), values.end(), expr.text) != values.end()) return;
    }
    for (const SymbolKind kind : {SymbolKind::Image, SymbolKind::List, SymbolKind::Secret}) {
      if (Use(kind, expr.text, token, token)) return;
    }
  }

  // The attribute that gives the other side of an operator its type.
  static std::string PathOf(const syntax::Expr& expr) {
    if (expr.kind == ExprKind::Path) return expr.text;
    for (const syntax::Expr& operand : expr.operands) {
      if (auto path = PathOf(operand); !path.empty()) return path;
    }
    return {};
  }

  void Walk(const syntax::Expr& expr, Actions actions) {
    if (expr.kind == ExprKind::Path || (expr.kind == ExprKind::Name && expr.text == "now")) {
      return UsePath(expr.text, Within(expr.span, expr.text), actions);
    }
    if (expr.kind == ExprKind::Has)
      return UsePath(expr.text, Within(expr.span, expr.text), actions);
    if (expr.kind == ExprKind::Any || expr.kind == ExprKind::All || expr.kind == ExprKind::None) {
      if (expr.operands.size() < 2) return;
      Walk(expr.operands[0], actions);
      variable_ = expr.text;
      variable_path_ = PathOf(expr.operands[0]);
      Walk(expr.operands[1], actions);
      variable_.clear();
      variable_path_.clear();
      return;
    }
    if (expr.kind == ExprKind::List) {  // its names are those of the operator around it
      for (const syntax::Expr& element : expr.operands) Walk(element, actions);
      return;
    }
    std::string path;
    for (const syntax::Expr& operand : expr.operands) {
      if (path.empty()) path = PathOf(operand);
      if (path.empty() && operand.kind == ExprKind::Name && operand.text == variable_) {
        path = variable_path_;
      }
    }
    for (const syntax::Expr& operand : expr.operands) {
      UseValue(operand, path);
      Walk(operand, actions);
    }
  }
  void Walk(const syntax::Tail& tail, Actions actions) {
    if (tail.when) Walk(*tail.when, actions);
  }
  void Walk(const syntax::Rule& rule) {
    const Actions actions = ActionsOf(rule.actions);
    Walk(rule.tail, actions);
    if (rule.condition) Walk(*rule.condition, actions);
  }
  void Walk(const syntax::Audience& audience, Actions actions) {
    if (audience.kind == syntax::Audience::Kind::Attribute) {
      UsePath(audience.text, audience.span, actions);
    }
  }

  void Walk(const syntax::Declaration& declaration) {
    if (const auto* use = std::get_if<syntax::UseHeader>(&declaration)) {
      Link(use->path);
    } else if (const auto* list = std::get_if<syntax::ListDecl>(&declaration)) {
      if (list->from) Link(*list->from);
    } else if (const auto* rule = std::get_if<syntax::Rule>(&declaration)) {
      Walk(*rule);
    } else if (const auto* sandbox = std::get_if<syntax::SandboxDecl>(&declaration)) {
      Walk(*sandbox);
    } else if (const auto* test = std::get_if<syntax::TestDecl>(&declaration)) {
      for (const syntax::TestItem& item : test->items) Walk(item);
    }
  }

  void Link(const syntax::String& path) {
    const std::filesystem::path from(analysis_.sources.name(path.span.file));
    const std::string target = WithoutLinks((from.parent_path() / path.text).string());
    if (const auto file = analysis_.FileAt(target)) index_.links.push_back({path.span, *file});
  }

  void Walk(const syntax::SandboxDecl& sandbox) {
    if (sandbox.narrows) Use(SymbolKind::Class, *sandbox.narrows);
    if (sandbox.when) Walk(*sandbox.when, Only(schema::Action::Create));
    for (const syntax::SandboxMember& member : sandbox.members) {
      if (const auto* rule = std::get_if<syntax::Rule>(&member)) {
        Walk(*rule);
      } else {
        for (const auto& statement : std::get<syntax::Plane>(member).statements) Walk(statement);
      }
    }
  }

  void Walk(const syntax::Statement& statement) {
    if (const auto* allow = std::get_if<syntax::AllowImages>(&statement)) {
      for (const syntax::Name& image : allow->images) Use(SymbolKind::Image, image);
    } else if (const auto* secrets = std::get_if<syntax::SecretsStatement>(&statement)) {
      for (const syntax::Name& secret : secrets->secrets) Use(SymbolKind::Secret, secret);
    } else if (const auto* access = std::get_if<syntax::AccessStatement>(&statement)) {
      for (const syntax::Audience& audience : access->audiences) Walk(audience, {});
    } else if (const auto* transfer = std::get_if<syntax::TransferStatement>(&statement)) {
      const bool in = transfer->direction == syntax::TransferStatement::Direction::Import;
      Walk(transfer->tail, Only(in ? schema::Action::Import : schema::Action::Export));
    } else if (const auto* snapshot = std::get_if<syntax::SnapshotStatement>(&statement)) {
      for (const syntax::KeepItem& item : snapshot->items) {
        for (const syntax::Name& of : item.classes) Use(SymbolKind::Class, of);
      }
    } else if (const auto* rule = std::get_if<syntax::AllowTraffic>(&statement)) {
      Walk(rule->traffic);
      if (rule->secret) Use(SymbolKind::Secret, *rule->secret);
      Walk(rule->tail, Only(schema::Action::Egress));
    } else if (const auto* deny = std::get_if<syntax::DenyTraffic>(&statement)) {
      Walk(deny->traffic);
      Walk(deny->tail, Only(schema::Action::Egress));
    } else if (const auto* expose = std::get_if<syntax::ExposeStatement>(&statement)) {
      if (expose->to) Walk(*expose->to, Only(schema::Action::Expose));
      Walk(expose->tail, Only(schema::Action::Expose));
    }
  }
  void Walk(const syntax::Traffic& traffic) {
    for (const syntax::Target& target : traffic.targets) {
      if (target.kind != syntax::Target::Kind::List) continue;
      static_cast<void>(Use(SymbolKind::List, target.text, target.span, target.span));
    }
    for (const syntax::Place& place : traffic.at) {
      if (place.kind != syntax::Place::Kind::List) continue;
      static_cast<void>(Use(SymbolKind::List, place.text, place.span, place.span));
    }
  }

  // ---- Tests

  void Walk(const syntax::TestItem& item) {
    if (const auto* given = std::get_if<syntax::Given>(&item)) {
      for (const syntax::Fixture& fixture : given->fixtures) {
        Walk(fixture.facts.fields, fixture.subject.text + ".", false);
      }
    } else if (const auto* ask = std::get_if<syntax::Ask>(&item)) {
      Walk(*ask);
    }
  }
  void Walk(const syntax::Ask& ask) {
    const std::string own = fmt::format("{}.", syntax::NameOf(ask.action.action));
    for (const syntax::Wish& wish : ask.wishes) {
      index_.attributes.push_back({own + wish.name.text, wish.name.span, {}});
      UseValue(wish.value, own + wish.name.text);
    }
    if (ask.facts) Walk(ask.facts->fields, own, true);
    for (const syntax::Name& id : ask.answer.ids) UseId(id);
    if (ask.answer.plan) {
      for (const syntax::Field& field : ask.answer.plan->fields) {
        if (field.value) UseValue(*field.value, "create." + field.name.text);
      }
    }
    if (!ask.answer.trial) return;
    for (const syntax::Name& id : ask.answer.trial->ids) UseId(id);
  }
  // In an ask, what is not the action's own is a path from the top.
  void Walk(const std::vector<syntax::Field>& fields, const std::string& prefix, bool own) {
    for (const syntax::Field& field : fields) {
      std::string path = prefix + field.name.text;
      if (own && vocabulary_.Find(path).empty()) path = field.name.text;
      if (!field.value) {
        Walk(field.fields, path + ".", false);
        continue;
      }
      UsePath(path, field.name.span, {});
      UseValue(*field.value, path);
    }
  }
  // `coding.network.python`: a class, and perhaps a label or what a grant names.
  void UseId(const syntax::Name& id) {
    index_.ids.push_back({id.text, id.span});
    const std::size_t dot = id.text.rfind('.');
    const std::size_t last = dot == std::string::npos ? 0 : id.text.size() - dot - 1;
    const Span tail = TailOf(id.span, last);
    const std::size_t first = std::min(id.text.find('.'), id.text.size());
    const Span head{id.span.file, id.span.begin, static_cast<std::uint32_t>(id.span.begin + first)};
    if (last > 0) {
      if (!Use(SymbolKind::Label, id.text, tail, tail)) UseGrant(id.text, dot, tail);
    }
    static_cast<void>(
        Use(SymbolKind::Class, std::string_view(id.text).substr(0, first), head, head));
  }
  void UseGrant(const std::string& id, std::size_t dot, Span tail) {
    const std::string_view before = std::string_view(id).substr(0, dot);
    const std::string_view name = std::string_view(id).substr(dot + 1);
    if (before.ends_with(".image")) {
      static_cast<void>(Use(SymbolKind::Image, name, tail, tail));
    } else if (before.ends_with(".identity.secrets")) {
      static_cast<void>(Use(SymbolKind::Secret, name, tail, tail));
    }
  }

  const Analysis& analysis_;
  const Vocabulary& vocabulary_;
  Index index_;
  std::map<std::pair<SymbolKind, std::string>, std::size_t> known_;
  std::string variable_;  // of the quantifier at hand, and what it goes through
  std::string variable_path_;
};

template <typename Places>
auto TokenAt(const Places& places, source::FileId file, std::uint32_t offset) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const auto& place) {
    return Touches(place.token, file, offset);
  });
  return found == places.end() ? nullptr : &*found;
}

}  // namespace

bool Touches(Span span, source::FileId file, std::uint32_t offset) {
  return span.file == file && span.begin <= offset && offset <= span.end;
}

const Symbol* Index::Find(SymbolKind kind, std::string_view path) const {
  const auto found = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
    return symbol.kind == kind && symbol.path == path;
  });
  return found == symbols.end() ? nullptr : &*found;
}
const Reference* Index::ReferenceAt(source::FileId file, std::uint32_t offset) const {
  return TokenAt(references, file, offset);
}
const AttributeUse* Index::AttributeAt(source::FileId file, std::uint32_t offset) const {
  return TokenAt(attributes, file, offset);
}
const IdUse* Index::IdAt(source::FileId file, std::uint32_t offset) const {
  return TokenAt(ids, file, offset);
}
const FileLink* Index::LinkAt(source::FileId file, std::uint32_t offset) const {
  return TokenAt(links, file, offset);
}

Index IndexOf(const Analysis& analysis, const Vocabulary& vocabulary) {
  return Indexer(analysis, vocabulary).Run();
}

}  // namespace curfew::lsp
