#include "compiler/syntax/parse.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/antlr_tree.h"
#include "compiler/syntax/block_form.h"
#include "compiler/syntax/continuation.h"
#include "compiler/syntax/expectation.h"

#include <algorithm>

namespace curfew::syntax {

namespace {

using diagnostics::Sink;

// A token as a message shows it.
std::string Short(std::string_view text) {
  constexpr std::size_t BytesMax = 60;
  if (text.size() <= BytesMax) return std::string(text);
  std::size_t cut = BytesMax;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return fmt::format("{}…", text.substr(0, cut));
}
std::string Quoted(std::string_view text) { return fmt::format("`{}`", Short(text)); }

class Parser {
 public:
  Parser(const TokenList& list, Sink& sink) : tokens_(list), pieces_(tokens_), sink_(sink) {}

  Ast Run() {
    Ast ast;
    ast.file = tokens_.list().file;
    while (!AtEnd()) {
      if (auto declaration = ReadDeclaration()) {
        NoteHeader(*declaration);
        ast.declarations.push_back(*std::move(declaration));
      }
    }
    ast.places = std::move(places_);
    return ast;
  }

  // After Run.
  Continuation Follow() {
    Continuation next;
    next.block = open_block_.value_or(Block::File);
    const bool is_open = cut_off_.has_value();
    if (!is_open) {
      const auto words = WordsOf(next.block);
      next.statements.assign(words.begin(), words.end());
      if (!last_piece_ || piece_end_ != tokens_.size()) return next;
      cut_off_ = pieces_.Explain(*last_piece_, piece_begin_, tokens_.size());
      cut_off_begin_ = piece_begin_;
      if (cut_off_->position != tokens_.size()) return next;
    }
    for (std::size_t i = cut_off_begin_; i < tokens_.size(); ++i) {
      next.statement.push_back(tokens_[i]);
    }
    for (const Expected& expected : cut_off_->expected) {
      next.wanted.push_back({expected.word, expected.rule});
    }
    return next;
  }

 private:
  // ---- Looking at tokens

  // After too many errors nobody reads on.
  [[nodiscard]] bool AtEnd() const {
    return at_ >= tokens_.size() || sink_.error_count() > limits::DiagnosticsMax;
  }
  [[nodiscard]] std::string_view Text(std::size_t position) const { return tokens_.text(position); }
  [[nodiscard]] bool Is(std::string_view text) const { return Text(at_) == text; }
  [[nodiscard]] bool StartsLine(std::size_t position) const {
    return position >= tokens_.size() || tokens_[position].starts_line;
  }
  [[nodiscard]] bool IsLabel(std::size_t position) const {
    return position + 1 < tokens_.size() && tokens_[position].kind == TokenKind::Word &&
           Text(position + 1) == ":" && Text(position).find('.') == std::string_view::npos;
  }
  [[nodiscard]] bool Begins(Block block, std::size_t position) const {
    if (position >= tokens_.size()) return false;
    const auto words = WordsOf(block);
    if (TakesLabels(block) && IsLabel(position)) return true;
    return std::find(words.begin(), words.end(), Text(position)) != words.end();
  }
  // Whether a line that begins so is meant as a new statement, be it one of another block or a
  // misspelt one: each has a message of its own.
  [[nodiscard]] bool BeginsSome(Block block, std::size_t position) const {
    if (Begins(block, position)) return true;
    if (tokens_[position].kind == TokenKind::Word && !IsKnownWord(Text(position)) &&
        NearestWord(Text(position), WordsOf(block))) {
      return true;
    }
    return ReservedForm(block, Text(position), Text(position + 1)) ||
           (block != Block::Test && block != Block::Keep && IsPlaneWord(Text(position)));
  }
  // Behind a label, if there is one.
  [[nodiscard]] std::size_t Effect(Block block) const {
    return TakesLabels(block) && IsLabel(at_) ? at_ + 2 : at_;
  }

  // The `##` lines directly above the token at `position`.
  [[nodiscard]] Doc DocAbove(std::size_t position) const {
    Doc doc;
    const TokenList& list = tokens_.list();
    std::size_t below = tokens_.index(position);
    while (below > 0) {
      const Token& token = list.tokens[below - 1];
      const std::string_view between =
          list.text.substr(token.end, list.tokens[below].begin - token.end);
      if (token.kind != TokenKind::Doc || !token.starts_line) break;
      if (std::count(between.begin(), between.end(), '\n') != 1) break;
      std::string_view line = list.TextOf(token).substr(2);
      if (line.starts_with(' ')) line.remove_prefix(1);
      doc.lines.emplace_back(line.substr(0, line.find_last_not_of(" \t") + 1));
      --below;
    }
    std::reverse(doc.lines.begin(), doc.lines.end());
    return doc;
  }

  // ---- Mistakes

  // Reports unless the mistake was already in a token from `begin` to `end`.
  template <typename Reporting>
  void ReportUnlessKnown(std::size_t begin, std::size_t end, Reporting&& report) {
    for (std::size_t i = begin; i < std::min(end, tokens_.size()); ++i) {
      if (tokens_[i].reported) return;
    }
    report();
  }

  // Resumes behind the mistake at `mistake` in a statement that began at `begin`: at the next line
  // that begins a statement of the block, behind a block that was skipped, or at the block's end.
  void Resume(Block block, std::size_t begin, std::size_t mistake) {
    std::size_t depth = 0;
    for (std::size_t i = begin; i < tokens_.size(); ++i) {
      const std::string_view text = Text(i);
      const bool is_punctuation = tokens_[i].kind == TokenKind::Punctuation;
      const bool behind = i >= mistake && i > begin && depth == 0;
      if (behind && StartsLine(i) && BeginsSome(block, i)) return Continue(i);
      if (is_punctuation && (text == "{" || text == "[" || text == "(")) ++depth;
      if (is_punctuation && (text == "}" || text == "]" || text == ")")) {
        // The block ends here. What else closes nothing is what a mistake left over.
        if (depth == 0 && text == "}" && block != Block::File) return Continue(i);
        if (depth > 0) --depth;
        if (text == "}" && depth == 0 && i >= mistake && EndsStatement(block, i + 1)) {
          return Continue(i + 1);
        }
      }
    }
    Continue(tokens_.size());
  }
  [[nodiscard]] bool EndsStatement(Block block, std::size_t position) const {
    return position >= tokens_.size() || Text(position) == "}" || Begins(block, position);
  }
  void Continue(std::size_t position) {
    CURFEW_CHECK(position > at_, "the parser goes forward");
    at_ = position;
  }

  // After a mistake in a head: its block is still read, for what is wrong in there. Whether there
  // is one.
  bool ResumeInBlock(Block outer, std::size_t begin, std::size_t mistake) {
    for (std::size_t i = std::max(mistake, begin + 1); i < tokens_.size(); ++i) {
      if (Text(i) == "{" && tokens_[i].kind == TokenKind::Punctuation) {
        at_ = i + 1;
        return true;
      }
      if (Text(i) == "}" || (StartsLine(i) && Begins(outer, i))) break;
    }
    Resume(outer, begin, mistake);
    return false;
  }

  // What was wrong with a piece that began at `begin`.
  void ReportPieceError(std::size_t begin, const Expectation& expectation) {
    const std::size_t mistake = expectation.position;
    if (mistake - begin >= limits::StatementTokensMax) {
      sink_.Report(tokens_.span(begin), diag::StatementTooLong,
                   static_cast<std::int64_t>(limits::StatementTokensMax));
      return;
    }
    const std::string_view found = Text(mistake);
    const bool is_word = mistake < tokens_.size() && tokens_[mistake].kind == TokenKind::Word;
    if (is_word && !StartsLine(mistake) && WantsNewName(expectation)) {
      sink_.Report(tokens_.span(mistake), diag::ReservedName, found);
      return;
    }
    if (is_word && !IsKnownWord(found)) {
      std::vector<std::string_view> words;
      for (const Expected& expected : expectation.expected) words.push_back(expected.word);
      if (const auto meant = NearestWord(found, words)) return ReportMisspelt(mistake, *meant);
    }
    ReportExpectation(begin, expectation);
  }

  void ReportMisspelt(std::size_t position, std::string_view meant) {
    const source::Span span = tokens_.span(position);
    sink_.Report(span, diag::MisspeltWord, Text(position), meant).Fix(span, std::string(meant));
  }

  void ReportExpectation(std::size_t begin, const Expectation& expectation) {
    const std::size_t mistake = expectation.position;
    const std::string before = Short(Text(mistake - 1));
    // What is missing at a line's end is missing there.
    const bool at_line_end = mistake >= tokens_.size() || (StartsLine(mistake) && mistake > begin);
    const source::Span span =
        at_line_end ? source::Behind(tokens_.span(mistake - 1)) : tokens_.span(mistake);
    const std::string phrase = DescribeExpectation(expectation, Text(mistake - 1));
    if (phrase.empty()) {
      sink_.Report(span, diag::CannotFollow, Short(Text(mistake)), before);
    } else {
      sink_.Report(span, diag::ExpectedAfter, phrase, before,
                   mistake < tokens_.size() ? Quoted(Text(mistake)) : "the end of the file");
    }
  }

  [[nodiscard]] static bool IsKnownWord(std::string_view word) {
    const auto inner = InnerWords();
    return HomeOf(word) || std::find(inner.begin(), inner.end(), word) != inner.end();
  }

  // Nothing of the block begins with the token at hand.
  void ReportUnknownStatement(Block block) {
    const std::size_t begin = at_;
    const std::string_view word = Text(at_);
    const Token& token = tokens_[at_];
    const source::Span span = tokens_.span(at_);
    const bool is_word = token.kind == TokenKind::Word;
    const bool continues =
        !token.starts_line && at_ > 0 && Text(at_ - 1) != "{" && Text(at_ - 1) != "}";
    if (continues && last_piece_ && ReportSwallowedLine(block, *last_piece_, piece_begin_, at_)) {
      return;
    }
    // `risk = low`: the sign behind the name was said.
    ReportUnlessKnown(begin, begin + (TakesLabels(block) ? 2 : 1), [&] {
      if (const auto reserved = ReservedForm(block, word, Text(at_ + 1)); reserved && !continues) {
        sink_.Report(span, diag::ReservedForm, *reserved);
      } else if (continues || !is_word) {
        ReportCannotFollow(block);
      } else if (word == "allow") {
        sink_.Report(span, diag::AllowOutsidePlane, NameOf(block));
      } else if (const auto home = HomeOf(word)) {
        sink_.Report(span, diag::MisplacedStatement, word, *home, NameOf(block));
      } else if (const auto meant = NearestWord(word, WordsOf(block))) {
        sink_.Report(span, diag::MisspeltWord, word, *meant).Fix(span, std::string(*meant));
      } else {
        ReportBeginsNothing(block);
      }
    });
    Resume(block, begin, begin);
  }

  // The token at hand stands on the line of a statement that ended before it. The grammar may have
  // been able to follow further than where ANTLR ended the statement: `ttl 2h at moost 8h`.
  void ReportCannotFollow(Block block) {
    if (at_ == 0) return ReportBeginsNothing(block);
    if (last_piece_) {
      const Expectation further =
          pieces_.Explain(*last_piece_, piece_begin_, std::min(at_ + 3, tokens_.size()));
      if (further.position >= at_) return ReportPieceError(piece_begin_, further);
    }
    if (tokens_[at_].kind == TokenKind::Word && !IsKnownWord(Text(at_))) {
      if (const auto meant = NearestWord(Text(at_), WordsOf(block))) {
        return ReportMisspelt(at_, *meant);
      }
    }
    sink_.Report(tokens_.span(at_), diag::CannotFollow, Short(Text(at_)), Short(Text(at_ - 1)));
  }

  // A statement that lacks its last name has taken the first word of the next line for it; that
  // line is read again.
  bool ReportSwallowedLine(Block block, Piece piece, std::size_t begin, std::size_t mistake) {
    if (mistake < begin + 2 || StartsLine(mistake)) return false;
    const std::size_t line = mistake - 1;
    if (!StartsLine(line) || !Begins(block, line)) return false;
    ReportUnlessKnown(begin, line,
                      [&] { ReportExpectation(begin, pieces_.Explain(piece, begin, line)); });
    at_ = line;
    return true;
  }

  void ReportBeginsNothing(Block block) {
    std::string words;
    for (const std::string_view word : WordsOf(block)) {
      words += words.empty() ? "" : ", ";
      words += Quoted(word);
    }
    if (words.empty()) words = "`name: type`";
    sink_.Report(tokens_.span(at_), diag::UnknownStatement, Short(Text(at_)), NameOf(block), words);
  }

  // Forms that a careful author may try, and that have a message of their own.
  bool RefuseKnownForm(Block block) {
    const std::size_t begin = at_;
    const std::size_t effect = Effect(block);
    const std::string_view word = Text(effect);
    const source::Span span = tokens_.span(effect);
    if (const auto reserved = ReservedForm(block, word, Text(effect + 1))) {
      sink_.Report(span, diag::ReservedForm, *reserved);
    } else if (word == "allow" && effect > begin &&
               (block == Block::File || block == Block::Sandbox)) {
      sink_.Report(span, diag::AllowOutsidePlane, NameOf(block));
    } else if (const std::size_t trial = TrialEffect(effect);
               trial != effect && (Text(trial) == "allow" || Text(trial) == "never")) {
      sink_.Report(tokens_.span(trial), diag::TrialOfWrongEffect, Text(trial));
    } else if (block == Block::Network && word == "allow" && NamesNoMethod(effect + 1)) {
      sink_.Report(span, diag::AllowWithoutMethods);
    } else {
      return false;
    }
    Resume(block, begin, effect);
    return true;
  }
  // Behind `trial` and its end, if it is one.
  [[nodiscard]] std::size_t TrialEffect(std::size_t position) const {
    if (Text(position) != "trial") return position;
    return Text(position + 1) == "until" ? position + 3 : position + 1;
  }
  [[nodiscard]] bool NamesNoMethod(std::size_t position) const {
    if (position >= tokens_.size() || StartsLine(position)) return false;
    if (tokens_[position].kind == TokenKind::String) return true;
    return Text(position) == "internet";
  }

  // ---- Pieces

  // Parses one piece and reads it, or reports and resumes. `Read` takes the tree.
  template <typename Read>
  void ReadPiece(Piece piece, Block block, Read&& read) {
    const std::size_t begin = at_;
    if (TryPiece(piece, block, read)) return;
    const Expectation expectation = ExplainPiece(piece, begin);
    const std::size_t mistake = expectation.position;
    if (ReportSwallowedLine(block, piece, begin, mistake)) return;
    NoteCutOff(begin, expectation);
    ReportUnlessKnown(begin, mistake + 1, [&] { ReportPieceError(begin, expectation); });
    Resume(block, begin, mistake);
  }

  // A head up to its brace. False when there is no block to read. Where only the head has a mistake
  // what is declared is there without it: its span, set before, begins at its first word.
  template <typename Read>
  bool ReadHead(Piece piece, Block outer, Read&& read) {
    const std::size_t begin = at_;
    if (TryPiece(piece, outer, read)) return true;
    const Expectation expectation = ExplainPiece(piece, begin);
    const std::size_t mistake = expectation.position;
    NoteCutOff(begin, expectation);
    ReportUnlessKnown(begin, mistake + 1, [&] { ReportPieceError(begin, expectation); });
    return ResumeInBlock(outer, begin, mistake);
  }

  void NoteCutOff(std::size_t begin, const Expectation& expectation) {
    if (expectation.position != tokens_.size()) return;
    cut_off_ = expectation;
    cut_off_begin_ = begin;
  }

  [[nodiscard]] Expectation ExplainPiece(Piece piece, std::size_t begin) const {
    if (pieces_.was_too_long()) {
      return {.position = begin + limits::StatementTokensMax, .expected = {}, .can_end = false};
    }
    return pieces_.Explain(piece, begin, begin + limits::StatementTokensMax);
  }

  template <typename Read>
  bool TryPiece(Piece piece, Block block, Read&& read) {
    const auto parsed = pieces_.Parse(piece, at_);
    if (!parsed) return false;
    places_.push_back({tokens_.span(at_).begin, block});
    piece_begin_ = at_;
    last_piece_ = piece;
    at_ = piece_end_ = parsed->next;
    read(*parsed->tree);
    return true;
  }

  // The statements of a block up to its brace, whose end becomes that of `span`.
  template <typename ReadOne>
  void ReadBlock(Block block, source::Span& span, ReadOne&& read_one) {
    while (!AtEnd() && !Is("}")) {
      if (!Begins(block, at_)) {
        ReportUnknownStatement(block);
      } else if (!RefuseKnownForm(block)) {
        read_one();
      }
    }
    if (AtEnd()) {
      if (!open_block_) open_block_ = block;
      return;
    }
    span.end = tokens_.span(at_).end;
    ++at_;
  }

  TreeReader Reader() { return {tokens_, sink_}; }

  // ---- Declarations

  std::optional<Declaration> ReadDeclaration() {
    if (!Begins(Block::File, at_)) {
      ReportUnknownStatement(Block::File);
      return std::nullopt;
    }
    if (RefuseKnownForm(Block::File)) return std::nullopt;
    const std::string_view word = Text(at_);
    const Doc doc = DocAbove(at_);
    if (!IsLabel(at_)) {
      if (word == "language" || word == "package" || word == "use") return ReadHeader();
      if (word == "attributes") return ReadAttributes(doc);
      if (word == "image") return ReadImage(doc);
      if (word == "secret") return ReadSecret(doc);
      if (word == "sandbox" || word == "every") return ReadSandbox(doc);
      if (word == "test") return ReadTest(doc);
      if (word == "hosts" || word == "addresses" || word == "digests" || word == "strings") {
        std::optional<Declaration> list;
        ReadPiece(Piece::List, Block::File,
                  [&](TreeReader::Tree& tree) { list = WithDoc(Reader().ReadList(tree), doc); });
        return list;
      }
    }
    std::optional<Declaration> rule;
    ReadPiece(Piece::Rule, Block::File,
              [&](TreeReader::Tree& tree) { rule = WithDoc(Reader().ReadRule(tree), doc); });
    return rule;
  }

  template <typename Declared>
  static Declared WithDoc(Declared declared, const Doc& doc) {
    declared.doc = doc;
    return declared;
  }

  std::optional<Declaration> ReadHeader() {
    std::optional<Declaration> header;
    const source::Span span = tokens_.span(at_);
    const std::string word(Text(at_));
    ReadPiece(Piece::Header, Block::File,
              [&](TreeReader::Tree& tree) { header = Reader().ReadHeader(tree); });
    if (!header) return header;
    if (seen_declaration_) sink_.Report(span, diag::HeaderTooLate, word);
    auto* first = word == "language" ? &language_ : word == "package" ? &package_ : nullptr;
    if (first != nullptr && *first) {
      sink_.Report(span, diag::StatedTwice, word).Note(**first, diag::FirstHere);
    } else if (first != nullptr) {
      *first = span;
    }
    const auto* language = std::get_if<LanguageHeader>(&*header);
    // Without a fix: what the file means is not known here.
    if (language != nullptr && language->version.text != LanguageVersion) {
      sink_.Report(language->version.span, diag::UnknownLanguage, language->version.text,
                   std::string(LanguageVersion));
    }
    return header;
  }
  void NoteHeader(const Declaration& declaration) {
    if (!std::holds_alternative<LanguageHeader>(declaration) &&
        !std::holds_alternative<PackageHeader>(declaration) &&
        !std::holds_alternative<UseHeader>(declaration)) {
      seen_declaration_ = true;
    }
  }

  std::optional<Declaration> ReadAttributes(const Doc& doc) {
    AttributesDecl attributes;
    attributes.span = tokens_.span(at_);
    if (!ReadHead(Piece::AttributesHead, Block::File, [&](TreeReader::Tree& tree) {
          attributes = WithDoc(Reader().ReadAttributesHead(tree), doc);
        })) {
      return std::nullopt;
    }
    ReadBlock(Block::Attributes, attributes.span, [&] {
      const Doc own = DocAbove(at_);
      ReadPiece(Piece::Attribute, Block::Attributes, [&](TreeReader::Tree& tree) {
        attributes.attributes.push_back(WithDoc(Reader().ReadAttribute(tree), own));
      });
    });
    return attributes;
  }

  std::optional<Declaration> ReadImage(const Doc& doc) {
    ImageDecl image;
    image.span = tokens_.span(at_);
    if (!ReadHead(Piece::ImageHead, Block::File, [&](TreeReader::Tree& tree) {
          image = WithDoc(Reader().ReadImageHead(tree), doc);
        })) {
      return std::nullopt;
    }
    ReadBlock(Block::ImageDeclaration, image.span, [&] {
      ReadPiece(Piece::ImageField, Block::ImageDeclaration,
                [&](TreeReader::Tree& tree) { Reader().ReadImageField(tree, image); });
    });
    return image;
  }

  std::optional<Declaration> ReadSecret(const Doc& doc) {
    SecretDecl secret;
    secret.span = tokens_.span(at_);
    if (!ReadHead(Piece::SecretHead, Block::File, [&](TreeReader::Tree& tree) {
          secret = WithDoc(Reader().ReadSecretHead(tree), doc);
        })) {
      return std::nullopt;
    }
    ReadBlock(Block::Secret, secret.span, [&] {
      ReadPiece(Piece::SecretField, Block::Secret,
                [&](TreeReader::Tree& tree) { Reader().ReadSecretField(tree, secret); });
    });
    return secret;
  }

  // ---- Sandboxes

  std::optional<Declaration> ReadSandbox(const Doc& doc) {
    SandboxDecl sandbox;
    sandbox.span = tokens_.span(at_);
    if (!ReadHead(Piece::SandboxHead, Block::File, [&](TreeReader::Tree& tree) {
          sandbox = WithDoc(Reader().ReadSandboxHead(tree), doc);
        })) {
      return std::nullopt;
    }
    ReadBlock(Block::Sandbox, sandbox.span, [&] {
      const Doc own = DocAbove(at_);
      const bool is_rule =
          IsLabel(at_) || Is("deny") || Is("require") || Is("never") || Is("trial");
      if (!is_rule) return ReadPlane(sandbox, own);
      ReadPiece(Piece::Rule, Block::Sandbox, [&](TreeReader::Tree& tree) {
        sandbox.members.emplace_back(WithDoc(Reader().ReadRule(tree), own));
      });
    });
    return sandbox;
  }

  void ReadPlane(SandboxDecl& sandbox, const Doc& doc) {
    // The kind stands in the word already, for a head with a mistake behind it.
    const std::string_view word = Text(at_);
    Plane plane;
    plane.span = plane.keyword = tokens_.span(at_);
    for (const PlaneKind kind : {PlaneKind::Image, PlaneKind::Identity, PlaneKind::Filesystem,
                                 PlaneKind::Network, PlaneKind::Lifetime, PlaneKind::Evidence}) {
      if (NameOf(kind) == word) plane.kind = kind;
    }
    if (!ReadHead(Piece::PlaneHead, Block::Sandbox, [&](TreeReader::Tree& tree) {
          plane = WithDoc(Reader().ReadPlaneHead(tree), doc);
        })) {
      return;
    }
    ReadBlock(BlockOf(plane.kind), plane.span, [&] { ReadStatement(plane); });
    sandbox.members.emplace_back(std::move(plane));
  }

  void ReadStatement(Plane& plane) {
    const auto read = [&](Piece piece, Statement (TreeReader::*method)(TreeReader::Tree&)) {
      ReadPiece(piece, BlockOf(plane.kind), [&](TreeReader::Tree& tree) {
        TreeReader reader = Reader();
        plane.statements.push_back((reader.*method)(tree));
      });
    };
    switch (plane.kind) {
      case PlaneKind::Image:
        return read(Piece::ImageStatement, &TreeReader::ReadImageStatement);
      case PlaneKind::Identity:
        return read(Piece::IdentityStatement, &TreeReader::ReadIdentityStatement);
      case PlaneKind::Filesystem:
        if ((Is("persist") || Is("snapshot")) && !IsLabel(at_) && Text(at_ + 1) != "none") {
          return ReadKeep(plane);
        }
        return read(Piece::FilesystemStatement, &TreeReader::ReadFilesystemStatement);
      case PlaneKind::Network:
        return read(Piece::NetworkStatement, &TreeReader::ReadNetworkStatement);
      case PlaneKind::Lifetime:
        return read(Piece::LifetimeStatement, &TreeReader::ReadLifetimeStatement);
      case PlaneKind::Evidence:
        return read(Piece::EvidenceStatement, &TreeReader::ReadEvidenceStatement);
    }
  }

  // `persist … { … }` and `snapshot … { … }`
  void ReadKeep(Plane& plane) {
    std::optional<Statement> statement;
    if (!ReadHead(Piece::KeepHead, Block::Filesystem,
                  [&](TreeReader::Tree& tree) { statement = Reader().ReadKeepHead(tree); })) {
      return;
    }
    std::vector<KeepItem> items;
    source::Span span;
    ReadBlock(Block::Keep, span, [&] {
      ReadPiece(Piece::KeepItem, Block::Keep,
                [&](TreeReader::Tree& tree) { items.push_back(Reader().ReadKeepItem(tree)); });
    });
    if (!statement) return;
    const auto complete = [&](auto& keep) {
      keep.items = std::move(items);
      keep.span.end = span.end;
    };
    if (auto* persist = std::get_if<PersistStatement>(&*statement)) {
      complete(*persist);
    } else if (auto* snapshot = std::get_if<SnapshotStatement>(&*statement)) {
      complete(*snapshot);
    }
    plane.statements.push_back(*std::move(statement));
  }

  // ---- Tests

  std::optional<Declaration> ReadTest(const Doc& doc) {
    TestDecl test;
    test.span = tokens_.span(at_);
    if (!ReadHead(Piece::TestHead, Block::File, [&](TreeReader::Tree& tree) {
          test = WithDoc(Reader().ReadTestHead(tree), doc);
        })) {
      return std::nullopt;
    }
    ReadBlock(Block::Test, test.span, [&] {
      ReadPiece(Piece::TestStep, Block::Test,
                [&](TreeReader::Tree& tree) { test.items.push_back(Reader().ReadTestItem(tree)); });
    });
    return test;
  }

  TokenSequence tokens_;
  PieceParser pieces_;
  Sink& sink_;
  std::size_t at_ = 0;
  std::optional<Piece> last_piece_;  // the last that was read, and where it began
  std::size_t piece_begin_ = 0;
  std::size_t piece_end_ = 0;
  // Where the text ends: in which block, and in which piece.
  std::optional<Block> open_block_;
  std::optional<Expectation> cut_off_;
  std::size_t cut_off_begin_ = 0;
  std::vector<StatementPlace> places_;
  bool seen_declaration_ = false;
  std::optional<source::Span> language_;
  std::optional<source::Span> package_;
};

}  // namespace

Ast Parse(const TokenList& tokens, Sink& sink) { return Parser(tokens, sink).Run(); }

Continuation ContinuationOf(const TokenList& tokens) {
  std::size_t depth = 0;
  for (const Token& token : tokens.tokens) {
    if (token.kind != TokenKind::Punctuation) continue;
    const std::string_view text = tokens.TextOf(token);
    if (text == "{" || text == "[" || text == "(") ++depth;
    if ((text == "}" || text == "]" || text == ")") && depth > 0) --depth;
    if (depth > limits::NestingMax) return {};
  }
  // What is open here is not missing: it is not written yet.
  TokenList open = tokens;
  std::erase_if(open.tokens, [](const Token& token) { return token.added != 0; });
  for (Token& token : open.tokens) token.skipped = false;
  Sink mistakes;  // what is not written yet is none
  Parser parser(open, mistakes);
  static_cast<void>(parser.Run());
  return parser.Follow();
}

bool IsWithinLimits(const source::SourceMap& sources, Sink& sink) {
  switch (sources.excess()) {
    case source::Excess::None:
      return true;
    case source::Excess::Files:
      sink.Report({}, diag::TooManyFiles, static_cast<std::int64_t>(limits::SetFilesMax));
      return false;
    case source::Excess::Bytes:
      sink.Report({}, diag::SetTooLarge,
                  static_cast<std::int64_t>(limits::SetBytesMax / (1024 * 1024)));
      return false;
  }
  CURFEW_UNREACHABLE("the switch names every excess");
}

std::vector<Ast> ParseAll(const source::SourceMap& sources, Sink& sink) {
  std::vector<Ast> files;
  if (!IsWithinLimits(sources, sink)) return files;
  for (source::FileId file = 0; file < sources.size(); ++file) {
    files.push_back(Parse(Lex(sources, file, sink), sink));
  }
  return files;
}

}  // namespace curfew::syntax
