#include "compiler/lsp/documents.h"

#include "compiler/base/limits.h"
#include "compiler/lsp/analysis.h"
#include "compiler/lsp/uri.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using Kind = JsonValue::Kind;

Failure Misfit(std::string_view what) {
  return {FailureCode::Malformed, fmt::format("the parameters lack {}", what)};
}

Result<std::string> TextOf(const JsonValue* value, std::string_view what) {
  if (value == nullptr || !value->is(Kind::String)) return Misfit(what);
  return value->text;
}

Result<std::uint32_t> CountOf(const JsonValue* value, std::string_view what) {
  if (value == nullptr || !value->is(Kind::Integer) || value->integer < 0) return Misfit(what);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(value->integer, INT32_MAX));
}

Outcome Replace(std::string& text, const JsonValue& change, Encoding encoding) {
  CURFEW_TRY(const std::string with, TextOf(change.Find("text"), "the text of a change"));
  const JsonValue* range = change.Find("range");
  if (range == nullptr) {
    text = with;
    return Ok();
  }
  CURFEW_TRY(const Position start, PositionOf(range->Find("start")));
  CURFEW_TRY(const Position end, PositionOf(range->Find("end")));
  const LineIndex lines(text);
  const std::uint32_t from = lines.OffsetOf(start, encoding);
  const std::uint32_t to = std::max(from, lines.OffsetOf(end, encoding));
  text.replace(from, to - from, with);
  return Ok();
}

}  // namespace

Result<std::string> UriOf(const JsonValue& params) {
  const JsonValue* document = params.Find("textDocument");
  if (document == nullptr) return Misfit("`textDocument`");
  return TextOf(document->Find("uri"), "`textDocument.uri`");
}

Result<Position> PositionOf(const JsonValue* value) {
  if (value == nullptr) return Misfit("a position");
  Position position;
  CURFEW_TRY(position.line, CountOf(value->Find("line"), "a line"));
  CURFEW_TRY(position.character, CountOf(value->Find("character"), "a character"));
  return position;
}

Result<std::string> Documents::Open(const JsonValue& params) {
  Document document;
  CURFEW_TRY(document.uri, UriOf(params));
  const JsonValue& item = *params.Find("textDocument");
  CURFEW_TRY(document.text, TextOf(item.Find("text"), "`textDocument.text`"));
  const bool is_known = by_uri_.contains(document.uri);
  if (!is_known && by_uri_.size() >= limits::SetFilesMax) {
    return Failure(FailureCode::TooLarge,
                   fmt::format("more than {} open documents", limits::SetFilesMax));
  }
  const JsonValue* version = item.Find("version");
  if (version != nullptr && version->is(Kind::Integer)) document.version = version->integer;
  const auto path = PathOfUri(document.uri);
  document.is_path = path.has_value();
  document.path = path ? WithoutLinks(*path) : document.uri;
  const JsonValue* language = item.Find("languageId");
  const bool says_so = language != nullptr && language->text == "curfew";
  document.is_policy = says_so || !path || document.path.ends_with(".curfew");
  overlay_[document.path] = document.text;
  std::string result = document.path;
  by_uri_[document.uri] = std::move(document);
  return result;
}

Result<std::string> Documents::Change(const JsonValue& params, Encoding encoding) {
  CURFEW_TRY(const std::string uri, UriOf(params));
  const auto found = by_uri_.find(uri);
  if (found == by_uri_.end()) return Failure(FailureCode::NotFound, "the document is not open");
  const JsonValue* changes = params.Find("contentChanges");
  if (changes == nullptr || !changes->is(Kind::Array)) return Misfit("`contentChanges`");
  Document& document = found->second;
  std::string text = document.text;
  for (const JsonValue& change : changes->items) {
    CURFEW_TRY_VOID(Replace(text, change, encoding));
    if (text.size() > limits::FileBytesMax) {
      return Failure(FailureCode::TooLarge, "the document is larger than a policy file may be");
    }
  }
  const JsonValue* version = params.Find("textDocument")->Find("version");
  if (version != nullptr && version->is(Kind::Integer)) document.version = version->integer;
  document.text = std::move(text);
  overlay_[document.path] = document.text;
  return document.path;
}

Result<std::string> Documents::Close(const JsonValue& params) {
  CURFEW_TRY(const std::string uri, UriOf(params));
  const auto found = by_uri_.find(uri);
  if (found == by_uri_.end()) return Failure(FailureCode::NotFound, "the document is not open");
  const std::string path = found->second.path;
  by_uri_.erase(found);
  overlay_.erase(path);
  return path;
}

const Document* Documents::Find(std::string_view uri) const {
  const auto found = by_uri_.find(uri);
  return found == by_uri_.end() ? nullptr : &found->second;
}

const Document* Documents::AtPath(std::string_view path) const {
  const auto found = std::find_if(by_uri_.begin(), by_uri_.end(),
                                  [&](const auto& entry) { return entry.second.path == path; });
  return found == by_uri_.end() ? nullptr : &found->second;
}

}  // namespace curfew::lsp
