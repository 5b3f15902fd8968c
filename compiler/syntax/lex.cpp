#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/source/text_faults.h"
#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/block_form.h"
#include "compiler/syntax/brackets.h"
#include "compiler/syntax/string_literal.h"
#include "compiler/syntax/text_report.h"
#include "compiler/syntax/token_list.h"

#include <algorithm>
#include <cctype>

namespace curfew::syntax {

namespace {

using diagnostics::Sink;
using source::Span;
using source::TextFault;
using source::TextFaultKind;

}  // namespace

bool ReportFault(const TextFault& fault, source::FileId file, std::string_view text, Sink& sink) {
  const Span span{file, fault.begin, fault.end};
  switch (fault.kind) {
    case TextFaultKind::NotUtf8:
      sink.Report(span, diag::NotUtf8,
                  fmt::format("{:02X}", static_cast<unsigned char>(text[fault.begin])));
      return false;
    case TextFaultKind::Nul:
      sink.Report(span, diag::NulByte);
      return false;
    case TextFaultKind::ByteOrderMark:
      sink.Report(span, diag::ByteOrderMark).Fix(span, "");
      return true;
    case TextFaultKind::LoneCarriageReturn:
      sink.Report(span, diag::LoneCarriageReturn).Fix(span, "\n");
      return true;
    case TextFaultKind::HiddenCharacter:
      sink.Report(span, diag::HiddenCharacter,
                  fmt::format("{:04X}", static_cast<std::uint32_t>(fault.code_point)))
          .Fix(span, "");
      return true;
  }
  CURFEW_UNREACHABLE("the switch names every fault");
}

namespace {

// What authors bring along from other languages.
struct Habit {
  std::string_view begin;
  std::string_view remedy;
  std::string_view replacement;  // of `begin`, or of the whole token when `whole`
  bool whole;
};
constexpr Habit Habits[] = {
    {"//", "comments begin with `#`", "#", false},
    {"&&", "write `and`", "and", true},
    {"||", "write `or`", "or", true},
    {"!==", "write `!=`", "!=", true},
    {"!", "write `not`", "not ", true},
    {"===", "write `==`", "==", true},
    {"=>", "write `>=`", ">=", true},
    {"=<", "write `<=`", "<=", true},
    {"<>", "write `!=`", "!=", true},
    {"=", "write `==` to compare; a statement needs no `=`", "==", true},
    {";", "statements need no separator", "", true},
};

// How a line of printed text quotes, and how it ends what it quotes.
struct PrintedQuotes {
  std::string_view opening;
  std::string_view closing;
};
constexpr PrintedQuotes Printed[] = {{"“", "”"}, {"„", "“"}, {"”", "”"}, {"«", "»"},
                                     {"‘", "’"}, {"‚", "‘"}, {"’", "’"}, {"`", "`"}};

constexpr std::string_view Units[] = {"s", "m", "h", "d", "KiB", "MiB", "GiB", "TiB"};

std::string Lower(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

class TokenJudge {
 public:
  TokenJudge(TokenList& list, std::vector<TextFault> faults, Sink& sink)
      : list_(list), faults_(std::move(faults)), sink_(sink) {}

  void Run() {
    for (at_ = 0; at_ < list_.tokens.size(); ++at_) Judge(list_.tokens[at_]);
  }

 private:
  void Judge(Token& token) {
    // Faults of the text come in order, as tokens do; one in a comment concerns no statement.
    while (next_fault_ < faults_.size() && faults_[next_fault_].end <= token.begin) ++next_fault_;
    if (next_fault_ < faults_.size() && faults_[next_fault_].begin < token.end) {
      token.reported = true;
      return;
    }
    if (token.begin < quoted_until_) {
      token.kind = TokenKind::Invalid;
      token.reported = true;
      return;
    }
    switch (token.kind) {
      case TokenKind::String:
        JudgeString(token);
        return;
      case TokenKind::Word:
        JudgeWord(token);
        return;
      case TokenKind::Invalid:
        JudgeInvalid(token);
        return;
      case TokenKind::Method:
      case TokenKind::Quantity:
      case TokenKind::Time:
      case TokenKind::Digest:
      case TokenKind::Punctuation:
      case TokenKind::Comment:
      case TokenKind::Doc:
        return;
    }
  }

  void JudgeString(Token& token) {
    const std::string_view literal = list_.TextOf(token);
    const Span span = list_.SpanOf(token);
    const auto escape = FindEscapeFault(literal);
    if (!IsClosed(literal)) {
      sink_.Report(span, diag::OpenString);
    } else if (literal.size() - 2 > limits::StringLiteralBytesMax) {
      sink_.Report(span, diag::StringTooLong,
                   static_cast<std::int64_t>(limits::StringLiteralBytesMax / 1024));
    } else if (escape) {
      const auto begin = static_cast<std::uint32_t>(token.begin + escape->begin);
      sink_.Report({list_.file, begin, static_cast<std::uint32_t>(begin + escape->length)},
                   diag::UnknownEscape,
                   literal.substr(escape->begin, std::min<std::size_t>(escape->length, 40)));
    } else {
      return;
    }
    token.reported = true;
  }

  static bool IsClosed(std::string_view literal) {
    if (literal.size() < 2 || !literal.ends_with('"')) return false;
    const std::size_t last = literal.find_last_not_of('\\', literal.size() - 2);
    return (literal.size() - 2 - last) % 2 == 0;
  }

  void JudgeWord(Token& token) {
    const std::string_view word = list_.TextOf(token);
    if (JudgeUnit(token, word)) return;
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (std::none_of(word.begin(), word.end(), is_capital)) return;
    const Span span = list_.SpanOf(token);
    sink_.Report(span, diag::UpperCaseName, word).Fix(span, Lower(word));
    token.reported = true;
  }

  // `2 GiB`: a unit that a blank parts from its number.
  bool JudgeUnit(Token& token, std::string_view word) {
    if (at_ == 0 || token.starts_line) return false;
    Token& number = list_.tokens[at_ - 1];
    const std::string_view digits = list_.TextOf(number);
    if (number.kind != TokenKind::Quantity || number.reported ||
        digits.find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
    const auto* unit = std::find_if(std::begin(Units), std::end(Units), [&](std::string_view one) {
      return Lower(one) == Lower(word);
    });
    if (unit == std::end(Units)) return false;
    const std::string whole = fmt::format("{}{}", digits, *unit);
    const Span span{list_.file, number.begin, token.end};
    sink_
        .Report(span, diag::ForeignWord, fmt::format("{} {}", digits, word),
                fmt::format("a quantity is one word: write `{}`", whole))
        .Fix(span, whole);
    number.reported = token.reported = true;
    return true;
  }

  void JudgeInvalid(Token& token) {
    token.reported = true;
    const std::string_view text = list_.TextOf(token);
    const Span span = list_.SpanOf(token);
    if (JudgeQuotes(token) || JudgeBareText(text, span)) return;
    if (text == "=" && JudgeAssignment(span)) return;
    if (text == "=>" && IsAnswer(at_ + 1)) {
      sink_.Report(span, diag::ForeignWord, text, "write `->`").Fix(span, "->");
      return;
    }
    for (const Habit& habit : Habits) {
      if (!text.starts_with(habit.begin)) continue;
      const auto length = static_cast<std::uint32_t>(habit.begin.size());
      sink_.Report(span, diag::ForeignWord, habit.begin, habit.remedy)
          .Fix({span.file, span.begin, habit.whole ? span.end : span.begin + length},
               std::string(habit.replacement));
      return;
    }
    const auto code_point = DecodeUtf8(text);
    const std::string_view first = text.substr(0, code_point ? code_point->bytes : text.size());
    if (first == "→" && IsAnswer(at_ + 1)) {
      sink_.Report(span, diag::ForeignWord, first, "write `->`").Fix(span, "->");
      return;
    }
    sink_.Report(span, diag::InvalidCharacter, first);
  }

  // A text in quotes of another kind: `'x'`, and what a word processor makes of `"x"`.
  bool JudgeQuotes(const Token& token) {
    constexpr std::string_view kRemedy = "strings stand in `\"`";
    const std::string_view text = list_.TextOf(token);
    const Span span = list_.SpanOf(token);
    if (text.starts_with('\'')) {
      const bool is_closed = text.size() > 1;
      ReportQuoted(span, "'", kRemedy,
                   is_closed ? text.substr(1, text.size() - 2) : std::string_view(), is_closed);
      return true;
    }
    for (const PrintedQuotes& quotes : Printed) {
      if (!text.starts_with(quotes.opening)) continue;
      const std::size_t begin = token.begin + quotes.opening.size();
      const std::size_t end = list_.text.find(quotes.closing, begin);
      const bool is_closed =
          end != std::string_view::npos &&
          list_.text.substr(begin, end - begin).find_first_of("\r\n") == std::string_view::npos;
      Span whole = span;
      if (is_closed) whole.end = static_cast<std::uint32_t>(end + quotes.closing.size());
      quoted_until_ = whole.end;
      ReportQuoted(whole, quotes.opening, kRemedy,
                   is_closed ? list_.text.substr(begin, end - begin) : std::string_view(),
                   is_closed);
      return true;
    }
    return false;
  }
  void ReportQuoted(Span span, std::string_view quote, std::string_view remedy,
                    std::string_view inner, bool is_closed) {
    auto draft = sink_.Report(span, diag::ForeignWord, quote, remedy);
    if (is_closed && inner.find_first_of("\"\\") == std::string_view::npos) {
      draft.Fix(span, fmt::format("\"{}\"", inner));
    }
  }

  // A path, an address or a pattern without quotes.
  bool JudgeBareText(std::string_view text, Span span) {
    const auto first = static_cast<unsigned char>(text.front());
    const bool begins = (first == '/' && !text.starts_with("//")) || first == '*' ||
                        (first < 0x80 && std::isalnum(first) != 0);
    if (!begins || text.size() < 2) return false;
    auto draft = sink_.Report(span, diag::ForeignWord, text, "text stands in `\"`");
    const bool continues = at_ > 0 && list_.tokens[at_ - 1].end == span.begin &&
                           list_.tokens[at_ - 1].kind != TokenKind::Punctuation;
    if (!continues && text.find('\\') == std::string_view::npos) {
      draft.Fix(span, fmt::format("\"{}\"", text));
    }
    return true;
  }

  // `ttl = 2h`, and `risk = low` where a name is given a type or a value.
  bool JudgeAssignment(Span span) {
    if (at_ == 0) return false;
    const Token& name = list_.tokens[at_ - 1];
    const bool is_field =
        at_ > 1 && name.kind == TokenKind::Word && list_.TextOf(list_.tokens[at_ - 2]) == "{";
    if (name.kind != TokenKind::Word || !(name.starts_line || is_field)) return false;
    const Span behind_name{span.file, name.end, span.end};
    if (HomeOf(list_.TextOf(name))) {
      sink_.Report(span, diag::ForeignWord, "=", "a statement needs none").Fix(behind_name, "");
    } else {
      sink_.Report(span, diag::ForeignWord, "=", "write `:` behind a name").Fix(behind_name, ":");
    }
    return true;
  }

  [[nodiscard]] bool IsAnswer(std::size_t position) const {
    if (position >= list_.tokens.size()) return false;
    const std::string_view word = list_.TextOf(list_.tokens[position]);
    return word == "allow" || word == "deny";
  }

  TokenList& list_;
  std::vector<TextFault> faults_;
  Sink& sink_;
  std::size_t next_fault_ = 0;
  std::size_t at_ = 0;
  std::uint32_t quoted_until_ = 0;  // what stands before is of a text in quotes that are none
};

}  // namespace

TokenList Lex(const source::SourceMap& sources, source::FileId file, Sink& sink) {
  TokenList list;
  list.file = file;
  list.text = sources.text(file);
  if (sources.is_too_large(file)) {
    list.is_whole = false;
    sink.Report({file, 0, 0}, diag::FileTooLarge,
                static_cast<std::int64_t>(limits::FileBytesMax / (1024 * 1024)));
    return list;
  }
  if (list.text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    list.is_whole = false;
    sink.Report({file, 0, 0}, diag::EmptyFile);
    return list;
  }
  std::vector<TextFault> faults = source::FindTextFaults(list.text);
  for (const TextFault& fault : faults) {
    if (!ReportFault(fault, file, list.text, sink)) {
      list.is_whole = false;
      return list;
    }
  }
  list.tokens = Tokenize(list.text);
  TokenJudge(list, std::move(faults), sink).Run();
  CheckBrackets(list, sink);
  return list;
}

}  // namespace curfew::syntax
