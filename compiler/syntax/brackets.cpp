#include "compiler/syntax/brackets.h"

#include <optional>

namespace curfew::syntax {

namespace {

bool IsOpening(char c) { return c == '{' || c == '[' || c == '('; }
bool IsClosing(char c) { return c == '}' || c == ']' || c == ')'; }
char ClosingOf(char c) { return c == '{' ? '}' : c == '[' ? ']' : ')'; }

// How far the line of a token is indented, in bytes.
std::size_t IndentOf(const TokenList& list, const Token& token) {
  std::size_t line = token.begin;
  while (line > 0 && list.text[line - 1] != '\n') --line;
  const std::size_t word = list.text.find_first_not_of(" \t", line);
  return word - line;
}

class BracketCheck {
 public:
  BracketCheck(TokenList& list, bool silent, diagnostics::Sink& sink)
      : list_(list), silent_(silent), sink_(sink) {}

  void Run() {
    list_.parsable = list_.tokens.size();
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      if (list_.tokens[i].kind != TokenKind::Punctuation) continue;
      const char c = CharOf(i);
      if (IsOpening(c)) {
        open_.push_back(i);
        if (open_.size() > limits::NestingMax) return TooDeep(i);
      } else if (IsClosing(c) && !Close(i)) {
        return;
      }
    }
    if (!open_.empty()) Unclosed(suspect_opening_.value_or(open_.back()));
  }

 private:
  [[nodiscard]] char CharOf(std::size_t i) const { return list_.text[list_.tokens[i].begin]; }
  [[nodiscard]] std::string_view TextOf(std::size_t i) const {
    return list_.TextOf(list_.tokens[i]);
  }
  [[nodiscard]] source::Span SpanOf(std::size_t i) const { return list_.SpanOf(list_.tokens[i]); }

  bool Close(std::size_t i) {
    if (open_.empty()) {
      Stray(suspect_closing_.value_or(i));
      return false;
    }
    const std::size_t opening = open_.back();
    if (ClosingOf(CharOf(opening)) != CharOf(i)) {
      Mismatched(opening, i);
      return false;
    }
    open_.pop_back();
    if (CharOf(i) == '}' && list_.tokens[i].starts_line) Suspect(opening, i);
    return true;
  }

  // Where braces do not add up, the first pair whose lines are indented differently says which one
  // is missing, or is too many.
  void Suspect(std::size_t opening, std::size_t closing) {
    const std::size_t a = IndentOf(list_, list_.tokens[opening]);
    const std::size_t b = IndentOf(list_, list_.tokens[closing]);
    if (b < a && !suspect_opening_) suspect_opening_ = opening;
    if (b > a && !suspect_closing_) suspect_closing_ = closing;
  }

  void Unclosed(std::size_t i) {
    if (!silent_) sink_.Report(SpanOf(i), diag::UnclosedBracket, TextOf(i));
    CutBefore(i);
  }
  void Stray(std::size_t i) {
    if (!silent_) sink_.Report(SpanOf(i), diag::StrayBracket, TextOf(i)).Fix(SpanOf(i), "");
    CutBefore(i);
  }
  void Mismatched(std::size_t opening, std::size_t closing) {
    if (!silent_) {
      sink_.Report(SpanOf(closing), diag::MismatchedBracket, TextOf(opening), TextOf(closing))
          .Note(SpanOf(opening), diag::OpenedHere, TextOf(opening));
    }
    CutBefore(opening);
  }
  void TooDeep(std::size_t i) {
    if (!silent_) {
      sink_.Report(SpanOf(i), diag::TooDeep, static_cast<std::int64_t>(limits::NestingMax));
    }
    CutBefore(i);
  }

  // What stands before the declaration of token `i` can still be judged: a declaration begins with
  // a word in the first column.
  void CutBefore(std::size_t i) {
    const auto begins = [&](const Token& token) {
      return token.kind == TokenKind::Word &&
             (token.begin == 0 || list_.text[token.begin - 1] == '\n');
    };
    while (i > 0 && !begins(list_.tokens[i])) --i;
    list_.parsable = i;
  }

  TokenList& list_;
  bool silent_;
  diagnostics::Sink& sink_;
  std::vector<std::size_t> open_;
  std::optional<std::size_t> suspect_opening_;
  std::optional<std::size_t> suspect_closing_;
};

}  // namespace

void CheckBrackets(TokenList& list, bool silent, diagnostics::Sink& sink) {
  BracketCheck(list, silent, sink).Run();
}

}  // namespace curfew::syntax
