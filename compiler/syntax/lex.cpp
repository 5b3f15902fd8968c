#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/source/text_faults.h"
#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/brackets.h"
#include "compiler/syntax/string_literal.h"
#include "compiler/syntax/text_report.h"
#include "compiler/syntax/token_list.h"

#include <algorithm>

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
    {"!", "write `not`", "not ", true},
    {"=", "write `==` to compare; a statement needs no `=`", "==", true},
    {";", "statements need no separator", "", true},
    {"'", "strings stand in `\"`", "\"", true},
};

class TokenJudge {
 public:
  TokenJudge(TokenList& list, std::vector<TextFault> faults, Sink& sink)
      : list_(list), faults_(std::move(faults)), sink_(sink) {}

  void Run() {
    for (Token& token : list_.tokens) Judge(token);
  }
  [[nodiscard]] bool has_open_string() const { return has_open_string_; }

 private:
  void Judge(Token& token) {
    // Faults of the text come in order, as tokens do; one in a comment concerns no statement.
    while (next_fault_ < faults_.size() && faults_[next_fault_].end <= token.begin) ++next_fault_;
    if (next_fault_ < faults_.size() && faults_[next_fault_].begin < token.end) {
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
      has_open_string_ = true;
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
    const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (std::none_of(word.begin(), word.end(), is_capital)) return;
    std::string lower(word);
    for (char& c : lower) {
      if (is_capital(c)) c = static_cast<char>(c - 'A' + 'a');
    }
    const Span span = list_.SpanOf(token);
    sink_.Report(span, diag::UpperCaseName, word).Fix(span, std::move(lower));
    token.reported = true;
  }

  void JudgeInvalid(Token& token) {
    token.reported = true;
    const std::string_view text = list_.TextOf(token);
    const Span span = list_.SpanOf(token);
    for (const Habit& habit : Habits) {
      if (!text.starts_with(habit.begin)) continue;
      const auto length = static_cast<std::uint32_t>(habit.begin.size());
      sink_.Report(span, diag::ForeignWord, habit.begin, habit.remedy)
          .Fix({span.file, span.begin, habit.whole ? span.end : span.begin + length},
               std::string(habit.replacement));
      return;
    }
    const auto code_point = DecodeUtf8(text);
    sink_.Report(span, diag::InvalidCharacter,
                 text.substr(0, code_point ? code_point->bytes : text.size()));
  }

  TokenList& list_;
  std::vector<TextFault> faults_;
  Sink& sink_;
  std::size_t next_fault_ = 0;
  bool has_open_string_ = false;
};

}  // namespace

TokenList Lex(const source::SourceMap& sources, source::FileId file, Sink& sink) {
  TokenList list;
  list.file = file;
  list.text = sources.text(file);
  if (sources.is_too_large(file)) {
    sink.Report({file, 0, 0}, diag::FileTooLarge,
                static_cast<std::int64_t>(limits::FileBytesMax / (1024 * 1024)));
    return list;
  }
  if (list.text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    sink.Report({file, 0, 0}, diag::EmptyFile);
    return list;
  }
  std::vector<TextFault> faults = source::FindTextFaults(list.text);
  for (const TextFault& fault : faults) {
    if (!ReportFault(fault, file, list.text, sink)) return list;
  }
  list.tokens = Tokenize(list.text);
  TokenJudge judge(list, std::move(faults), sink);
  judge.Run();
  CheckBrackets(list, judge.has_open_string(), sink);
  return list;
}

}  // namespace curfew::syntax
