#include "compiler/lsp/encode.h"

#include "compiler/base/check.h"
#include "compiler/lsp/uri.h"

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

// Numbers of the protocol.
int CodeOf(diagnostics::Severity severity) {
  switch (severity) {
    case diagnostics::Severity::Error:
      return 1;
    case diagnostics::Severity::Warning:
      return 2;
    case diagnostics::Severity::Info:
      return 3;
  }
  CURFEW_UNREACHABLE("the switch names every severity");
}

// CompletionItemKind
int CodeOf(Proposal::Kind kind) {
  switch (kind) {
    case Proposal::Kind::Keyword:
      return 14;  // Keyword
    case Proposal::Kind::Attribute:
      return 5;  // Field
    case Proposal::Kind::Value:
      return 20;  // EnumMember
    case Proposal::Kind::Name:
      return 6;  // Variable
    case Proposal::Kind::RuleId:
      return 18;  // Reference
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

// SymbolKind
int CodeOf(OutlineNode::Kind kind) {
  switch (kind) {
    case OutlineNode::Kind::Class:
      return 5;  // Class
    case OutlineNode::Kind::Image:
      return 4;  // Package
    case OutlineNode::Kind::Secret:
      return 20;  // Key
    case OutlineNode::Kind::List:
      return 18;  // Array
    case OutlineNode::Kind::Attributes:
      return 23;  // Struct
    case OutlineNode::Kind::Attribute:
      return 8;  // Field
    case OutlineNode::Kind::Plane:
      return 3;  // Namespace
    case OutlineNode::Kind::Rule:
      return 6;  // Method
    case OutlineNode::Kind::Test:
      return 12;  // Function
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

Json JsonOf(Position position) {
  return {{"line", position.line}, {"character", position.character}};
}

}  // namespace

std::string Encoder::Uri(source::FileId file) const {
  const std::string& path = analysis_.paths[file];
  if (const Document* open = documents_.AtPath(path)) return open->uri;
  return UriOfPath(path);
}

const LineIndex& Encoder::Lines(source::FileId file) {
  return lines_.try_emplace(file, analysis_.sources.text(file)).first->second;
}

Json Encoder::Range(source::Span span) {
  const LineIndex& lines = Lines(span.file);
  return {{"start", JsonOf(lines.At(span.begin, encoding_))},
          {"end", JsonOf(lines.At(span.end, encoding_))}};
}

Json Encoder::Location(source::Span span) {
  return {{"uri", Uri(span.file)}, {"range", Range(span)}};
}

std::uint32_t Encoder::Offset(source::FileId file, Position position) {
  return Lines(file).OffsetOf(position, encoding_);
}

Json Encoder::Diagnostic(const diagnostics::Diagnostic& diagnostic, source::Span span) {
  Json json{{"range", Range(span)},
            {"severity", CodeOf(diagnostic.severity)},
            {"code", diagnostics::CodeName(diagnostic.code)},
            {"source", "curfew"},
            {"message", diagnostic.message}};
  for (const diagnostics::Note& note : diagnostic.notes) {
    if (note.span.is_nowhere()) continue;
    json["relatedInformation"].push_back(
        {{"location", Location(note.span)}, {"message", note.message}});
  }
  return json;
}

Json Encoder::WorkspaceEdit(const std::vector<Edit>& edits) {
  Json changes = Json::object();
  for (const Edit& edit : edits) {
    changes[Uri(edit.span.file)].push_back({{"range", Range(edit.span)}, {"newText", edit.text}});
  }
  return {{"changes", std::move(changes)}};
}

Json Encoder::Outline(const std::vector<OutlineNode>& nodes) {
  Json list = Json::array();
  for (const OutlineNode& node : nodes) {
    list.push_back({{"name", node.name},
                    {"detail", node.detail},
                    {"kind", CodeOf(node.kind)},
                    {"range", Range(node.whole)},
                    {"selectionRange", Range(node.name_span)},
                    {"children", Outline(node.children)}});
  }
  return list;
}

Json Encoder::Fold(const lsp::Fold& fold) {
  const LineIndex& lines = Lines(fold.span.file);
  Json json{{"startLine", lines.At(fold.span.begin, encoding_).line},
            {"endLine", lines.At(fold.span.end, encoding_).line}};
  if (fold.is_comment) json["kind"] = "comment";
  return json;
}

Json Encoder::Proposals(const std::vector<Proposal>& proposals, source::Span word) {
  Json items = Json::array();
  for (const Proposal& proposal : proposals) {
    Json item{{"label", proposal.text},
              {"kind", CodeOf(proposal.kind)},
              {"sortText", fmt::format("{:05}", items.size())},
              {"textEdit", {{"range", Range(word)}, {"newText", proposal.text}}}};
    if (!proposal.detail.empty()) item["detail"] = proposal.detail;
    if (!proposal.doc.empty()) {
      item["documentation"] = {{"kind", "markdown"}, {"value", proposal.doc}};
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace curfew::lsp
