#include "compiler/syntax/antlr_engine.h"

#include "compiler/base/check.h"

#include <deque>
#include <grammar/CurfewLexer.h>
#include <grammar/CurfewParser.h>

#include <antlr4-runtime.h>

namespace curfew::syntax {

namespace {

using grammar::CurfewLexer;
using grammar::CurfewParser;

// ---- Lexing ------------------------------------------------------------------------------------

// The file's bytes as ANTLR's characters: offsets are byte offsets, nothing is copied, and every
// byte beyond ASCII is one symbol, so that ANTLR's tables stay small and fast.
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(std::string_view text) : text_(text) {}

  void consume() override { ++at_; }
  size_t LA(ssize_t i) override {
    const auto place = static_cast<ssize_t>(at_) + (i > 0 ? i - 1 : i);
    if (i == 0 || place < 0) return 0;
    if (static_cast<size_t>(place) >= text_.size()) return EOF;
    const auto byte = static_cast<unsigned char>(text_[static_cast<size_t>(place)]);
    return byte < 0x80 ? byte : 0x7F;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return text_.size(); }
  [[nodiscard]] std::string getSourceName() const override { return "policy"; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  [[nodiscard]] std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

TokenKind KindOf(std::size_t symbol) {
  switch (symbol) {
    case CurfewLexer::DOC:
      return TokenKind::Doc;
    case CurfewLexer::COMMENT:
      return TokenKind::Comment;
    case CurfewLexer::METHOD:
      return TokenKind::Method;
    case CurfewLexer::QUANTITY:
      return TokenKind::Quantity;
    case CurfewLexer::TIME:
      return TokenKind::Time;
    case CurfewLexer::DIGEST_LITERAL:
      return TokenKind::Digest;
    case CurfewLexer::STRING:
    case CurfewLexer::OPEN_STRING:
      return TokenKind::String;
    case CurfewLexer::INVALID:
      return TokenKind::Invalid;
    default:
      break;
  }
  if (symbol >= CurfewLexer::ARROW && symbol <= CurfewLexer::MINUS) return TokenKind::Punctuation;
  return TokenKind::Word;
}

}  // namespace

std::vector<Token> Tokenize(std::string_view text) {
  ByteStream stream(text);
  CurfewLexer lexer(&stream);
  lexer.removeErrorListeners();
  std::vector<Token> tokens;
  std::size_t line = 0;
  while (true) {
    const auto raw = lexer.nextToken();
    if (raw->getType() == antlr4::Token::EOF) return tokens;
    Token token;
    token.begin = static_cast<std::uint32_t>(raw->getStartIndex());
    token.end = static_cast<std::uint32_t>(raw->getStopIndex() + 1);
    token.kind = KindOf(raw->getType());
    token.symbol = static_cast<std::uint16_t>(raw->getType());
    // To the parser an unclosed string is a string: its mistake is its own.
    if (token.symbol == CurfewLexer::OPEN_STRING) token.symbol = CurfewLexer::STRING;
    token.starts_line = raw->getLine() != line;
    line = raw->getLine();
    tokens.push_back(token);
  }
}

TokenSequence::TokenSequence(const TokenList& list) : list_(&list) {
  for (std::size_t i = 0; i < list.parsable; ++i) {
    const TokenKind kind = list.tokens[i].kind;
    if (kind != TokenKind::Comment && kind != TokenKind::Doc) {
      indexes_.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

std::string_view TokenSequence::text(std::size_t position) const {
  return position < size() ? list_->TextOf((*this)[position]) : std::string_view();
}

source::Span TokenSequence::span(std::size_t position) const {
  if (position < size()) return list_->SpanOf((*this)[position]);
  const auto end = static_cast<std::uint32_t>(list_->text.size());
  return {list_->file, end, end};
}

namespace {

// ---- Parsing -----------------------------------------------------------------------------------

// ANTLR asks each of its tokens for a source; none of ours is ever read again.
class NoTokens final : public antlr4::TokenSource {
 public:
  std::unique_ptr<antlr4::Token> nextToken() override {
    return std::make_unique<antlr4::CommonToken>(antlr4::Token::EOF);
  }
  [[nodiscard]] size_t getLine() const override { return 0; }
  size_t getCharPositionInLine() override { return 0; }
  antlr4::CharStream* getInputStream() override { return nullptr; }
  std::string getSourceName() override { return "policy"; }
  antlr4::TokenFactory<antlr4::CommonToken>* getTokenFactory() override { return nullptr; }
};

// The sequence as ANTLR's stream. It makes ANTLR's (large) tokens only for what the current piece
// touches, and drops them with the piece. An ANTLR token's index is our position.
class TokenWindow final : public antlr4::TokenStream {
 public:
  explicit TokenWindow(const TokenSequence& tokens) : tokens_(tokens) {}

  // Begins a new piece: every token handed out so far goes.
  void Begin(std::size_t position) {
    made_.clear();
    first_ = at_ = position;
  }

  size_t LA(ssize_t i) override {
    const size_t place = PlaceOf(i);
    return place < tokens_.size() ? tokens_[place].symbol : EOF;
  }
  antlr4::Token* LT(ssize_t i) override {
    const auto place = static_cast<ssize_t>(at_) + (i > 0 ? i - 1 : i);
    if (i == 0 || place < static_cast<ssize_t>(first_)) return nullptr;
    return get(std::min(static_cast<size_t>(place), tokens_.size()));
  }
  [[nodiscard]] antlr4::Token* get(size_t index) const override {
    CURFEW_CHECK(index >= first_, "a token of an earlier piece is not asked for");
    while (made_.size() <= index - first_) made_.push_back(Make(first_ + made_.size()));
    return made_[index - first_].get();
  }
  void consume() override { ++at_; }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size() + 1; }
  [[nodiscard]] std::string getSourceName() const override { return "policy"; }
  [[nodiscard]] antlr4::TokenSource* getTokenSource() const override { return &source_; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext*) override { return {}; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return {}; }

 private:
  [[nodiscard]] size_t PlaceOf(ssize_t i) const {
    return static_cast<size_t>(static_cast<ssize_t>(at_) + (i > 0 ? i - 1 : i));
  }
  [[nodiscard]] std::unique_ptr<antlr4::CommonToken> Make(std::size_t position) const {
    auto token = std::make_unique<antlr4::CommonToken>(
        position < tokens_.size() ? tokens_[position].symbol : antlr4::Token::EOF);
    token->setTokenIndex(position);
    return token;
  }

  const TokenSequence& tokens_;
  mutable NoTokens source_;
  mutable std::deque<std::unique_ptr<antlr4::CommonToken>> made_;
  std::size_t first_ = 0;
  std::size_t at_ = 0;
};

// Ends the piece at its first mistake and keeps what was known there.
class StopAtFirst final : public antlr4::BailErrorStrategy {
 public:
  void recover(antlr4::Parser* parser, std::exception_ptr exception) override {
    try {
      std::rethrow_exception(std::move(exception));
    } catch (const antlr4::RecognitionException& problem) {
      Keep(*parser, *problem.getOffendingToken());
      throw;
    }
  }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override {
    Keep(*parser, *parser->getCurrentToken());
    throw antlr4::ParseCancellationException();
  }
  // ANTLR's own would look for tokens to skip.
  void sync(antlr4::Parser*) override {}
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}

  PieceError error;
  bool kept = false;

 private:
  void Keep(antlr4::Parser& parser, const antlr4::Token& offending);
};

// A token class as an author calls it.
std::string NameOfSymbol(const antlr4::dfa::Vocabulary& vocabulary, std::size_t symbol) {
  switch (symbol) {
    case CurfewLexer::IDENT:
      return "a name";
    case CurfewLexer::DOTTED:
      return "an attribute";
    case CurfewLexer::STRING:
      return "a string";
    case CurfewLexer::QUANTITY:
      return "a number";
    case CurfewLexer::TIME:
      return "a time";
    case CurfewLexer::DIGEST_LITERAL:
      return "a digest";
    case CurfewLexer::METHOD:
      return "a method";
    default:
      break;
  }
  std::string literal = vocabulary.getLiteralName(symbol);
  if (literal.size() >= 2) literal = literal.substr(1, literal.size() - 2);
  return literal;
}

void StopAtFirst::Keep(antlr4::Parser& parser, const antlr4::Token& offending) {
  if (kept) return;
  kept = true;
  error.rule = parser.getRuleNames()[parser.getContext()->getRuleIndex()];
  error.position = offending.getTokenIndex();
  // A prediction that failed only later has no one place at which something was expected.
  if (error.position != parser.getTokenStream()->index()) return;
  const auto& atn = parser.getATN();
  for (const auto& interval : atn.nextTokens(atn.states[parser.getState()]).getIntervals()) {
    for (ssize_t symbol = std::max<ssize_t>(interval.a, 1); symbol <= interval.b; ++symbol) {
      std::string name = NameOfSymbol(parser.getVocabulary(), static_cast<std::size_t>(symbol));
      if (!name.empty()) error.expected.push_back(std::move(name));
    }
  }
}

}  // namespace

struct PieceParser::Engine final {
  // ANTLR keeps every node of a parser's life; here they go with their piece.
  class Parser final : public CurfewParser {
   public:
    using CurfewParser::CurfewParser;
    void Forget() {
      _ctx = nullptr;
      _tracker.reset();
      setState(antlr4::atn::ATNState::INVALID_STATE_NUMBER);
    }
  };

  explicit Engine(const TokenSequence& tokens) : window(tokens), parser(&window) {
    parser.removeErrorListeners();
  }

  antlr4::ParserRuleContext* Run(Piece piece);
  bool Try(Piece piece, std::size_t position, antlr4::atn::PredictionMode mode, PieceError& error,
           ParsedPiece& parsed);

  TokenWindow window;
  Parser parser;
};

antlr4::ParserRuleContext* PieceParser::Engine::Run(Piece piece) {
  switch (piece) {
    case Piece::Header:
      return parser.header();
    case Piece::AttributesHead:
      return parser.attributesHead();
    case Piece::Attribute:
      return parser.attribute();
    case Piece::ImageHead:
      return parser.imageHead();
    case Piece::ImageField:
      return parser.imageField();
    case Piece::SecretHead:
      return parser.secretHead();
    case Piece::SecretField:
      return parser.secretField();
    case Piece::List:
      return parser.listDeclaration();
    case Piece::SandboxHead:
      return parser.sandboxHead();
    case Piece::PlaneHead:
      return parser.planeHead();
    case Piece::ImageStatement:
      return parser.imageStatement();
    case Piece::IdentityStatement:
      return parser.identityStatement();
    case Piece::FilesystemStatement:
      return parser.filesystemStatement();
    case Piece::KeepHead:
      return parser.keepHead();
    case Piece::KeepItem:
      return parser.keepItem();
    case Piece::NetworkStatement:
      return parser.networkStatement();
    case Piece::LifetimeStatement:
      return parser.lifetimeStatement();
    case Piece::EvidenceStatement:
      return parser.evidenceStatement();
    case Piece::Rule:
      return parser.setRule();
    case Piece::TestHead:
      return parser.testHead();
    case Piece::TestStep:
      return parser.testItem();
  }
  CURFEW_UNREACHABLE("the switch names every piece");
}

bool PieceParser::Engine::Try(Piece piece, std::size_t position, antlr4::atn::PredictionMode mode,
                              PieceError& error, ParsedPiece& parsed) {
  parser.Forget();
  window.Begin(position);
  auto strategy = std::make_shared<StopAtFirst>();
  parser.setErrorHandler(strategy);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
  try {
    parsed.tree = Run(piece);
    parsed.next = window.index();
    return true;
  } catch (const antlr4::RuntimeException&) {
    // Both of ANTLR's ways to give up come through StopAtFirst.
    CURFEW_CHECK(strategy->kept, "ANTLR reports before it gives up");
  }
  error = std::move(strategy->error);
  return false;
}

PieceParser::PieceParser(const TokenSequence& tokens) : engine_(std::make_unique<Engine>(tokens)) {}
PieceParser::~PieceParser() = default;

std::variant<ParsedPiece, PieceError> PieceParser::Parse(Piece piece, std::size_t position) {
  ParsedPiece parsed;
  PieceError error;
  // The fast prediction first. Where it fails, the full one decides, and says what is wrong.
  if (engine_->Try(piece, position, antlr4::atn::PredictionMode::SLL, error, parsed)) {
    return parsed;
  }
  if (engine_->Try(piece, position, antlr4::atn::PredictionMode::LL, error, parsed)) return parsed;
  return error;
}

}  // namespace curfew::syntax
