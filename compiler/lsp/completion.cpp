#include "compiler/lsp/completion.h"

#include "compiler/check/test.h"
#include "compiler/lsp/hover.h"
#include "compiler/syntax/continuation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace curfew::lsp {
namespace {

using syntax::Block;

// Names that stand behind a word of a block, and that no table of the schema has: the checker
// judges them.
struct Slot {
  Block block;
  std::string_view after;
  std::array<std::string_view, 3> names;
};
constexpr Slot Slots[] = {
    {Block::File, "attributes", {"task", "caller"}},
    {Block::Image, "isolation", {"kvm", "any"}},
    {Block::Image, "size", {"cpu", "memory", "disk"}},
    {Block::Network, "tls", {"inspect", "names"}},
    {Block::Lifetime, "then", {"freeze", "close"}},
    {Block::Filesystem, "snapshot", {"disk", "memory"}},
    {Block::Evidence, "redact", {"header"}},
    {Block::Secret, "from", {"env"}},
    {Block::Secret, "send", {"bearer", "header"}},
};
constexpr std::string_view Subjects[] = {"task", "caller", "sandbox", "snapshot", "token", "host"};
constexpr std::string_view Methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
constexpr std::string_view Comparators[] = {
    "==", "!=", "<", "<=", ">", ">=", "in", "of", "matches", "starts", "intersects"};

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

template <typename Words>
bool IsOneOf(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// A rule of the grammar that lists names, not words of the language.
bool IsNameRule(std::string_view rule) { return rule == "softWord" || rule == "valueWord"; }

class Completer {
 public:
  Completer(const syntax::TokenList& tokens, const Index& index, const Vocabulary& vocabulary,
            const std::vector<std::string>& known_ids)
      : next_(syntax::ContinuationOf(tokens)),
        index_(index),
        vocabulary_(vocabulary),
        known_ids_(known_ids) {
    for (const syntax::Token& token : next_.statement) words_.push_back(tokens.TextOf(token));
  }

  std::vector<Proposal> Run() {
    if (next_.block == Block::Test) ProposeInTest();
    if (Wants("scalar") || Wants("value") || Wants("path")) ProposeInCondition();
    if (Wants("audience")) ProposeAudience();
    ProposeNames();
    for (const syntax::Continuation::Wanted& wanted : next_.wanted) {
      const bool is_word = !wanted.word.empty() && IsWordByte(wanted.word.front());
      if (!is_word || IsNameRule(wanted.rule)) continue;
      const bool bound =
          wanted.word == "at" && wanted.rule != "targets" && wanted.rule != "testItem";
      Add(Proposal::Kind::Keyword, bound ? "at most" : wanted.word);
    }
    for (const std::string_view word : next_.statements) Add(Proposal::Kind::Keyword, word);
    return std::move(proposals_);
  }

 private:
  // ---- Looking at the statement

  [[nodiscard]] bool Wants(std::string_view rule) const {
    return std::any_of(next_.wanted.begin(), next_.wanted.end(),
                       [&](const auto& wanted) { return wanted.rule == rule; });
  }
  // Where a name of somebody's own may stand.
  [[nodiscard]] bool WantsName() const {
    return Wants("name") || Wants("newName") || Wants("softWord");
  }
  [[nodiscard]] std::string_view Last(std::size_t back = 0) const {
    return back < words_.size() ? words_[words_.size() - 1 - back] : std::string_view();
  }
  [[nodiscard]] bool Has(std::string_view word) const { return IsOneOf(word, words_); }
  // The statement's first word behind its label.
  [[nodiscard]] std::string_view Head() const {
    const std::size_t first = words_.size() > 2 && words_[1] == ":" ? 2 : 0;
    return first < words_.size() ? words_[first] : std::string_view();
  }

  // What the condition at hand is about.
  [[nodiscard]] Actions ActionsAtHand() const {
    Actions actions;
    const auto set = [&](schema::Action action) { actions.set(static_cast<std::size_t>(action)); };
    if (next_.block == Block::Network) {
      set(Head() == "expose" ? schema::Action::Expose : schema::Action::Egress);
    } else if (next_.block == Block::Filesystem) {
      set(Head() == "import" ? schema::Action::Import : schema::Action::Export);
    } else if (Head() == "sandbox" || Head() == "every") {
      set(schema::Action::Create);
    } else {
      for (const std::string_view word : words_) {
        if (word == "when" || word == "because") break;
        if (const auto action = schema::ActionOf(word)) set(*action);
      }
    }
    return actions;
  }

  // The attribute whose value is wanted: on the other side of an operator, with the brackets of a
  // list between.
  struct Operator {
    std::string_view path;
    std::string_view word;
  };
  [[nodiscard]] std::optional<Operator> OperatorAtHand() const {
    std::size_t at = words_.size();
    while (at > 0 && words_[at - 1] != "[" && IsListPart(words_[at - 1])) --at;
    if (at > 0 && words_[at - 1] == "[") {
      --at;
    } else {
      at = words_.size();
    }
    if (at < 2 || !IsOneOf(words_[at - 1], Comparators)) return std::nullopt;
    const std::string_view word = words_[at - 1];
    std::size_t left = at - 2;
    if (left > 0 && (words_[left] == "subset" || words_[left] == "not")) --left;
    return Operator{words_[left], word};
  }
  static bool IsListPart(std::string_view word) {
    return word == "," || (!word.empty() && (word.front() == '"' || IsWordByte(word.front())));
  }

  // ---- Proposing

  void Add(Proposal::Kind kind, std::string_view text, std::string detail = {},
           std::string doc = {}) {
    if (!seen_.emplace(text).second) return;
    proposals_.push_back({kind, std::string(text), std::move(detail), std::move(doc)});
  }

  void AddSymbols(SymbolKind kind, std::optional<syntax::ListDecl::Kind> list = {}) {
    for (const Symbol& symbol : index_.symbols) {
      if (symbol.kind != kind || (list && symbol.list != list)) continue;
      Add(Proposal::Kind::Name, symbol.name, TitleOf(symbol, vocabulary_), symbol.doc);
    }
  }

  void AddAttributes(Actions actions) {
    const bool of_class = Head() == "sandbox" || Head() == "every";
    for (const Attribute* attribute : vocabulary_.ReadableBy(actions)) {
      const std::string_view path = attribute->path;
      const bool readable = !of_class || path.starts_with("now") || path.starts_with("caller.") ||
                            path.starts_with("task.");
      if (readable) AddAttribute(*attribute, attribute->path);
    }
  }
  void AddAttribute(const Attribute& attribute, std::string_view text) {
    Add(Proposal::Kind::Attribute, text, attribute.type,
        AboutAttribute(vocabulary_.Find(attribute.path)));
  }

  // Values of the attribute at `path`.
  void AddValues(std::string_view path, bool many, bool bare_classes) {
    using List = syntax::ListDecl::Kind;
    for (const Attribute* attribute : vocabulary_.Find(path)) {
      for (const std::string& value : attribute->values) {
        Add(Proposal::Kind::Value, value, std::string(path));
      }
      switch (attribute->kind) {
        case schema::TypeKind::Bool:
          Add(Proposal::Kind::Value, "true", std::string(path));
          Add(Proposal::Kind::Value, "false", std::string(path));
          break;
        case schema::TypeKind::Digest:
          AddSymbols(SymbolKind::Image);
          if (many) AddSymbols(SymbolKind::List, List::Digests);
          break;
        case schema::TypeKind::Host:
          if (many) AddSymbols(SymbolKind::List, List::Hosts);
          break;
        case schema::TypeKind::Ip:
        case schema::TypeKind::Cidr:
          if (many) AddSymbols(SymbolKind::List, List::Addresses);
          break;
        case schema::TypeKind::Text:
        case schema::TypeKind::Principal:
          if (many) AddSymbols(SymbolKind::List, List::Strings);
          break;
        case schema::TypeKind::Int:
        case schema::TypeKind::Duration:
        case schema::TypeKind::Size:
        case schema::TypeKind::Time:
        case schema::TypeKind::UrlPath:
        case schema::TypeKind::FilePath:
        case schema::TypeKind::Enum:
          break;
      }
    }
    if (!path.ends_with(".class")) return;
    for (const Symbol& symbol : index_.symbols) {
      if (symbol.kind != SymbolKind::Class) continue;
      Add(Proposal::Kind::Value, bare_classes ? symbol.name : '"' + symbol.name + '"',
          TitleOf(symbol, vocabulary_), symbol.doc);
    }
  }

  void ProposeInCondition() {
    // Values of facts are ProposeInTest's, and a package's name is the author's own.
    if (next_.block == Block::Test || Head() == "package") return;
    if (const auto at_hand = OperatorAtHand()) {
      AddValues(at_hand->path, at_hand->word == "in" || at_hand->word == "of", false);
    }
    AddAttributes(ActionsAtHand());
  }

  void ProposeAudience() {
    for (const Attribute* attribute : vocabulary_.ReadableBy(ActionsAtHand())) {
      if (attribute->kind == schema::TypeKind::Principal) {
        AddAttribute(*attribute, attribute->path);
      }
    }
  }

  void ProposeNames() {
    if (!WantsName() && !Wants("place") && !Wants("target") && !Wants("methods")) return;
    for (const Slot& slot : Slots) {
      if (slot.block != next_.block || (slot.after != Last() && !IsSizeItem(slot))) continue;
      for (const std::string_view name : slot.names) {
        if (!name.empty()) Add(Proposal::Kind::Value, name);
      }
    }
    if (Wants("methods") && next_.block == Block::Network) {
      for (const std::string_view method : Methods) Add(Proposal::Kind::Value, method);
    }
    if (next_.block == Block::Image && Head() == "allow") AddSymbols(SymbolKind::Image);
    if (next_.block == Block::Identity && Head() == "secrets") AddSymbols(SymbolKind::Secret);
    if (next_.block == Block::Keep && Head() == "from") AddSymbols(SymbolKind::Class);
    if (Last() == "narrows") AddSymbols(SymbolKind::Class);
    if (next_.block == Block::Attributes && Has(":")) AddTypes();
    if (next_.block != Block::Network) return;
    if (Last() == "using") {
      AddSymbols(SymbolKind::Secret);
    } else if (Has("at")) {
      AddSymbols(SymbolKind::List, syntax::ListDecl::Kind::Addresses);
    } else if (Wants("target")) {
      AddSymbols(SymbolKind::List, syntax::ListDecl::Kind::Hosts);
    }
  }
  // A further item of `size cpu 2, …`.
  [[nodiscard]] bool IsSizeItem(const Slot& slot) const {
    return slot.after == "size" && Head() == "size" && Last() == ",";
  }
  void AddTypes() {
    for (int i = 0; i < static_cast<int>(schema::TypeKind::Enum); ++i) {
      Add(Proposal::Kind::Value, schema::WordOf(static_cast<schema::TypeKind>(i)), "a type");
    }
  }

  // ---- Tests

  // Where a test's statement stands: in the braces of which object, and behind which fact.
  struct FactPlace {
    std::vector<std::string> prefixes;  // of the open objects, innermost last; "task.", "with."
    std::string field;                  // behind its colon
  };
  [[nodiscard]] FactPlace FactAtHand() const {
    FactPlace place;
    std::string name;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::string_view word = words_[i];
      if (word == "{") {
        const std::string outer = place.prefixes.empty() ? "" : place.prefixes.back();
        const bool with = i > 0 && words_[i - 1] == "with";
        const bool nested = i > 0 && words_[i - 1] == ":";
        const bool given = words_[0] == "given";
        std::string own = with ? "with" : nested || given ? name : std::string(words_[0]);
        place.prefixes.push_back((nested ? outer : "") + own + ".");
        place.field.clear();
      } else if (word == "}") {
        if (!place.prefixes.empty()) place.prefixes.pop_back();
        place.field.clear();
      } else if (word == ":") {
        place.field = name;
      } else if (word == ",") {
        if (!IsInList(i)) place.field.clear();
      } else {
        name = word;
      }
    }
    return place;
  }
  [[nodiscard]] bool IsInList(std::size_t end) const {
    for (std::size_t i = end; i > 0; --i) {
      if (words_[i - 1] == "[") return true;
      if (words_[i - 1] == "]" || words_[i - 1] == "{") return false;
    }
    return false;
  }

  void ProposeInTest() {
    if (Wants("answerId")) {
      for (const std::string& id : known_ids_) Add(Proposal::Kind::RuleId, id);
      if (known_ids_.empty()) AddSymbolIds();
    }
    const FactPlace place = FactAtHand();
    if (!place.prefixes.empty()) return ProposeFact(place);
    if (words_.empty()) return;
    const std::string_view head = words_.front();
    if (head == "given" && WantsName()) {
      for (const std::string_view subject : Subjects) Add(Proposal::Kind::Name, subject);
    } else if (head == "create" && Wants("scalar")) {
      AddValues("create." + std::string(Last()), false, true);
    } else if (head == "create" && (Last() == "create" || Last() == ",") && WantsName()) {
      AddFields("create.");
    } else if (head == "observe" && Last() == "observe") {
      AddValues("observe.what", false, false);
    } else if (head == "snapshot" && Last() == "snapshot") {
      for (const std::string_view kind : {"disk", "memory"}) Add(Proposal::Kind::Value, kind);
    }
  }
  void ProposeFact(const FactPlace& place) {
    const std::string& prefix = place.prefixes.back();
    if (!place.field.empty()) return AddValues(prefix + place.field, false, false);
    if (prefix != "with.") return AddFields(prefix);
    for (const std::string_view field : check::PlanFieldNames()) {
      Add(Proposal::Kind::Attribute, field, "of the plan");
    }
  }
  void AddFields(const std::string& prefix) {
    for (const Attribute* attribute : vocabulary_.ReadableBy({})) {
      if (!attribute->path.starts_with(prefix)) continue;
      AddAttribute(*attribute, std::string_view(attribute->path).substr(prefix.size()));
    }
  }
  // Where errors hide what the set's ids are.
  void AddSymbolIds() {
    for (const Symbol& symbol : index_.symbols) {
      if (symbol.kind == SymbolKind::Class || symbol.kind == SymbolKind::Label) {
        Add(Proposal::Kind::RuleId, symbol.path, {}, symbol.doc);
      }
    }
  }

  syntax::Continuation next_;
  const Index& index_;
  const Vocabulary& vocabulary_;
  const std::vector<std::string>& known_ids_;
  std::vector<std::string_view> words_;  // of the statement
  std::vector<Proposal> proposals_;
  std::set<std::string, std::less<>> seen_;
};

// Whether a place directly behind the last token is inside of it.
bool EndsInside(const syntax::TokenList& tokens) {
  if (tokens.tokens.empty()) return false;
  const syntax::Token& last = tokens.tokens.back();
  const std::string_view text = tokens.TextOf(last);
  switch (last.kind) {
    case syntax::TokenKind::Comment:
    case syntax::TokenKind::Doc:
      return tokens.text.find('\n', last.end) == std::string_view::npos;
    case syntax::TokenKind::String:
      return last.end == tokens.text.size() && (text.size() < 2 || text.back() != '"');
    case syntax::TokenKind::Word:
    case syntax::TokenKind::Method:
    case syntax::TokenKind::Quantity:
    case syntax::TokenKind::Time:
    case syntax::TokenKind::Digest:
    case syntax::TokenKind::Punctuation:
    case syntax::TokenKind::Invalid:
      return false;
  }
  return false;
}

}  // namespace

Completion Complete(std::string_view text, std::uint32_t offset, const Index& index,
                    const Vocabulary& vocabulary, const std::vector<std::string>& known_ids) {
  Completion completion;
  completion.word_begin = std::min(offset, static_cast<std::uint32_t>(text.size()));
  while (completion.word_begin > 0 && IsWordByte(text[completion.word_begin - 1])) {
    --completion.word_begin;
  }
  source::SourceMap sources;
  const source::FileId file =
      sources.Add({"completion", std::string(text.substr(0, completion.word_begin))});
  diagnostics::Sink mistakes;
  const syntax::TokenList tokens = syntax::Lex(sources, file, mistakes);
  if (EndsInside(tokens)) return completion;
  completion.proposals = Completer(tokens, index, vocabulary, known_ids).Run();
  return completion;
}

}  // namespace curfew::lsp
