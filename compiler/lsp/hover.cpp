#include "compiler/lsp/hover.h"

#include "compiler/base/check.h"
#include "compiler/inspect/class_table.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/token_list.h"

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using source::Span;

constexpr std::size_t ExcerptBytesMax = 400;

std::string Fenced(std::string_view text) { return fmt::format("```curfew\n{}\n```\n", text); }

// Source text on one line, cut between characters.
std::string Excerpt(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.size() <= ExcerptBytesMax) return line;
  std::size_t cut = ExcerptBytesMax;
  while (cut > 0 && (static_cast<unsigned char>(line[cut]) & 0xC0) == 0x80) --cut;
  return line.substr(0, cut) + "…";
}

// What bounds a class of a set with errors, as it is written: its own statements, then those of
// what it narrows, then the floors. The strictest of each counts.
class Bounds {
 public:
  explicit Bounds(const Analysis& analysis) : analysis_(analysis) {}

  std::string Of(const std::string& name) {
    std::string text;
    std::string next = name;
    // A chain that leads back into itself is the checker's to refuse.
    for (std::size_t links = 0; !next.empty() && links < 16; ++links) {
      const syntax::SandboxDecl* sandbox = Find(next);
      if (sandbox == nullptr) break;
      Append(text, *sandbox, "`" + next + "`");
      next = sandbox->narrows ? sandbox->narrows->text : std::string();
    }
    ForEachSandbox([&](const syntax::SandboxDecl& sandbox) {
      if (sandbox.every) Append(text, sandbox, "`every sandbox`");
    });
    return text;
  }

 private:
  template <typename Visit>
  void ForEachSandbox(Visit&& visit) const {
    for (const syntax::Ast& file : analysis_.files) {
      for (const syntax::Declaration& declaration : file.declarations) {
        if (const auto* one = std::get_if<syntax::SandboxDecl>(&declaration)) visit(*one);
      }
    }
  }

  [[nodiscard]] const syntax::SandboxDecl* Find(const std::string& name) const {
    const syntax::SandboxDecl* found = nullptr;
    ForEachSandbox([&](const syntax::SandboxDecl& sandbox) {
      if (found == nullptr && !sandbox.every && sandbox.name.text == name) found = &sandbox;
    });
    return found;
  }

  template <typename... Forms>
  static bool IsOneOf(const syntax::Statement& statement) {
    return (std::holds_alternative<Forms>(statement) || ...);
  }

  void Append(std::string& text, const syntax::SandboxDecl& sandbox, std::string_view who) const {
    for (const syntax::SandboxMember& member : sandbox.members) {
      const auto* plane = std::get_if<syntax::Plane>(&member);
      if (plane == nullptr) continue;
      for (const syntax::Statement& statement : plane->statements) {
        const bool is_bound =
            IsOneOf<syntax::SizeStatement, syntax::IsolationStatement, syntax::TtlStatement,
                    syntax::IdleStatement, syntax::FrozenStatement, syntax::RenewStatement,
                    syntax::LimitStatement, syntax::RetainStatement>(statement);
        if (!is_bound) continue;
        const Span span = std::visit([](const auto& form) { return form.span; }, statement);
        text += fmt::format("- {}: `{}`\n", who, Excerpt(analysis_.sources.text(span)));
      }
    }
  }

  const Analysis& analysis_;
};

// What holds of a class in the end, whichever class of its chain wrote it. Of a set with errors it
// is what is written: nobody knows what holds.
std::string BoundsOf(const Analysis& analysis, const std::string& name) {
  if (!analysis.model) {
    const std::string written = Bounds(analysis).Of(name);
    return written.empty() ? written : "\nBounds; the strictest of each counts:\n" + written;
  }
  std::string text;
  for (const model::Class& of : analysis.model->classes) {
    if (of.name != name) continue;
    const inspect::ClassTable table = inspect::TableOf(lower::PlanOf(*analysis.model, of));
    text += "\nWhat holds in the end:\n";
    for (const inspect::PlaneTable& plane : table.planes) {
      for (const inspect::PlaneRow& row : plane.rows) {
        text += fmt::format("- {} {}: `{}`\n", plane.name, row.what, Excerpt(row.value));
      }
    }
  }
  return text;
}

std::string AboutSymbol(const Analysis& analysis, const Symbol& symbol,
                        const Vocabulary& vocabulary) {
  std::string text = Fenced(TitleOf(symbol, vocabulary));
  switch (symbol.kind) {
    case SymbolKind::Attribute:
      return text + AboutAttribute(vocabulary.Find(symbol.path));
    case SymbolKind::Class: {
      text += BoundsOf(analysis, symbol.name);
      break;
    }
    case SymbolKind::Image:
    case SymbolKind::Secret:
    case SymbolKind::List:
    case SymbolKind::EnumValue:
    case SymbolKind::Label:
      text += fmt::format("\n`{}`\n", Excerpt(analysis.sources.text(symbol.whole)));
      break;
  }
  if (!symbol.doc.empty()) text += "\n" + symbol.doc + "\n";
  return text;
}

// An action's word, wherever it is not a name.
std::optional<Hover> AboutAction(const Analysis& analysis, source::FileId file,
                                 std::uint32_t offset) {
  diagnostics::Sink mistakes;
  const syntax::TokenList tokens = syntax::Lex(analysis.sources, file, mistakes);
  for (const syntax::Token& token : tokens.tokens) {
    if (token.kind != syntax::TokenKind::Word || offset < token.begin || offset > token.end) {
      continue;
    }
    const auto action = schema::ActionOf(tokens.TextOf(token));
    if (!action) return std::nullopt;
    const schema::ActionInfo& info = schema::Actions()[static_cast<std::size_t>(*action)];
    return Hover{
        fmt::format("{}Asked when {}.\n\nGranted by `{}`.\n",
                    Fenced("action " + std::string(info.word)), info.asked_when, info.granted_by),
        tokens.SpanOf(token)};
  }
  return std::nullopt;
}

}  // namespace

std::string TitleOf(const Symbol& symbol, const Vocabulary& vocabulary) {
  switch (symbol.kind) {
    case SymbolKind::Class:
      return "sandbox " + symbol.name;
    case SymbolKind::Image:
      return "image " + symbol.name;
    case SymbolKind::Secret:
      return "secret " + symbol.name;
    case SymbolKind::List:
      return fmt::format("{} {}", syntax::NameOf(*symbol.list), symbol.name);
    case SymbolKind::Attribute: {
      const auto meanings = vocabulary.Find(symbol.path);
      return meanings.empty() ? symbol.path
                              : fmt::format("{}: {}", symbol.path, meanings.front()->type);
    }
    case SymbolKind::EnumValue:
      return fmt::format("{} (a value of {})", symbol.name,
                         symbol.path.substr(0, symbol.path.rfind('.')));
    case SymbolKind::Label:
      return symbol.path;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string AboutAttribute(const std::vector<const Attribute*>& meanings) {
  std::string text;
  for (const Attribute* meaning : meanings) {
    text += fmt::format("\n{}: `{}`, {}.\n", Describe(meaning->actions), meaning->type,
                        meaning->origin);
    if (!meaning->doc.empty()) text += "\n" + meaning->doc + "\n";
  }
  return text;
}

std::optional<Hover> HoverAt(const Analysis& analysis, const Index& index,
                             const Vocabulary& vocabulary, source::FileId file,
                             std::uint32_t offset) {
  if (const Reference* reference = index.ReferenceAt(file, offset)) {
    return Hover{AboutSymbol(analysis, index.symbols[reference->symbol], vocabulary),
                 reference->token};
  }
  if (const AttributeUse* use = index.AttributeAt(file, offset)) {
    const auto meanings = vocabulary.Find(use->path);
    if (meanings.empty()) return std::nullopt;
    return Hover{
        Fenced(fmt::format("{}: {}", use->path, meanings.front()->type)) + AboutAttribute(meanings),
        use->token};
  }
  if (const IdUse* id = index.IdAt(file, offset)) {
    return Hover{Fenced(id->id) + "\nAn id that decisions name.\n", id->token};
  }
  return AboutAction(analysis, file, offset);
}

}  // namespace curfew::lsp
