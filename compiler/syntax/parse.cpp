#include "compiler/syntax/parse.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/antlr_tree.h"
#include "compiler/syntax/block_form.h"

#include <algorithm>

namespace curfew::syntax {

namespace {

using diagnostics::Sink;

// What a rule of the grammar holds, as an author calls it. Rules that are absent say what single
// words were possible.
struct RulePhrase {
  std::string_view rule;
  std::string_view phrase;
};
constexpr RulePhrase RulePhrases[] = {
    {"duration", "a duration"},
    {"durationBound", "a duration"},
    {"byteSize", "a size"},
    {"sizeBound", "a size"},
    {"amount", "an amount"},
    {"amountBound", "an amount"},
    {"number", "a number"},
    {"text", "a string"},
    {"texts", "a string"},
    {"time", "a time"},
    {"digest", "a digest"},
    {"name", "a name"},
    {"newName", "a name"},
    {"newNames", "a name"},
    {"path", "a name"},
    {"typeName", "a type"},
    {"type", "a type"},
    {"list", "a list"},
    {"object", "an object"},
    {"wished", "a value"},
    {"action", "an action"},
    {"audience", "a principal, an attribute or `any`"},
    {"target", "a pattern or a list's name"},
    {"place", "an address block or a list's name"},
    {"comparator", "a comparison"},
    {"methods", "methods (`GET`, or `any`)"},
};

std::string Quoted(std::string_view text) { return fmt::format("`{}`", Printable(text, 60)); }

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
    return ast;
  }

 private:
  // ---- Looking at tokens

  [[nodiscard]] bool AtEnd() const { return at_ >= tokens_.size(); }
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
      if (behind && StartsLine(i) && Begins(block, i)) return Continue(i);
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

  void ReportPieceError(std::size_t begin, const PieceError& error) {
    const std::size_t mistake = error.position;
    const source::Span span = mistake < tokens_.size() && !(StartsLine(mistake) && mistake > begin)
                                  ? tokens_.span(mistake)
                                  : source::Behind(tokens_.span(mistake - 1));
    const std::string_view found = Text(mistake);
    const bool is_word = mistake < tokens_.size() && tokens_[mistake].kind == TokenKind::Word;
    const std::string_view before = mistake > 0 ? Text(mistake - 1) : std::string_view();

    if (is_word && (error.rule == "newName" || error.rule == "newNames") && !StartsLine(mistake)) {
      sink_.Report(tokens_.span(mistake), diag::ReservedName, found);
      return;
    }
    std::vector<std::string_view> words(error.expected.begin(), error.expected.end());
    if (is_word) {
      const auto nearest = NearestWord(found, words.empty() ? InnerWords() : words);
      if (nearest && nearest->find(' ') == std::string_view::npos) {
        sink_.Report(tokens_.span(mistake), diag::MisspeltWord, found, *nearest)
            .Fix(tokens_.span(mistake), std::string(*nearest));
        return;
      }
    }
    const std::string expectation = Expectation(error, before);
    if (expectation.empty()) {
      sink_.Report(span, diag::CannotFollow, Printable(found, 60), Printable(before, 60));
      return;
    }
    sink_.Report(span, diag::ExpectedAfter, expectation, Printable(before, 60),
                 mistake < tokens_.size() ? Quoted(found) : "the end of the file");
  }

  // What would have fitted; empty when that is not known.
  [[nodiscard]] static std::string Expectation(const PieceError& error, std::string_view before) {
    for (const RulePhrase& known : RulePhrases) {
      if (error.rule == known.rule) return std::string(known.phrase);
    }
    if (error.rule == "operand" || error.rule == "condition" || error.rule == "comparison" ||
        error.rule == "sum" || error.rule == "value" || error.rule == "scalar") {
      static constexpr std::string_view BeforeCondition[] = {"when", ":",     "and", "or",
                                                             "not",  "where", "("};
      const bool is_condition = std::find(std::begin(BeforeCondition), std::end(BeforeCondition),
                                          before) != std::end(BeforeCondition);
      return is_condition ? "a condition" : "a value";
    }
    constexpr std::size_t ShownMax = 6;
    std::string list;
    const std::size_t count = error.expected.size();
    if (count == 0 || count > ShownMax) return list;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& option = error.expected[i];
      if (i > 0) list += i + 1 == count ? " or " : ", ";
      list += option.find(' ') == std::string::npos ? Quoted(option) : option;
    }
    return list;
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
    ReportUnlessKnown(begin, begin + 1, [&] {
      if (const auto reserved = ReservedForm(block, word, Text(at_ + 1)); reserved && !continues) {
        sink_.Report(span, diag::ReservedForm, *reserved);
      } else if (continues || !is_word) {
        const auto nearest = is_word ? NearestWord(word, InnerWords()) : std::nullopt;
        const auto begins = is_word ? NearestWord(word, WordsOf(block)) : std::nullopt;
        if (const auto meant = nearest ? nearest : begins) {
          sink_.Report(span, diag::MisspeltWord, word, *meant).Fix(span, std::string(*meant));
        } else if (at_ > 0) {
          sink_.Report(span, diag::CannotFollow, Printable(word, 60), Printable(Text(at_ - 1), 60));
        } else {
          ReportBeginsNothing(block);
        }
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

  void ReportBeginsNothing(Block block) {
    std::string words;
    for (const std::string_view word : WordsOf(block)) {
      words += words.empty() ? "" : ", ";
      words += Quoted(word);
    }
    if (words.empty()) words = "`name: type`";
    sink_.Report(tokens_.span(at_), diag::UnknownStatement, Printable(Text(at_), 60), NameOf(block),
                 words);
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
  bool ReadPiece(Piece piece, Block block, Read&& read) {
    const std::size_t begin = at_;
    auto result = pieces_.Parse(piece, begin);
    if (const auto* error = std::get_if<PieceError>(&result)) {
      const std::size_t mistake = error->position;
      // A mistake of a token may make a later one not fit.
      ReportUnlessKnown(begin, mistake + 1, [&] { ReportPieceError(begin, *error); });
      Resume(block, begin, mistake);
      return false;
    }
    const auto& parsed = std::get<ParsedPiece>(result);
    at_ = parsed.next;
    read(*parsed.tree);
    return true;
  }

  // A head up to its brace. False when there is no block to read.
  template <typename Read>
  bool ReadHead(Piece piece, Block outer, Read&& read) {
    const std::size_t begin = at_;
    auto result = pieces_.Parse(piece, begin);
    if (const auto* error = std::get_if<PieceError>(&result)) {
      const std::size_t mistake = error->position;
      ReportUnlessKnown(begin, mistake + 1, [&] { ReportPieceError(begin, *error); });
      return ResumeInBlock(outer, begin, mistake);
    }
    const auto& parsed = std::get<ParsedPiece>(result);
    at_ = parsed.next;
    read(*parsed.tree);
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
    if (AtEnd()) return;
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
    if (!ReadPiece(Piece::Header, Block::File,
                   [&](TreeReader::Tree& tree) { header = Reader().ReadHeader(tree); })) {
      return header;
    }
    if (seen_declaration_) sink_.Report(span, diag::HeaderTooLate, word);
    auto* first = word == "language" ? &language_ : word == "package" ? &package_ : nullptr;
    if (first != nullptr && *first) {
      sink_.Report(span, diag::StatedTwice, word).Note(**first, diag::FirstHere);
    } else if (first != nullptr) {
      *first = span;
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
    if (auto* persist = std::get_if<PersistStatement>(&*statement)) complete(*persist);
    if (auto* snapshot = std::get_if<SnapshotStatement>(&*statement)) complete(*snapshot);
    plane.statements.push_back(*std::move(statement));
  }

  // ---- Tests

  std::optional<Declaration> ReadTest(const Doc& doc) {
    TestDecl test;
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
  bool seen_declaration_ = false;
  std::optional<source::Span> language_;
  std::optional<source::Span> package_;
};

}  // namespace

Ast Parse(const TokenList& tokens, Sink& sink) { return Parser(tokens, sink).Run(); }

std::vector<Ast> ParseAll(const source::SourceMap& sources, Sink& sink) {
  std::vector<Ast> files;
  for (source::FileId file = 0; file < sources.size(); ++file) {
    files.push_back(Parse(Lex(sources, file, sink), sink));
  }
  return files;
}

}  // namespace curfew::syntax
