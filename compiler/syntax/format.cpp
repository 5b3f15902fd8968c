#include "compiler/syntax/format.h"

#include "compiler/base/check.h"
#include "compiler/syntax/layout.h"

#include <algorithm>

namespace curfew::syntax {

namespace {

constexpr std::size_t LineBytesMax = 100;
constexpr std::size_t Unmatched = static_cast<std::size_t>(-1);

bool IsComment(const Token& token) {
  return token.kind == TokenKind::Comment || token.kind == TokenKind::Doc;
}

// Lays the tokens out in lines. Only what stands between tokens is decided here.
class Formatter {
 public:
  Formatter(const TokenList& list, const Ast& ast) : list_(list), places_(ast.places) {
    ReadTokens();
    DecideExpansion();
  }

  std::vector<LayoutLine> Run() {
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) Place(i);
    return std::move(lines_);
  }

 private:
  // An open bracket.
  struct Frame {
    std::size_t closing;
    bool is_block;
    bool expanded;
    std::size_t group;  // of the statements inside, for a block
    // The statement that the block belongs to, resumed when it closes.
    std::size_t statement_group;
    Block statement_block;
    std::size_t statement_indent;
  };

  [[nodiscard]] std::string_view Text(std::size_t i) const {
    return i < list_.tokens.size() ? list_.TextOf(list_.tokens[i]) : std::string_view();
  }
  [[nodiscard]] bool IsOpening(std::size_t i) const {
    const std::string_view text = Text(i);
    return text == "{" || text == "[" || text == "(";
  }
  [[nodiscard]] bool IsClosing(std::size_t i) const {
    const std::string_view text = Text(i);
    return text == "}" || text == "]" || text == ")";
  }
  // Line feeds between a token and the one before it.
  [[nodiscard]] std::size_t BreaksBefore(std::size_t i) const {
    if (i == 0) return 0;
    const std::size_t from = list_.tokens[i - 1].end;
    const std::string_view gap = list_.text.substr(from, list_.tokens[i].begin - from);
    return static_cast<std::size_t>(std::count(gap.begin(), gap.end(), '\n'));
  }

  // ---- Before the layout

  void ReadTokens() {
    behind_comments_.assign(list_.tokens.size(), list_.tokens.size());
    for (std::size_t i = list_.tokens.size(); i-- > 0;) {
      if (!IsComment(list_.tokens[i])) {
        behind_comments_[i] = i;
      } else if (i + 1 < list_.tokens.size()) {
        behind_comments_[i] = behind_comments_[i + 1];
      }
    }
    closing_.assign(list_.tokens.size(), Unmatched);
    begins_.assign(list_.tokens.size(), nullptr);
    std::vector<std::size_t> open;
    std::size_t place = 0;
    for (std::size_t i = 0; i < list_.tokens.size(); ++i) {
      while (place < places_.size() && places_[place].begin < list_.tokens[i].begin) ++place;
      if (place < places_.size() && places_[place].begin == list_.tokens[i].begin) {
        begins_[i] = &places_[place];
      }
      if (IsOpening(i)) open.push_back(i);
      if (IsClosing(i) && !open.empty()) {
        closing_[open.back()] = i;
        open.pop_back();
      }
    }
    CURFEW_CHECK(open.empty(), "a file without errors has its brackets in balance");
  }

  // A block is expanded where its author broke a line or wrote a comment in it, or where it would
  // not fit; a list or object only where a line was broken directly behind its bracket.
  void DecideExpansion() {
    const std::size_t count = list_.tokens.size();
    std::vector<std::size_t> width(count + 1, 0);   // of the tokens before, each with a blank
    std::vector<std::size_t> breaks(count + 1, 0);  // line feeds and comments before
    for (std::size_t i = 0; i < count; ++i) {
      width[i + 1] = width[i] + Text(i).size() + 1;
      breaks[i + 1] = breaks[i] + BreaksBefore(i) + (IsComment(list_.tokens[i]) ? 1 : 0);
    }
    expanded_.assign(count, false);
    is_block_.assign(count, false);
    std::size_t statement = 0;
    Block block = Block::File;
    for (std::size_t i = 0; i < count; ++i) {
      if (begins_[i] != nullptr) {
        statement = i;
        block = begins_[i]->block;
      }
      if (closing_[i] == Unmatched) continue;
      const std::size_t end = closing_[i];
      is_block_[i] = Text(i) == "{" && block != Block::Test;
      if (end == i + 1) continue;
      if (is_block_[i]) {
        expanded_[i] =
            breaks[end + 1] > breaks[i + 1] || width[end + 1] - width[statement] > LineBytesMax;
      } else {
        expanded_[i] =
            Text(i) != "(" && (BreaksBefore(i + 1) > 0 || IsComment(list_.tokens[i + 1]));
      }
    }
  }

  // ---- The layout

  void Place(std::size_t i) {
    const Token& token = list_.tokens[i];
    if (IsComment(token)) return PlaceComment(i);
    const bool closes = !frames_.empty() && frames_.back().closing == i;
    Frame closed{};
    if (closes) {
      closed = frames_.back();
      frames_.pop_back();
    }
    if (begins_[i] != nullptr) {
      BeginStatement(i);
    } else if (closes && closed.expanded) {
      CloseExpanded(closed);
    } else if (NeedsLine(i)) {
      NewLine(i, statement_indent_ + std::max<std::size_t>(OpenExpanded(), 1));
    } else {
      Append(SpaceBefore(i));
    }
    Append(Text(i));
    if (cell_ == Cell::Head && i == head_end_) cell_ = Cell::Body;
    if (closing_[i] != Unmatched) Open(i);
    if (closes && closed.is_block && !closed.expanded) LeaveBlock(closed);
  }

  void PlaceComment(std::size_t i) {
    std::string_view text = Text(i);
    text = text.substr(0, text.find_last_not_of(" \t") + 1);
    if (!list_.tokens[i].starts_line && !lines_.empty()) {
      lines_.back().comment = lines_.back().comment.empty()
                                  ? std::string(text)
                                  : lines_.back().comment + " " + std::string(text);
      fresh_line_ = true;
      return;
    }
    const std::size_t next = behind_comments_[i];
    const bool between =
        next >= list_.tokens.size() || begins_[next] != nullptr ||
        (!frames_.empty() && frames_.back().is_block && frames_.back().closing == next);
    NewLine(i,
            between ? BlockIndent() : statement_indent_ + std::max<std::size_t>(OpenExpanded(), 1));
    lines_.back().group = between ? BlockGroup() : statement_group_;
    lines_.back().is_comment = true;
    lines_.back().comment = text;
    fresh_line_ = true;
  }

  void BeginStatement(std::size_t i) {
    const bool in_line = !frames_.empty() && !frames_.back().expanded && !fresh_line_;
    statement_block_ = begins_[i]->block;
    statement_group_ = BlockGroup();
    cell_ = Cell::Body;
    if (in_line) {
      Append(Text(i - 1) == "{" ? " " : "  ");
      return;
    }
    statement_indent_ = BlockIndent();
    NewLine(i, statement_indent_);
    LayoutLine& line = lines_.back();
    line.begins_statement = true;
    SplitCells(i, line);
  }

  // How the tokens of a statement's first line fall into cells.
  void SplitCells(std::size_t i, LayoutLine& line) {
    cell_ = Cell::Body;
    if (statement_block_ == Block::File) return;
    const std::string_view word = Text(i);
    const bool has_label = Text(i + 1) == ":";
    if (statement_block_ == Block::Sandbox &&
        (has_label || word == "deny" || word == "require" || word == "never" || word == "trial")) {
      return;
    }
    cell_ = Cell::Head;
    line.has_label = has_label;
    line.may_be_free = !has_label && (word == "allow" || word == "deny" || word == "trial");
    head_end_ = i;
    if (has_label) head_end_ = i + 1;
    if (statement_block_ == Block::Test) {
      const Token* second = i + 1 < list_.tokens.size() ? &list_.tokens[i + 1] : nullptr;
      if (word == "given") {
        head_end_ = i + 1;
      } else if (word == "egress") {
        if (second != nullptr && second->kind != TokenKind::String) head_end_ = i + 1;
      } else {
        head_end_ = Unmatched;
      }
    }
  }

  void CloseExpanded(const Frame& closed) {
    if (closed.is_block) LeaveBlock(closed);
    StartLine(statement_indent_ + OpenExpanded());
  }
  void LeaveBlock(const Frame& closed) {
    statement_group_ = closed.statement_group;
    statement_block_ = closed.statement_block;
    statement_indent_ = closed.statement_indent;
  }

  void Open(std::size_t i) {
    if (is_block_[i] && expanded_[i]) OpenBlock();
    frames_.push_back({closing_[i], is_block_[i], expanded_[i], ++last_group_, statement_group_,
                       statement_block_, statement_indent_});
  }

  // The line on which the block's statement began, which is not padded.
  void OpenBlock() {
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (!line->begins_statement) continue;
      line->opens_block = true;
      return;
    }
  }

  // Whether the author's line break before a token inside a statement stays.
  [[nodiscard]] bool NeedsLine(std::size_t i) const {
    if (fresh_line_) return true;
    if (BreaksBefore(i) == 0) return false;
    const std::string_view text = Text(i);
    if (text == "when" || text == "because" || text == "and" || text == "or" || text == "->") {
      return true;
    }
    const std::string_view before = Text(i - 1);
    return before == "," || (!frames_.empty() && frames_.back().expanded && IsOpening(i - 1));
  }

  [[nodiscard]] std::string_view SpaceBefore(std::size_t i) const {
    const std::string_view text = Text(i);
    const std::string_view before = Text(i - 1);
    if (text == "," || text == ":" || text == "?" || text == ")" || text == "]" || text == "..") {
      return "";
    }
    if (before == "(" || before == "[" || before == "..") return "";
    if (text == "(" && before == "count") return "";
    if (text == "}" && before == "{") return "";
    return " ";
  }

  // The lists and objects of the statement at hand that are expanded.
  [[nodiscard]] std::size_t OpenExpanded() const {
    std::size_t count = 0;
    for (auto it = frames_.rbegin(); it != frames_.rend() && !it->is_block; ++it) {
      if (it->expanded) ++count;
    }
    return count;
  }
  [[nodiscard]] std::size_t BlockIndent() const {
    return static_cast<std::size_t>(
        std::count_if(frames_.begin(), frames_.end(),
                      [](const Frame& frame) { return frame.is_block && frame.expanded; }));
  }
  [[nodiscard]] std::size_t BlockGroup() const {
    for (auto it = frames_.rbegin(); it != frames_.rend(); ++it) {
      if (it->is_block) return it->group;
    }
    return 0;
  }

  // A line that begins with token `i`.
  void NewLine(std::size_t i, std::size_t indent) {
    StartLine(indent);
    const bool in_statement = begins_[i] == nullptr && !IsComment(list_.tokens[i]);
    lines_.back().blank_before = BreaksBefore(i) > 1 && !in_statement;
  }
  void StartLine(std::size_t indent) {
    LayoutLine line;
    line.indent = indent;
    line.group = statement_group_;
    line.block = statement_block_;
    lines_.push_back(std::move(line));
    cell_ = Cell::Body;
    fresh_line_ = false;
  }

  void Append(std::string_view text) {
    LayoutLine& line = lines_.back();
    if (text == "->" && statement_block_ == Block::Test && line.begins_statement) {
      std::string& before = CellOf(line);
      before.erase(before.find_last_not_of(' ') + 1);
      cell_ = Cell::Answer;
    }
    std::string& cell = CellOf(line);
    if (!cell.empty() || text != " ") cell += text;
  }
  std::string& CellOf(LayoutLine& line) const {
    return cell_ == Cell::Head ? line.head : cell_ == Cell::Body ? line.body : line.answer;
  }

  enum class Cell { Head, Body, Answer };

  const TokenList& list_;
  const std::vector<StatementPlace>& places_;
  std::vector<std::size_t> behind_comments_;   // the first token from here that is none
  std::vector<std::size_t> closing_;           // of an opening bracket, its partner
  std::vector<const StatementPlace*> begins_;  // the statement that a token begins
  std::vector<bool> expanded_;                 // of an opening bracket
  std::vector<bool> is_block_;

  std::vector<LayoutLine> lines_;
  std::vector<Frame> frames_;
  bool fresh_line_ = true;  // nothing may follow on the last line
  Cell cell_ = Cell::Body;
  std::size_t head_end_ = 0;  // the last token of the head
  std::size_t last_group_ = 0;
  std::size_t statement_group_ = 0;
  Block statement_block_ = Block::File;
  std::size_t statement_indent_ = 0;
};

}  // namespace

std::string Format(const TokenList& tokens, const Ast& ast) {
  std::vector<LayoutLine> lines = Formatter(tokens, ast).Run();
  Separate(lines);
  Align(lines);
  return Write(lines);
}

}  // namespace curfew::syntax
