// A case as it stands in its file (README.md has the format): a policy set, and what the contract
// says of it. Reading only; what a back end answers is back_ends.h.
#pragma once

#include "compiler/base/result.h"
#include "compiler/source/source.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::conformance {

// What was answered, or should be: a word, and what it names (rule ids, a fact, JSON pointers),
// sorted.
struct Answer {
  std::string word;  // allow, deny, undecided, invalid, unreadable
  std::vector<std::string> names;
  std::vector<std::string> trials;
  friend bool operator==(const Answer&, const Answer&) = default;
};
std::string Text(const Answer& answer);

struct Question {
  std::size_t line = 0;  // of the case file
  std::string request;   // JSON as it is asked
  Answer expected;
};

struct Case {
  std::vector<source::SourceText> policy;
  std::vector<Question> questions;
  // In place of questions: the errors of a set that does not compile, as "CUR3004 7:12", in order.
  std::vector<std::string> errors;
};

// The name of a policy's first file.
inline constexpr std::string_view PolicyName = "policy.curfew";

// Malformed where the text is no case, with the line.
Result<Case> ReadCase(std::string_view text);

// `got` as it is compared: an id whose hash `expected` leaves open has the open form.
Answer AsExpected(Answer got, const Answer& expected);

}  // namespace curfew::conformance
