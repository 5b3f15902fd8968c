#include "compiler/syntax/antlr_engine.h"

#include "compiler/base/check.h"

#include <deque>
#include <grammar/CurfewLexer.h>
#include <grammar/CurfewParser.h>
#include <map>
#include <set>

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

Token AddedBracket(char bracket, std::uint32_t at) {
  static constexpr std::string_view Brackets = "{}[]()";
  static constexpr std::uint16_t Symbols[] = {CurfewLexer::LB, CurfewLexer::RB, CurfewLexer::LK,
                                              CurfewLexer::RK, CurfewLexer::LP, CurfewLexer::RP};
  const std::size_t place = Brackets.find(bracket);
  CURFEW_CHECK(place != std::string_view::npos, "only brackets are added");
  Token token;
  token.begin = token.end = at;
  token.symbol = Symbols[place];
  token.kind = TokenKind::Punctuation;
  token.added = bracket;
  return token;
}

TokenSequence::TokenSequence(const TokenList& list) : list_(&list) {
  for (std::size_t i = 0; i < list.tokens.size(); ++i) {
    const TokenKind kind = list.tokens[i].kind;
    if (kind != TokenKind::Comment && kind != TokenKind::Doc && !list.tokens[i].skipped) {
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
  void consume() override {
    ++at_;
    if (is_too_long()) throw antlr4::ParseCancellationException();
  }
  [[nodiscard]] bool is_too_long() const { return at_ - first_ > limits::StatementTokensMax; }
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

// Ends the piece at its first mistake. What was wrong is GrammarWalk's to say.
class StopAtFirst final : public antlr4::BailErrorStrategy {
 public:
  void recover(antlr4::Parser*, std::exception_ptr) override {
    throw antlr4::ParseCancellationException();
  }
  antlr4::Token* recoverInline(antlr4::Parser*) override {
    throw antlr4::ParseCancellationException();
  }
  void sync(antlr4::Parser*) override {}
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}
};

// ---- Explaining --------------------------------------------------------------------------------

using antlr4::atn::ATNState;
using antlr4::atn::Transition;

// Follows tokens through the grammar along every way at once. ANTLR's own errors know only one
// decision; this knows the furthest token that any reading reaches, and all that would fit there.
class GrammarWalk {
 public:
  GrammarWalk(const antlr4::Parser& parser, std::size_t rule) : parser_(parser) {
    links_.push_back({nullptr, 0});
    Enter({parser.getATN().ruleToStartState[rule], 0});
  }

  // One token on; false, and the walk stays, when no reading takes it.
  bool Step(std::size_t symbol) {
    std::vector<Place> next;
    for (const Place& place : waiting_) {
      for (const Transition* transition : place.state->transitions) {
        if (!transition->isEpsilon() && transition->matches(symbol, 1, SymbolMax)) {
          next.push_back({transition->target, place.link});
        }
      }
    }
    if (next.empty()) return false;
    waiting_.clear();
    seen_.clear();
    can_end_ = false;
    for (const Place& place : next) Enter(place);
    return true;
  }

  [[nodiscard]] bool can_end() const { return can_end_; }
  [[nodiscard]] std::vector<Expected> expected() const;

 private:
  static constexpr std::size_t SymbolMax = 0xffff;

  // Where a rule goes on when it ends: a list that shares its tails. Equal links are one, so a loop
  // adds none.
  struct Link {
    const ATNState* follow;
    std::size_t parent;
  };
  struct Place {
    const ATNState* state;
    std::size_t link;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void Enter(Place first) {
    std::vector<Place> todo{first};
    while (!todo.empty()) {
      const Place place = todo.back();
      todo.pop_back();
      if (!seen_.insert(place).second) continue;
      if (const_cast<ATNState*>(place.state)->getStateType() == ATNState::RULE_STOP) {
        if (place.link == 0) {
          can_end_ = true;
        } else {
          todo.push_back({links_[place.link].follow, links_[place.link].parent});
        }
        continue;
      }
      bool waits = false;
      for (const Transition* transition : place.state->transitions) {
        if (transition->getSerializationType() == Transition::RULE) {
          const auto* rule = static_cast<const antlr4::atn::RuleTransition*>(transition);
          todo.push_back({rule->target, LinkTo(rule->followState, place.link)});
        } else if (transition->isEpsilon()) {
          todo.push_back({transition->target, place.link});
        } else {
          waits = true;
        }
      }
      if (waits) waiting_.push_back(place);
    }
  }

  std::size_t LinkTo(const ATNState* follow, std::size_t parent) {
    const auto [found, is_new] = known_.try_emplace({follow, parent}, links_.size());
    if (is_new) links_.push_back({follow, parent});
    return found->second;
  }

  const antlr4::Parser& parser_;
  std::vector<Link> links_;
  std::map<Place, std::size_t> known_;
  std::set<Place> seen_;
  std::vector<Place> waiting_;
  bool can_end_ = false;
};

std::vector<Expected> GrammarWalk::expected() const {
  std::vector<Expected> all;
  for (const Place& place : waiting_) {
    const std::string_view rule = parser_.getRuleNames()[place.state->ruleIndex];
    for (const Transition* transition : place.state->transitions) {
      if (transition->isEpsilon()) continue;
      const antlr4::misc::IntervalSet symbols = transition->label();
      for (const auto& interval : symbols.getIntervals()) {
        for (ssize_t symbol = std::max<ssize_t>(interval.a, 1); symbol <= interval.b; ++symbol) {
          // `'word'`, or nothing for a kind of token.
          std::string word =
              parser_.getVocabulary().getLiteralName(static_cast<std::size_t>(symbol));
          if (word.size() >= 2) word = word.substr(1, word.size() - 2);
          all.push_back({std::move(word), rule});
        }
      }
    }
  }
  return all;
}

std::size_t RuleOf(Piece piece) {
  switch (piece) {
    case Piece::Header:
      return CurfewParser::RuleHeader;
    case Piece::AttributesHead:
      return CurfewParser::RuleAttributesHead;
    case Piece::Attribute:
      return CurfewParser::RuleAttribute;
    case Piece::ImageHead:
      return CurfewParser::RuleImageHead;
    case Piece::ImageField:
      return CurfewParser::RuleImageField;
    case Piece::SecretHead:
      return CurfewParser::RuleSecretHead;
    case Piece::SecretField:
      return CurfewParser::RuleSecretField;
    case Piece::List:
      return CurfewParser::RuleListDeclaration;
    case Piece::SandboxHead:
      return CurfewParser::RuleSandboxHead;
    case Piece::PlaneHead:
      return CurfewParser::RulePlaneHead;
    case Piece::ImageStatement:
      return CurfewParser::RuleImageStatement;
    case Piece::IdentityStatement:
      return CurfewParser::RuleIdentityStatement;
    case Piece::FilesystemStatement:
      return CurfewParser::RuleFilesystemStatement;
    case Piece::KeepHead:
      return CurfewParser::RuleKeepHead;
    case Piece::KeepItem:
      return CurfewParser::RuleKeepItem;
    case Piece::NetworkStatement:
      return CurfewParser::RuleNetworkStatement;
    case Piece::LifetimeStatement:
      return CurfewParser::RuleLifetimeStatement;
    case Piece::EvidenceStatement:
      return CurfewParser::RuleEvidenceStatement;
    case Piece::Rule:
      return CurfewParser::RuleSetRule;
    case Piece::TestHead:
      return CurfewParser::RuleTestHead;
    case Piece::TestStep:
      return CurfewParser::RuleTestItem;
  }
  CURFEW_UNREACHABLE("the switch names every piece");
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

  explicit Engine(const TokenSequence& all) : tokens(all), window(all), parser(&window) {
    parser.removeErrorListeners();
    parser.setErrorHandler(std::make_shared<StopAtFirst>());
  }

  antlr4::ParserRuleContext* Run(Piece piece);
  std::optional<ParsedPiece> Try(Piece piece, std::size_t position,
                                 antlr4::atn::PredictionMode mode);

  const TokenSequence& tokens;
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

std::optional<ParsedPiece> PieceParser::Engine::Try(Piece piece, std::size_t position,
                                                    antlr4::atn::PredictionMode mode) {
  parser.Forget();
  window.Begin(position);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode);
  try {
    antlr4::ParserRuleContext* tree = Run(piece);
    return ParsedPiece{tree, window.index()};
  } catch (const antlr4::ParseCancellationException&) {
    return std::nullopt;
  }
}

PieceParser::PieceParser(const TokenSequence& tokens) : engine_(std::make_unique<Engine>(tokens)) {}
PieceParser::~PieceParser() = default;

std::optional<ParsedPiece> PieceParser::Parse(Piece piece, std::size_t position) {
  // The fast prediction first; where it fails, the full one decides.
  auto parsed = engine_->Try(piece, position, antlr4::atn::PredictionMode::SLL);
  if (!parsed && !was_too_long()) {
    parsed = engine_->Try(piece, position, antlr4::atn::PredictionMode::LL);
  }
  return parsed;
}

bool PieceParser::was_too_long() const { return engine_->window.is_too_long(); }

Expectation PieceParser::Explain(Piece piece, std::size_t position, std::size_t limit) const {
  GrammarWalk walk(engine_->parser, RuleOf(piece));
  Expectation expectation;
  expectation.position = position;
  while (expectation.position < std::min(limit, engine_->tokens.size()) &&
         walk.Step(engine_->tokens[expectation.position].symbol)) {
    ++expectation.position;
  }
  expectation.expected = walk.expected();
  expectation.can_end = walk.can_end();
  return expectation;
}

}  // namespace curfew::syntax
