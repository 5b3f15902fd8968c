#include "tests/conformance/case_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace curfew::conformance {
namespace {

using Json = nlohmann::json;

constexpr std::string_view SectionMark = "#--- ";
constexpr std::string_view FileMark = "#=== ";
constexpr std::string_view AnswerMark = "-> ";
constexpr std::string_view OpenHash = "HHHHHHHHHHHH";
constexpr std::string_view AnswerWords[] = {"allow", "deny", "undecided", "invalid", "unreadable"};

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::optional<Answer> ReadAnswer(std::string_view line) {
  std::vector<std::string> words = Words(line);
  if (words.empty()) return std::nullopt;
  Answer answer;
  answer.word = words.front();
  if (std::ranges::find(AnswerWords, answer.word) == std::end(AnswerWords)) return std::nullopt;
  const auto trial = std::ranges::find(words, "trial");
  answer.names.assign(words.begin() + 1, trial);
  if (trial != words.end()) answer.trials.assign(trial + 1, words.end());
  std::ranges::sort(answer.names);
  std::ranges::sort(answer.trials);
  if (answer.names.empty() != (answer.word == "unreadable")) return std::nullopt;
  return answer;
}

std::optional<int> HexOf(std::string_view two) {
  int value = 0;
  for (const char c : two) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return std::nullopt;
    value = value * 16 + (is_digit ? c - '0' : c - 'a' + 10);
  }
  return two.size() == 2 ? std::optional(value) : std::nullopt;
}

// `\xHH` is that byte; all else stands.
std::string Unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto value =
        text.substr(at).starts_with("\\x") ? HexOf(text.substr(at + 2, 2)) : std::nullopt;
    if (value) at += 3;
    bytes += value ? static_cast<char>(*value) : text[at];
  }
  return bytes;
}

class CaseReader {
 public:
  explicit CaseReader(std::string_view text) : rest_(text) {}

  Result<Case> Read() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      if (end == std::string_view::npos) return Wrong("the last line does not end");
      ++line_;
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (std::optional<Failure> failure = TakeLine(line)) return *std::move(failure);
    }
    return Close();
  }

 private:
  enum class Section { Head, Policy, Given, Requests, Diagnostics };

  [[nodiscard]] Failure Wrong(std::string_view what) const {
    return {FailureCode::Malformed, fmt::format("line {}: {}", line_, what)};
  }

  std::optional<Failure> TakeLine(std::string_view line) {
    if (line.starts_with(SectionMark)) return Begin(line.substr(SectionMark.size()));
    switch (section_) {
      case Section::Head:
        return TakeHead(line);
      case Section::Policy:
        TakePolicy(line);
        return std::nullopt;
      case Section::Given:
        given_text_ += fmt::format("{}\n", line);
        return std::nullopt;
      case Section::Requests:
        return TakeRequest(line);
      case Section::Diagnostics:
        case_.errors.emplace_back(line);
        return std::nullopt;
    }
    CURFEW_UNREACHABLE("the switch names every section");
  }

  std::optional<Failure> Begin(std::string_view name) {
    if (section_ == Section::Given && !ReadGiven()) return Wrong("`given` is no JSON object");
    if (name == "policy" || name == "policy escaped") {
      section_ = Section::Policy;
      is_escaped_ = name != "policy";
      case_.policy.push_back({std::string(PolicyName), ""});
    } else if (name == "given") {
      section_ = Section::Given;
    } else if (name == "requests") {
      section_ = Section::Requests;
    } else if (name == "diagnostics") {
      section_ = Section::Diagnostics;
    } else {
      return Wrong("no such section");
    }
    return std::nullopt;
  }

  std::optional<Failure> TakeHead(std::string_view line) {
    if (!line.starts_with("# ")) return Wrong("the head is comments");
    ++head_lines_;
    names_contract_ = names_contract_ || line.starts_with("# language.md ") ||
                      line.starts_with("# grammar/README.md") || line.starts_with("# compiler/");
    return std::nullopt;
  }

  void TakePolicy(std::string_view line) {
    if (line.starts_with(FileMark)) {
      case_.policy.push_back({std::string(line.substr(FileMark.size())), ""});
      return;
    }
    case_.policy.back().text += fmt::format("{}\n", line);
  }

  bool ReadGiven() {
    given_ = Json::parse(given_text_, nullptr, false);
    return given_->is_object();
  }

  std::optional<Failure> TakeRequest(std::string_view line) {
    if (request_.empty() && (line.empty() || line.starts_with("# "))) return std::nullopt;
    if (!line.starts_with(AnswerMark)) {
      if (request_.empty()) request_line_ = line_;
      request_ += fmt::format("{}\n", line);
      return std::nullopt;
    }
    if (request_.empty()) return Wrong("an answer without a request");
    const std::optional<Answer> expected = ReadAnswer(line.substr(AnswerMark.size()));
    if (!expected) return Wrong("no answer; it is `-> allow | deny | undecided | invalid …`");
    if (given_) {
      const Json patch = Json::parse(request_, nullptr, false);
      if (!patch.is_object()) return Wrong("the request is no JSON object");
      Json whole = *given_;
      whole.merge_patch(patch);
      request_ = whole.dump();
    }
    case_.questions.push_back({request_line_, std::exchange(request_, {}), *expected});
    return std::nullopt;
  }

  Result<Case> Close() {
    if (head_lines_ < 2 || !names_contract_) {
      return Wrong("the head says what is shown, and names the paragraph that it rests on");
    }
    if (case_.policy.empty()) return Wrong("no policy");
    if (!request_.empty()) return Wrong("a request without an answer");
    if (case_.questions.empty() == case_.errors.empty()) {
      return Wrong("a case has requests, or the diagnostics of its policy");
    }
    if (is_escaped_) {
      for (source::SourceText& file : case_.policy) file.text = Unescaped(file.text);
    }
    return std::move(case_);
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  Section section_ = Section::Head;
  std::size_t head_lines_ = 0;
  bool names_contract_ = false;
  bool is_escaped_ = false;
  std::string given_text_;
  std::optional<Json> given_;
  std::string request_;
  std::size_t request_line_ = 0;
  Case case_;
};

// "a.network.deny_0123456789ab" as "a.network.deny_HHHHHHHHHHHH"; as it is where no hash ends it.
std::string WithOpenHash(const std::string& id) {
  if (id.size() <= OpenHash.size()) return id;
  const std::size_t at = id.size() - OpenHash.size();
  if (id[at - 1] != '_' || id.find_first_not_of("0123456789abcdef", at) != id.npos) return id;
  return id.substr(0, at) + std::string(OpenHash);
}

void OpenHashes(std::vector<std::string>& ids, const std::vector<std::string>& expected) {
  for (std::string& id : ids) {
    if (std::ranges::find(expected, id) == expected.end()) {
      std::string open = WithOpenHash(id);
      if (std::ranges::find(expected, open) != expected.end()) id = std::move(open);
    }
  }
  std::ranges::sort(ids);
}

}  // namespace

std::string Text(const Answer& answer) {
  std::string text = answer.word;
  if (!answer.names.empty()) text += fmt::format(" {}", fmt::join(answer.names, " "));
  if (!answer.trials.empty()) text += fmt::format(" trial {}", fmt::join(answer.trials, " "));
  return text;
}

Result<Case> ReadCase(std::string_view text) { return CaseReader(text).Read(); }

Answer AsExpected(Answer got, const Answer& expected) {
  OpenHashes(got.names, expected.names);
  OpenHashes(got.trials, expected.trials);
  return got;
}

}  // namespace curfew::conformance
