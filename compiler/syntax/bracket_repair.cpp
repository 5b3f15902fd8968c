#include "compiler/syntax/bracket_repair.h"

#include "compiler/base/limits.h"
#include "compiler/syntax/block_form.h"

#include <algorithm>
#include <cstdlib>

namespace curfew::syntax {

namespace {

using Kind = BracketEdit::Kind;

// Words that a block's head begins with.
bool BeginsHead(std::string_view word) {
  return word == "attributes" || word == "secret" || word == "sandbox" || word == "every" ||
         word == "test" || word == "persist" || word == "snapshot" || IsPlaneName(word);
}

class Repair {
 public:
  Repair(const TokenList& list, TokenRange range) : list_(list) {
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const TokenKind kind = list.tokens[i].kind;
      if (kind != TokenKind::Comment && kind != TokenKind::Doc) seen_.push_back(i);
    }
  }

  std::optional<std::vector<BracketEdit>> Run() {
    for (at_ = 0; at_ < seen_.size(); ++at_) {
      if (at_ == 0 || Tok(at_).starts_line) BeginLine();
      if (Tok(at_).kind != TokenKind::Punctuation) continue;
      const char c = CharOf(at_);
      if (IsOpening(c)) {
        Open(c);
      } else if (IsClosing(c)) {
        Close(c);
      }
      // A declaration with that many mistakes is no declaration.
      if (is_untold_ || edits_.size() > limits::NestingMax) return std::nullopt;
    }
    CloseAll();
    if (edits_.size() > std::max<std::size_t>(Missing(), 2)) return std::nullopt;
    return std::move(edits_);
  }

 private:
  // Places count the tokens that are no comments.
  struct Opened {
    std::size_t place;
    char bracket;
    std::size_t indent;  // of its line
  };
  // A line whose next line is indented deeper though it opens nothing.
  struct Head {
    std::size_t last;  // its last token
    std::size_t indent;
  };

  [[nodiscard]] const Token& Tok(std::size_t place) const { return list_.tokens[seen_[place]]; }
  [[nodiscard]] std::string_view Text(std::size_t place) const {
    return place < seen_.size() ? list_.TextOf(Tok(place)) : std::string_view();
  }
  [[nodiscard]] char CharOf(std::size_t place) const { return list_.text[Tok(place).begin]; }
  [[nodiscard]] bool StartsLine(std::size_t place) const {
    return place >= seen_.size() || Tok(place).starts_line;
  }
  [[nodiscard]] bool Closes(std::size_t place, char bracket) const {
    return place < seen_.size() && Tok(place).kind == TokenKind::Punctuation &&
           CharOf(place) == ClosingOf(bracket);
  }

  void Edit(Kind kind, std::size_t place, std::size_t partner, char bracket) {
    edits_.push_back({kind, seen_[place], seen_[partner], bracket});
  }

  // ---- Lines

  void BeginLine() {
    const std::size_t indent = IndentOf(list_, Tok(at_));
    const bool opened_above = !open_.empty() && open_.back().place >= line_;
    if (at_ > 0 && indent > indent_ && !opened_above && BeginsHead(Text(line_))) {
      heads_.push_back({at_ - 1, indent_});
    }
    line_ = at_;
    indent_ = indent;
    // What stands no deeper than a block's head is behind that block.
    while (!open_.empty() && indent <= open_.back().indent) {
      const Opened& top = open_.back();
      if (indent == top.indent && Closes(at_, top.bracket)) return;
      CloseBefore(at_);
    }
  }

  // The innermost bracket is not closed before `place`.
  void CloseBefore(std::size_t place) {
    const Opened top = open_.back();
    open_.pop_back();
    if (top.bracket == '(') {
      Edit(Kind::LeaveBroken, top.place, top.place, top.bracket);
    } else {
      const std::size_t last = top.bracket == '[' ? EndOfElements(top.place, place) : place - 1;
      Edit(Kind::AddClosing, last, top.place, ClosingOf(top.bracket));
    }
  }

  // The last element of the list that `place` opens, before `end`.
  [[nodiscard]] std::size_t EndOfElements(std::size_t place, std::size_t end) const {
    std::size_t last = place;
    while (last + 1 < end && Tok(last + 1).kind != TokenKind::Punctuation) {
      ++last;
      if (last + 1 >= end || Text(last + 1) != ",") return last;
      ++last;
    }
    return last;
  }

  void CloseAll() {
    while (!open_.empty()) CloseBefore(seen_.size());
  }

  // ---- Brackets

  void Open(char c) {
    const bool ends_line = StartsLine(at_ + 1);
    // Where a block is not indented nothing is told by indentation.
    if (c == '{' && ends_line && at_ + 1 < seen_.size() && !Closes(at_ + 1, c) &&
        IndentOf(list_, Tok(at_ + 1)) <= indent_) {
      is_untold_ = true;
    }
    if (open_.size() >= limits::NestingMax) is_untold_ = true;
    open_.push_back({at_, c, indent_});
  }

  void Close(char c) {
    if (c == '}' && CloseBlock()) return;
    while (!open_.empty() && ClosingOf(open_.back().bracket) != c) {
      // One further out is meant only if it stands on this line.
      const bool is_outer = std::any_of(open_.begin(), open_.end(), [&](const Opened& one) {
        return ClosingOf(one.bracket) == c && (c == '}' || one.place >= line_);
      });
      if (!is_outer) return CloseNothing(c);
      CloseBefore(at_);
    }
    if (open_.empty()) return CloseNothing(c);
    open_.pop_back();
  }

  // Whether the head of the block that ends here was found, and lacks its brace.
  bool CloseBlock() {
    if (Tok(at_).starts_line) {
      const bool is_of_top = !open_.empty() && open_.back().indent == indent_;
      if (is_of_top) return false;
      while (!heads_.empty() && !open_.empty() && heads_.back().last < open_.back().place) {
        heads_.pop_back();
      }
      while (!heads_.empty() && heads_.back().indent > indent_) heads_.pop_back();
      if (!heads_.empty() && heads_.back().indent == indent_) {
        Edit(Kind::AddOpening, heads_.back().last, at_, '{');
        heads_.pop_back();
        return true;
      }
      // It may only stand askew.
      if (!open_.empty() && !askew_) askew_ = at_;
      return false;
    }
    const bool opened_here = !open_.empty() && open_.back().place >= line_;
    if (opened_here) return false;
    const auto head = HeadOnLine();
    if (!head) {
      if (!askew_) askew_ = at_;
      return false;
    }
    Edit(Kind::AddOpening, *head, at_, '{');
    return true;
  }

  // The token of this line behind which a brace is missing: of a plane, a snapshot, or an object.
  [[nodiscard]] std::optional<std::size_t> HeadOnLine() const {
    const std::string_view first = Text(line_);
    for (std::size_t place = line_; place < at_; ++place) {
      if (Text(place) == "{") return std::nullopt;
    }
    if (first == "snapshot" || first == "given") return line_ + 1;
    if (IsPlaneName(first)) return line_;
    for (std::size_t place = at_; place > line_; --place) {
      if (Text(place) == "with") return place;
    }
    return std::nullopt;
  }

  void CloseNothing(char c) {
    // `["a", "b")`: its bracket stands on the line, and nothing else closes that.
    if (!open_.empty() && open_.back().place >= line_ && open_.back().bracket != '{') {
      Edit(Kind::Replace, at_, open_.back().place, ClosingOf(open_.back().bracket));
      open_.pop_back();
      return;
    }
    if (c == ')') {
      Edit(Kind::LeaveBroken, at_, at_, c);
      return;
    }
    if (c == ']') {
      if (const auto before = ListOnLine()) {
        Edit(Kind::AddOpening, *before, at_, '[');
        return;
      }
    }
    Edit(Kind::Drop, c == '}' && askew_ ? *askew_ : at_, at_, c);
  }

  // The token of this line behind which the bracket of a list is missing.
  [[nodiscard]] std::optional<std::size_t> ListOnLine() const {
    const std::string_view first = Text(line_);
    if (first == "hosts" || first == "addresses" || first == "digests" || first == "strings") {
      return line_ + 1;
    }
    for (std::size_t place = at_; place > line_; --place) {
      if (Text(place) == "in") return place;
    }
    return std::nullopt;
  }

  // How many brackets are without another half, whichever way they would pair.
  [[nodiscard]] std::size_t Missing() const {
    std::size_t missing = 0;
    for (const char bracket : {'{', '[', '('}) {
      int open = 0;
      for (std::size_t place = 0; place < seen_.size(); ++place) {
        if (Tok(place).kind != TokenKind::Punctuation) continue;
        if (CharOf(place) == bracket) ++open;
        if (CharOf(place) == ClosingOf(bracket)) --open;
      }
      missing += static_cast<std::size_t>(std::abs(open));
    }
    return missing;
  }

  const TokenList& list_;
  std::vector<std::size_t> seen_;  // the places' indexes in the list
  std::size_t at_ = 0;
  std::size_t line_ = 0;  // where the line of `at_` begins, and its indentation
  std::size_t indent_ = 0;
  std::vector<Opened> open_;
  std::vector<Head> heads_;
  std::optional<std::size_t> askew_;  // the first closing brace that its indentation places oddly
  std::vector<BracketEdit> edits_;
  bool is_untold_ = false;
};

}  // namespace

std::size_t IndentOf(const TokenList& list, const Token& token) {
  std::size_t line = token.begin;
  while (line > 0 && list.text[line - 1] != '\n') --line;
  const std::size_t word = list.text.find_first_not_of(" \t", line);
  return word - line;
}

std::optional<std::vector<BracketEdit>> RepairBrackets(const TokenList& list, TokenRange range) {
  return Repair(list, range).Run();
}

}  // namespace curfew::syntax
