#include "compiler/lsp/outline.h"

#include "compiler/syntax/token_list.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using Kind = OutlineNode::Kind;
using source::Span;

class Outliner {
 public:
  explicit Outliner(const source::SourceMap& sources) : sources_(sources) {}

  void operator()(const syntax::LanguageHeader&) {}
  void operator()(const syntax::PackageHeader&) {}
  void operator()(const syntax::UseHeader&) {}
  void operator()(const syntax::ImageDecl& image) {
    Add(nodes, Kind::Image, image.name.text, "image", image.span, image.name.span);
  }
  void operator()(const syntax::SecretDecl& secret) {
    Add(nodes, Kind::Secret, secret.name.text, "secret", secret.span, secret.name.span);
  }
  void operator()(const syntax::ListDecl& list) {
    Add(nodes, Kind::List, list.name.text, std::string(syntax::NameOf(list.kind)), list.span,
        list.name.span);
  }
  void operator()(const syntax::TestDecl& test) {
    Add(nodes, Kind::Test, test.name.text.empty() ? "test" : test.name.text, "test", test.span,
        test.name.span);
  }
  void operator()(const syntax::Rule& rule) { AddRule(nodes, rule); }

  void operator()(const syntax::AttributesDecl& attributes) {
    OutlineNode& node = Add(nodes, Kind::Attributes, "attributes " + attributes.subject.text, "",
                            attributes.span, attributes.subject.span);
    for (const syntax::AttributeDecl& attribute : attributes.attributes) {
      Add(node.children, Kind::Attribute, attribute.name.text,
          std::string(sources_.text(attribute.type.span)), attribute.span, attribute.name.span);
    }
  }

  void operator()(const syntax::SandboxDecl& sandbox) {
    OutlineNode& node =
        Add(nodes, Kind::Class, sandbox.every ? "every sandbox" : sandbox.name.text,
            sandbox.narrows ? "narrows " + sandbox.narrows->text : std::string("sandbox"),
            sandbox.span, sandbox.name.span);
    for (const syntax::SandboxMember& member : sandbox.members) {
      if (const auto* rule = std::get_if<syntax::Rule>(&member)) {
        AddRule(node.children, *rule);
        continue;
      }
      const auto& plane = std::get<syntax::Plane>(member);
      OutlineNode& of = Add(node.children, Kind::Plane, std::string(syntax::NameOf(plane.kind)), "",
                            plane.span, plane.keyword);
      for (const syntax::Statement& statement : plane.statements) AddLabelled(of, statement);
    }
  }

  std::vector<OutlineNode> nodes;

 private:
  static OutlineNode& Add(std::vector<OutlineNode>& to, Kind kind, std::string name,
                          std::string detail, Span whole, Span name_span) {
    // The protocol wants the name within the whole.
    const bool within = name_span.file == whole.file && whole.begin <= name_span.begin &&
                        name_span.end <= whole.end;
    return to.emplace_back(
        OutlineNode{kind,
                    std::move(name),
                    std::move(detail),
                    whole,
                    within ? name_span : Span{whole.file, whole.begin, whole.begin},
                    {}});
  }

  static void AddRule(std::vector<OutlineNode>& to, const syntax::Rule& rule) {
    std::string text;
    switch (rule.effect) {
      case syntax::Rule::Effect::Deny:
        text = "deny";
        break;
      case syntax::Rule::Effect::Require:
        text = "require";
        break;
      case syntax::Rule::Effect::Never:
        text = "never";
        break;
    }
    for (const syntax::ActionName& action : rule.actions) {
      text += fmt::format(" {}", syntax::NameOf(action.action));
    }
    if (rule.label) {
      Add(to, Kind::Rule, rule.label->text, std::move(text), rule.span, rule.label->span);
    } else {
      Add(to, Kind::Rule, std::move(text), rule.tail.because ? rule.tail.because->text : "",
          rule.span, rule.span);
    }
  }

  static void AddLabelled(OutlineNode& plane, const syntax::Statement& statement) {
    std::visit(
        [&](const auto& form) {
          if constexpr (requires { form.label; }) {
            if (!form.label) return;
            Add(plane.children, Kind::Rule, form.label->text, "", form.span, form.label->span);
          }
        },
        statement);
  }

  const source::SourceMap& sources_;
};

bool IsComment(const syntax::Token& token) {
  return token.kind == syntax::TokenKind::Comment || token.kind == syntax::TokenKind::Doc;
}

}  // namespace

std::vector<OutlineNode> OutlineOf(const syntax::Ast& file, const source::SourceMap& sources) {
  Outliner outliner(sources);
  for (const syntax::Declaration& declaration : file.declarations) {
    std::visit(outliner, declaration);
  }
  return std::move(outliner.nodes);
}

std::vector<Fold> FoldsOf(const source::SourceMap& sources, source::FileId file) {
  diagnostics::Sink mistakes;
  const syntax::TokenList tokens = syntax::Lex(sources, file, mistakes);
  std::vector<Fold> folds;
  const auto add = [&](std::uint32_t begin, std::uint32_t end, bool is_comment) {
    const std::string_view text = tokens.text.substr(begin, end - begin);
    if (text.find('\n') == std::string_view::npos) return;
    folds.push_back({{file, begin, end}, is_comment});
  };
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i < tokens.tokens.size(); ++i) {
    const syntax::Token& token = tokens.tokens[i];
    const std::string_view text = tokens.TextOf(token);
    if (IsComment(token) && token.starts_line) {
      const std::size_t first = i;
      while (i + 1 < tokens.tokens.size() && IsComment(tokens.tokens[i + 1]) &&
             tokens.tokens[i + 1].starts_line) {
        ++i;
      }
      add(tokens.tokens[first].begin, tokens.tokens[i].end, true);
    } else if (token.kind != syntax::TokenKind::Punctuation) {
      continue;
    } else if (text == "{" || text == "[") {
      open.push_back(token.begin);
    } else if ((text == "}" || text == "]") && !open.empty()) {
      add(open.back(), token.end, false);
      open.pop_back();
    }
  }
  return folds;
}

}  // namespace curfew::lsp
