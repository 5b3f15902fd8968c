#include "compiler/lint/suppression.h"

#include "compiler/syntax/token_list.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <charconv>

namespace curfew::lint {
namespace {

constexpr std::string_view kMark = "curfew:";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Words of one comment, from the left.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { SkipBlanks(); }

  [[nodiscard]] std::uint32_t at() const { return at_; }
  [[nodiscard]] bool is_done() const { return at_ == text_.size(); }
  std::string_view Next() {
    const std::uint32_t begin = at_;
    while (at_ < text_.size() && !IsBlank(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    SkipBlanks();
    return word;
  }
  // What is left, without blanks at its end.
  std::string_view Rest() {
    std::string_view rest = text_.substr(at_);
    while (!rest.empty() && (IsBlank(rest.back()) || rest.back() == '\r')) rest.remove_suffix(1);
    at_ = static_cast<std::uint32_t>(text_.size());
    return rest;
  }
  void SkipMarks() {
    while (at_ < text_.size() && text_[at_] == '#') ++at_;
    SkipBlanks();
  }

 private:
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  std::string_view text_;
  std::uint32_t at_ = 0;
};

std::optional<std::uint16_t> CodeOf(std::string_view name) {
  if (name.size() != 7 || !name.starts_with("CUR")) return std::nullopt;
  std::uint16_t code = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), code);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return code;
}

// From the first thing that is said behind `from` to the end of its line; or the line before a
// comment that stands behind something.
source::Span LineOf(const syntax::TokenList& tokens, std::size_t at) {
  const syntax::Token& comment = tokens.tokens[at];
  const auto ends_at = [&tokens](std::uint32_t begin) {
    const std::size_t end = tokens.text.find('\n', begin);
    return static_cast<std::uint32_t>(std::min(end, tokens.text.size()));
  };
  if (!comment.starts_line) {
    const std::size_t before = tokens.text.rfind('\n', comment.begin);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return {tokens.file, static_cast<std::uint32_t>(begin), comment.begin};
  }
  for (std::size_t next = at + 1; next < tokens.tokens.size(); ++next) {
    const syntax::Token& token = tokens.tokens[next];
    if (token.kind == syntax::TokenKind::Comment || token.kind == syntax::TokenKind::Doc) continue;
    return {tokens.file, token.begin, ends_at(token.begin)};
  }
  return {tokens.file, comment.end, comment.end};
}

// Whether it may stand; what is wrong is reported.
bool Judge(const Suppression& suppression, std::int64_t now_ms, diagnostics::Sink& sink) {
  const std::string name = diagnostics::CodeName(suppression.code);
  const diagnostics::RegistryEntry* entry = diagnostics::FindEntry(suppression.code);
  if (entry == nullptr) {
    sink.Report(suppression.code_span, diag::SuppressedCodeUnknown, name);
    return false;
  }
  if (entry->severity == diagnostics::Severity::Error) {
    sink.Report(suppression.code_span, diag::SuppressedError, name);
    return false;
  }
  if (suppression.until_ms <= now_ms) {
    sink.Report(suppression.comment, diag::SuppressionOver, name,
                values::TimeText(suppression.until_ms));
    return false;
  }
  if (suppression.until_ms - now_ms > SuppressionMsMax) {
    sink.Report(suppression.comment, diag::SuppressionTooLong, name,
                values::TimeText(suppression.until_ms));
  }
  return true;
}

}  // namespace

std::optional<ReadComment> ReadSuppression(std::string_view comment) {
  Words words(comment);
  words.SkipMarks();
  if (words.Next() != kMark) return std::nullopt;
  ReadComment read;
  const auto wrong = [&read](std::string what) {
    read.wrong = std::move(what);
    return read;
  };
  if (words.Next() != "allow") return wrong("does not say `allow`");
  Suppression suppression;
  suppression.code_span.begin = words.at();
  const std::string_view name = words.Next();
  suppression.code_span.end = suppression.code_span.begin + static_cast<std::uint32_t>(name.size());
  const auto code = CodeOf(name);
  if (!code) return wrong("names no code");
  suppression.code = *code;
  if (words.Next() != "until") return wrong("does not say `until` when");
  const auto until = values::ParseTime(words.Next());
  if (!until) return wrong("has no time of the form 2027-03-01T00:00:00Z");
  suppression.until_ms = *until;
  if (words.Next() != "because") return wrong("does not say `because` of what");
  const std::string_view quoted = words.Rest();
  const bool is_quoted = quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"';
  const std::string_view reason =
      is_quoted ? quoted.substr(1, quoted.size() - 2) : std::string_view();
  if (reason.find_first_not_of(" \t") == std::string_view::npos ||
      reason.find('"') != std::string_view::npos) {
    return wrong("has no reason in quotes at its end");
  }
  suppression.reason = reason;
  read.suppression = std::move(suppression);
  return read;
}

std::vector<Suppression> FindSuppressions(const source::SourceMap& sources, source::FileId file,
                                          std::int64_t now_ms, diagnostics::Sink& sink) {
  std::vector<Suppression> found;
  // Nearly every file has none, and is not read again for that.
  if (sources.text(file).find(kMark) == std::string_view::npos) return found;
  diagnostics::Sink known;  // the parser has said it all
  const syntax::TokenList tokens = syntax::Lex(sources, file, known);
  for (std::size_t i = 0; i < tokens.tokens.size(); ++i) {
    const syntax::Token& token = tokens.tokens[i];
    if (token.kind != syntax::TokenKind::Comment && token.kind != syntax::TokenKind::Doc) continue;
    auto read = ReadSuppression(tokens.TextOf(token));
    if (!read) continue;
    const source::Span span = tokens.SpanOf(token);
    if (!read->suppression) {
      sink.Report(span, diag::SuppressionMalformed, read->wrong);
      continue;
    }
    Suppression& suppression = *read->suppression;
    suppression.comment = span;
    suppression.code_span = {file, span.begin + suppression.code_span.begin,
                             span.begin + suppression.code_span.end};
    suppression.line = LineOf(tokens, i);
    if (Judge(suppression, now_ms, sink)) found.push_back(std::move(suppression));
  }
  return found;
}

}  // namespace curfew::lint
