#include "compiler/syntax/brackets.h"

#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/block_form.h"
#include "compiler/syntax/bracket_repair.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace curfew::syntax {

namespace {

using diagnostics::Sink;
using Kind = BracketEdit::Kind;

// The first mistake of some tokens.
struct Fault {
  enum class Kind { Unclosed, Stray, Mismatched, TooDeep };
  Kind kind = Kind::Unclosed;
  std::size_t token = 0;
  std::size_t opening = 0;  // of Mismatched
};

class BracketCheck {
 public:
  BracketCheck(TokenList& list, Sink& sink) : list_(list), sink_(sink) {}

  void Run() {
    if (!FaultOf({0, list_.tokens.size()})) return;
    bool is_read = true;
    for (const TokenRange& declaration : Declarations()) {
      const auto fault = FaultOf(declaration);
      if (!fault && is_read) continue;
      if (fault && is_read && fault->kind != Fault::Kind::TooDeep) {
        if (const auto edits = RepairBrackets(list_, declaration)) {
          edits_.insert(edits_.end(), edits->begin(), edits->end());
          continue;
        }
      }
      Skip(declaration);
      if (!fault || !is_read) continue;
      if (!HasOpenString(declaration)) Report(*fault);
      // Behind a block that is not indented nobody knows where a declaration begins.
      is_read = IsIndented(declaration);
    }
    for (std::size_t i = 0; i < edits_.size(); ++i) ReportEdit(i);
    Apply();
  }

 private:
  [[nodiscard]] char CharOf(std::size_t i) const { return list_.text[list_.tokens[i].begin]; }
  [[nodiscard]] std::string_view TextOf(std::size_t i) const {
    return list_.TextOf(list_.tokens[i]);
  }
  [[nodiscard]] source::Span SpanOf(std::size_t i) const { return list_.SpanOf(list_.tokens[i]); }

  [[nodiscard]] std::optional<Fault> FaultOf(TokenRange range) const {
    std::vector<std::size_t> open;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (list_.tokens[i].kind != TokenKind::Punctuation) continue;
      const char c = CharOf(i);
      if (IsOpening(c)) {
        open.push_back(i);
        if (open.size() > limits::NestingMax) return Fault{Fault::Kind::TooDeep, i};
      } else if (IsClosing(c)) {
        if (open.empty()) return Fault{Fault::Kind::Stray, i};
        if (ClosingOf(CharOf(open.back())) != c) {
          return Fault{Fault::Kind::Mismatched, i, open.back()};
        }
        open.pop_back();
      }
    }
    if (open.empty()) return std::nullopt;
    return Fault{Fault::Kind::Unclosed, open.back()};
  }

  // A declaration begins with one of its words in the first column.
  [[nodiscard]] std::vector<TokenRange> Declarations() const {
    std::vector<TokenRange> all{{0, list_.tokens.size()}};
    for (std::size_t i = 1; i < list_.tokens.size(); ++i) {
      if (!BeginsDeclaration(i)) continue;
      all.back().end = i;
      all.push_back({i, list_.tokens.size()});
    }
    return all;
  }
  [[nodiscard]] bool BeginsDeclaration(std::size_t i) const {
    const Token& token = list_.tokens[i];
    if (token.kind != TokenKind::Word || list_.text[token.begin - 1] != '\n') return false;
    const auto words = WordsOf(Block::File);
    const bool is_word = std::find(words.begin(), words.end(), TextOf(i)) != words.end();
    const std::string_view next = i + 1 < list_.tokens.size() ? TextOf(i + 1) : "";
    return next == ":" || (is_word && next != "{");
  }

  // A string that swallowed the rest of its line may have swallowed a bracket.
  [[nodiscard]] bool HasOpenString(TokenRange range) const {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Token& token = list_.tokens[i];
      if (token.kind != TokenKind::String || !token.reported) continue;
      const std::string_view text = list_.TextOf(token);
      if (!text.ends_with('"') || text.ends_with("\\\"")) return true;
    }
    return false;
  }
  [[nodiscard]] bool IsIndented(TokenRange range) const {
    for (std::size_t i = range.begin + 1; i < range.end; ++i) {
      const Token& token = list_.tokens[i];
      if (token.starts_line && token.kind == TokenKind::Word) {
        return IndentOf(list_, token) > 0;
      }
    }
    return true;
  }

  void Skip(TokenRange range) {
    list_.is_whole = false;
    for (std::size_t i = range.begin; i < range.end; ++i) list_.tokens[i].skipped = true;
  }

  void Report(const Fault& fault) {
    const source::Span span = SpanOf(fault.token);
    switch (fault.kind) {
      case Fault::Kind::Unclosed:
        sink_.Report(span, diag::UnclosedBracket, TextOf(fault.token));
        return;
      case Fault::Kind::Stray:
        sink_.Report(span, diag::StrayBracket, TextOf(fault.token));
        return;
      case Fault::Kind::Mismatched:
        ReportMismatched(fault.token, fault.opening);
        return;
      case Fault::Kind::TooDeep:
        sink_.Report(span, diag::TooDeep, static_cast<std::int64_t>(limits::NestingMax));
        return;
    }
  }
  diagnostics::Draft ReportMismatched(std::size_t closing, std::size_t opening) {
    return sink_.Report(SpanOf(closing), diag::MismatchedBracket, TextOf(opening), TextOf(closing))
        .Note(SpanOf(opening), diag::OpenedHere, TextOf(opening));
  }

  // ---- Edits

  void ReportEdit(std::size_t i) {
    const BracketEdit& edit = edits_[i];
    if (IsOfOpenString(edit)) return;
    const source::Span span = SpanOf(edit.token);
    switch (edit.kind) {
      case Kind::AddOpening: {
        const std::string bracket(1, edit.bracket);
        const std::size_t next = NextSeen(edit.token);
        sink_
            .Report(source::Behind(span), diag::ExpectedAfter, "`" + bracket + "`",
                    std::string(TextOf(edit.token)), "`" + std::string(TextOf(next)) + "`")
            .Fix(source::Behind(span), " " + bracket);
        return;
      }
      case Kind::AddClosing:
        ReportUnclosed(i);
        return;
      case Kind::Drop:
        sink_.Report(span, diag::StrayBracket, TextOf(edit.token)).Fix(span, "");
        return;
      case Kind::Replace:
        ReportMismatched(edit.token, edit.partner).Fix(span, std::string(1, edit.bracket));
        return;
      case Kind::LeaveBroken:
        if (IsOpening(edit.bracket)) {
          sink_.Report(span, diag::UnclosedBracket, TextOf(edit.token));
        } else {
          sink_.Report(span, diag::StrayBracket, TextOf(edit.token));
        }
        return;
    }
  }

  // Brackets that all end at one place (the text was cut off there) are one mistake, of the
  // innermost.
  void ReportUnclosed(std::size_t i) {
    const auto ends_at = [&](std::size_t j) {
      return j < edits_.size() && edits_[j].kind == Kind::AddClosing &&
             edits_[j].token == edits_[i].token;
    };
    if (i > 0 && ends_at(i - 1)) return;
    std::string closing;
    for (std::size_t j = i; ends_at(j); ++j) {
      const Token& opening = list_.tokens[edits_[j].partner];
      if (edits_[j].bracket == '}' && EndsLine(edits_[j].partner)) {
        closing += "\n" + std::string(IndentOf(list_, opening), ' ');
      } else if (edits_[j].bracket == '}') {
        closing += " ";
      }
      closing += edits_[j].bracket;
    }
    const std::size_t opening = edits_[i].partner;
    const bool first_is_block = edits_[i].bracket == '}' && EndsLine(opening);
    const std::size_t last = first_is_block ? LastOfLine(edits_[i].token) : edits_[i].token;
    sink_.Report(SpanOf(opening), diag::UnclosedBracket, TextOf(opening))
        .Fix(source::Behind(SpanOf(last)), closing);
  }

  // Whether a string without an end may have swallowed what is missing.
  [[nodiscard]] bool IsOfOpenString(const BracketEdit& edit) const {
    if (edit.kind != Kind::AddClosing) return false;
    const auto [begin, end] = std::minmax(edit.token, edit.partner);
    return HasOpenString({begin, end + 1});
  }
  [[nodiscard]] static bool IsComment(const Token& token) {
    return token.kind == TokenKind::Comment || token.kind == TokenKind::Doc;
  }
  [[nodiscard]] std::size_t NextSeen(std::size_t i) const {
    ++i;
    while (i + 1 < list_.tokens.size() && IsComment(list_.tokens[i])) ++i;
    return i;
  }
  [[nodiscard]] bool EndsLine(std::size_t i) const {
    return i + 1 >= list_.tokens.size() || list_.tokens[i + 1].starts_line ||
           IsComment(list_.tokens[i + 1]);
  }
  // With the comment behind it.
  [[nodiscard]] std::size_t LastOfLine(std::size_t i) const {
    const bool has_comment = i + 1 < list_.tokens.size() && IsComment(list_.tokens[i + 1]) &&
                             !list_.tokens[i + 1].starts_line;
    return has_comment ? i + 1 : i;
  }

  // The tokens as they would be without the mistakes.
  void Apply() {
    // Behind each token, in the order in which they close.
    std::vector<std::pair<std::size_t, Token>> added;
    for (const BracketEdit& edit : edits_) {
      Token& token = list_.tokens[edit.token];
      switch (edit.kind) {
        case Kind::AddOpening:
        case Kind::AddClosing:
          added.emplace_back(edit.token, AddedBracket(edit.bracket, token.end));
          break;
        case Kind::Drop:
          token.skipped = true;
          break;
        case Kind::Replace:
          token.skipped = true;
          added.emplace_back(edit.token, AddedBracket(edit.bracket, token.end));
          break;
        case Kind::LeaveBroken:
          // Its statement cannot be read, and no bracket is looked for on its behalf.
          token.kind = TokenKind::Invalid;
          token.reported = true;
          break;
      }
    }
    if (added.empty()) return;
    std::stable_sort(added.begin(), added.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Token> tokens;
    tokens.reserve(list_.tokens.size() + added.size());
    auto next = added.begin();
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      tokens.push_back(list_.tokens[i]);
      for (; next != added.end() && next->first == i; ++next) tokens.push_back(next->second);
    }
    list_.tokens = std::move(tokens);
  }

  TokenList& list_;
  Sink& sink_;
  std::vector<BracketEdit> edits_;
};

}  // namespace

void CheckBrackets(TokenList& list, Sink& sink) { BracketCheck(list, sink).Run(); }

}  // namespace curfew::syntax
