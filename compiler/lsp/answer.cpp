#include "compiler/lsp/answer.h"

#include "compiler/diagnostics/help.h"
#include "compiler/lsp/hover.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"

#include <algorithm>
#include <iterator>

namespace curfew::lsp {
namespace {

using source::Span;

Result<std::uint32_t> OffsetOf(const Question& question) {
  CURFEW_TRY(const Position position, PositionOf(question.params.Find("position")));
  return question.encoder.Offset(question.file, position);
}

Result<Json> AnswerHover(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const Workspace::Set& set = question.set;
  const auto hover = HoverAt(set.analysis, set.index, set.vocabulary, question.file, offset);
  if (!hover) return Json();
  return Json{{"contents", {{"kind", "markdown"}, {"value", hover->markdown}}},
              {"range", question.encoder.Range(hover->token)}};
}

Result<Json> AnswerCompletion(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const Workspace::Set& set = question.set;
  const Completion completion = Complete(set.analysis.sources.text(question.file), offset,
                                         set.index, set.vocabulary, set.known_ids);
  return question.encoder.Proposals(completion.proposals,
                                    {question.file, completion.word_begin, offset});
}

Result<Json> AnswerDefinition(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const Index& index = question.set.index;
  if (const FileLink* link = index.LinkAt(question.file, offset)) {
    return question.encoder.Location({link->target, 0, 0});
  }
  const Reference* reference = index.ReferenceAt(question.file, offset);
  if (reference == nullptr) return Json();
  return question.encoder.Location(index.symbols[reference->symbol].declared);
}

Result<Json> AnswerReferences(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const Index& index = question.set.index;
  const Reference* at = index.ReferenceAt(question.file, offset);
  if (at == nullptr) return Json();
  const JsonValue* context = question.params.Find("context");
  const JsonValue* wanted = context == nullptr ? nullptr : context->Find("includeDeclaration");
  const bool declaration = wanted == nullptr || wanted->boolean;
  Json list = Json::array();
  for (const Span span : PlacesOf(index, question.file, offset)) {
    if (declaration || span != index.symbols[at->symbol].declared) {
      list.push_back(question.encoder.Location(span));
    }
  }
  return list;
}

Result<Json> AnswerHighlight(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  Json list = Json::array();
  for (const Span span : PlacesOf(question.set.index, question.file, offset)) {
    if (span.file == question.file) list.push_back({{"range", question.encoder.Range(span)}});
  }
  return list;
}

Result<Json> AnswerPrepareRename(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const Index& index = question.set.index;
  const Reference* reference = index.ReferenceAt(question.file, offset);
  if (reference == nullptr) return Json();
  return Json{{"range", question.encoder.Range(reference->span)},
              {"placeholder", index.symbols[reference->symbol].name}};
}

Result<Json> AnswerRename(const Question& question) {
  CURFEW_TRY(const std::uint32_t offset, OffsetOf(question));
  const JsonValue* name = question.params.Find("newName");
  if (name == nullptr || !name->is(JsonValue::Kind::String)) {
    return Failure(FailureCode::Malformed, "the parameters lack `newName`");
  }
  const Workspace::Set& set = question.set;
  CURFEW_TRY(const std::vector<Edit> edits,
             Rename(set.analysis, set.place, question.documents.overlay(), set.index, question.file,
                    offset, name->text));
  return question.encoder.WorkspaceEdit(edits);
}

// One edit: what both texts begin and end with, in whole lines, stays.
std::vector<Edit> Difference(source::FileId file, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const std::size_t most = std::min(before.size(), after.size());
  std::size_t head = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(most),
                    after.begin())
          .first -
      before.begin());
  while (head > 0 && before[head - 1] != '\n') --head;
  std::size_t tail = 0;
  while (tail < most - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  while (tail > 0 && before[before.size() - tail - 1] != '\n') --tail;
  return {
      {{file, static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(before.size() - tail)},
       std::string(after.substr(head, after.size() - tail - head))}};
}

Result<Json> AnswerFormatting(const Question& question) {
  diagnostics::Sink mistakes;
  const source::SourceMap& sources = question.set.analysis.sources;
  const syntax::TokenList tokens = syntax::Lex(sources, question.file, mistakes);
  const syntax::Ast tree = syntax::Parse(tokens, mistakes);
  // What cannot be read is left as it is.
  if (mistakes.has_errors()) return Json();
  Json list = Json::array();
  for (const Edit& edit :
       Difference(question.file, sources.text(question.file), syntax::Format(tokens, tree))) {
    list.push_back({{"range", question.encoder.Range(edit.span)}, {"newText", edit.text}});
  }
  return list;
}

Result<Json> AnswerCodeAction(const Question& question) {
  const JsonValue* range = question.params.Find("range");
  if (range == nullptr) return Failure(FailureCode::Malformed, "the parameters lack `range`");
  CURFEW_TRY(const Position start, PositionOf(range->Find("start")));
  CURFEW_TRY(const Position end, PositionOf(range->Find("end")));
  const std::uint32_t from = question.encoder.Offset(question.file, start);
  const std::uint32_t to = question.encoder.Offset(question.file, end);
  Json list = Json::array();
  for (const auto& diagnostic : question.set.findings.Sorted()) {
    const Span span = diagnostic.span;
    const bool meets = span.file == question.file && span.begin <= to && from <= span.end;
    if (!meets || diagnostic.fixes.empty()) continue;
    std::vector<Edit> edits;
    std::string title;
    for (const diagnostics::Fix& fix : diagnostic.fixes) {
      title += (title.empty() ? "" : "; ") + HelpOf(fix, question.set.analysis.sources);
      edits.push_back({fix.span, fix.replacement});
    }
    if (title.front() >= 'a' && title.front() <= 'z') {
      title.front() = static_cast<char>(title.front() - 'a' + 'A');
    }
    list.push_back({{"title", title},
                    {"kind", "quickfix"},
                    {"isPreferred", true},
                    {"diagnostics", Json::array({question.encoder.Diagnostic(diagnostic, span)})},
                    {"edit", question.encoder.WorkspaceEdit(edits)}});
  }
  return list;
}

Result<Json> AnswerOutline(const Question& question) {
  const Analysis& analysis = question.set.analysis;
  const syntax::Ast* tree = analysis.TreeOf(question.file);
  if (tree == nullptr) return Json::array();
  return question.encoder.Outline(OutlineOf(*tree, analysis.sources));
}

Result<Json> AnswerFolding(const Question& question) {
  Json list = Json::array();
  for (const Fold& fold : FoldsOf(question.set.analysis.sources, question.file)) {
    list.push_back(question.encoder.Fold(fold));
  }
  return list;
}

struct Method {
  std::string_view name;
  Answering answer;
};
constexpr Method Methods[] = {
    {"textDocument/codeAction", AnswerCodeAction},
    {"textDocument/completion", AnswerCompletion},
    {"textDocument/definition", AnswerDefinition},
    {"textDocument/documentHighlight", AnswerHighlight},
    {"textDocument/documentSymbol", AnswerOutline},
    {"textDocument/foldingRange", AnswerFolding},
    {"textDocument/formatting", AnswerFormatting},
    {"textDocument/hover", AnswerHover},
    {"textDocument/prepareRename", AnswerPrepareRename},
    {"textDocument/references", AnswerReferences},
    {"textDocument/rename", AnswerRename},
};

}  // namespace

Answering AnsweringOf(std::string_view method) {
  const auto* found = std::find_if(std::begin(Methods), std::end(Methods),
                                   [&](const Method& known) { return known.name == method; });
  return found == std::end(Methods) ? nullptr : found->answer;
}

Json ServerCapabilities(Encoding encoding) {
  return {
      {"positionEncoding", encoding == Encoding::Utf8 ? "utf-8" : "utf-16"},
      {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", true}}},
      {"hoverProvider", true},
      {"completionProvider", {{"triggerCharacters", Json::array({".", ":"})}}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"foldingRangeProvider", true},
      {"documentFormattingProvider", true},
      {"codeActionProvider", {{"codeActionKinds", Json::array({"quickfix"})}}},
      {"renameProvider", {{"prepareProvider", true}}},
      {"workspace", {{"workspaceFolders", {{"supported", true}, {"changeNotifications", true}}}}}};
}

std::map<std::string, Json> DiagnosticsOf(const Workspace::Set& set, const Documents& documents,
                                          Encoding encoding, const Document& fallback) {
  std::map<std::string, Json> by_uri;
  const Analysis& analysis = set.analysis;
  if (analysis.failure) {
    const Json start{{"line", 0}, {"character", 0}};
    by_uri[fallback.uri].push_back({{"range", {{"start", start}, {"end", start}}},
                                    {"severity", 1},
                                    {"source", "curfew"},
                                    {"message", analysis.failure->message}});
    return by_uri;
  }
  Encoder encoder(analysis, documents, encoding);
  const source::FileId home = analysis.FileAt(fallback.path).value_or(0);
  for (const auto& diagnostic : set.findings.Sorted()) {
    const Span span = diagnostic.span.is_nowhere() ? Span{home, 0, 0} : diagnostic.span;
    by_uri[encoder.Uri(span.file)].push_back(encoder.Diagnostic(diagnostic, span));
  }
  return by_uri;
}

}  // namespace curfew::lsp
