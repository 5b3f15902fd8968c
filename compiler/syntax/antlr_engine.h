// What ANTLR does for us, without ANTLR's header: text to raw tokens, and one piece of the grammar
// at a time to a tree. Blocks, recovery and messages are parse.cpp's; the tree's meaning is
// antlr_tree.h's.
#pragma once

#include "compiler/syntax/token_list.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace antlr4 {
class ParserRuleContext;
}

namespace curfew::syntax {

// Every token of `text`, comments too, not yet judged. Linear.
std::vector<Token> Tokenize(std::string_view text);

// A bracket that the text lacks before byte `at`.
Token AddedBracket(char bracket, std::uint32_t at);

// The rules of the grammar that are parsed on their own.
enum class Piece {
  Header,
  AttributesHead,
  Attribute,
  ImageHead,
  ImageField,
  SecretHead,
  SecretField,
  List,
  SandboxHead,
  PlaneHead,
  ImageStatement,
  IdentityStatement,
  FilesystemStatement,
  KeepHead,
  KeepItem,
  NetworkStatement,
  LifetimeStatement,
  EvidenceStatement,
  Rule,
  TestHead,
  TestStep,
};

// The tokens that the parser sees: those of a list without comments and what
// is skipped. A position counts these.
class TokenSequence {
 public:
  // `list` outlives this.
  explicit TokenSequence(const TokenList& list);

  [[nodiscard]] std::size_t size() const { return indexes_.size(); }
  [[nodiscard]] const Token& operator[](std::size_t position) const {
    return list_->tokens[indexes_[position]];
  }
  // The place in the list, for comments around a token.
  [[nodiscard]] std::size_t index(std::size_t position) const { return indexes_[position]; }
  [[nodiscard]] const TokenList& list() const { return *list_; }
  // Empty, and an empty span at the end of the file, at size().
  [[nodiscard]] std::string_view text(std::size_t position) const;
  [[nodiscard]] source::Span span(std::size_t position) const;

 private:
  const TokenList* list_;
  std::vector<std::uint32_t> indexes_;
};

// A token that would have fitted: the word or sign itself, or no word where any of a kind would do;
// and the innermost rule of the grammar that wants it.
struct Expected {
  std::string word;
  std::string_view rule;
};

// How far the grammar can follow a piece, and what it wants there.
struct Expectation {
  std::size_t position = 0;  // of the token that does not fit; size() at the end
  std::vector<Expected> expected;
  bool can_end = false;  // the piece is whole without it
};

struct ParsedPiece {
  antlr4::ParserRuleContext* tree = nullptr;  // lives until the next Parse
  std::size_t next = 0;                       // the position behind
};

class PieceParser {
 public:
  // `tokens` outlives this.
  explicit PieceParser(const TokenSequence& tokens);
  ~PieceParser();
  PieceParser(const PieceParser&) = delete;
  PieceParser& operator=(const PieceParser&) = delete;

  // Nothing when the piece has a mistake, which Explain finds, or more tokens than
  // limits::StatementTokensMax: ANTLR's tree of a piece takes about a kilobyte for each.
  std::optional<ParsedPiece> Parse(Piece piece, std::size_t position);
  // Whether the last Parse ended at that limit: nothing behind it was looked at, and reading all of
  // it again would only cost time.
  [[nodiscard]] bool was_too_long() const;

  // Follows the piece that begins at `position`, at most up to `limit`.
  [[nodiscard]] Expectation Explain(Piece piece, std::size_t position, std::size_t limit) const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace curfew::syntax
