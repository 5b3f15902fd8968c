// The first station of the compiler's line: text to tokens. Every byte of the file that is not
// white space belongs to exactly one token, comments included, so the formatter and tools that
// edit by token need nothing else. What the tokens mean together is parse.h's matter.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/source/source.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace curfew::syntax {

enum class TokenKind : std::uint8_t {
  Word,         // a name, a keyword or a dotted path
  Method,       // GET
  Quantity,     // 8080, 1h30m, 8GiB
  Time,         // 2026-11-29T00:00:00Z
  Digest,       // sha256:…
  String,       // with its quotes
  Punctuation,  // braces, operators, commas, the arrow
  Comment,      // # …
  Doc,          // ## …
  Invalid,      // what no token begins with; already reported
};

// `symbol` is the grammar's number for the token. Bytes [begin, end) of the list's file.
struct Token {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint16_t symbol = 0;
  TokenKind kind = TokenKind::Invalid;
  bool starts_line = false;  // nothing but white space stands before it on its line
  bool reported = false;     // its own mistake is in the sink: what follows from it is not reported
  bool skipped = false;      // a bracket too many, or near brackets that make no sense: not parsed
  char added = 0;            // the bracket that is missing here, of no width: reported, and parsed
};

// The tokens of one file, in order.
struct TokenList {
  source::FileId file = source::Span::Nowhere;
  std::string_view text;  // the whole file; owned by the SourceMap
  std::vector<Token> tokens;
  bool is_whole = true;  // false where declarations are not given to the parser, which is reported

  // Of a bracket that was added the text lies in the token.
  [[nodiscard]] std::string_view TextOf(const Token& token) const {
    if (token.added != 0) return {&token.added, 1};
    return text.substr(token.begin, token.end - token.begin);
  }
  [[nodiscard]] source::Span SpanOf(const Token& token) const {
    return {file, token.begin, token.end};
  }
};

// Reports what the text itself gets wrong: encoding, hidden characters, literals, the balance and
// depth of brackets (see brackets.h for what becomes of those). Linear in the file.
TokenList Lex(const source::SourceMap& sources, source::FileId file, diagnostics::Sink& sink);

}  // namespace curfew::syntax
