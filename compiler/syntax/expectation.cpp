#include "compiler/syntax/expectation.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

namespace curfew::syntax {

namespace {

constexpr std::size_t PhrasesMax = 4;

// The rules of the grammar that have a name for authors, whatever tokens they are made of.
struct RulePhrase {
  std::string_view rule;
  std::string_view phrase;
};
constexpr std::array RulePhrases{
    RulePhrase{"duration", "a duration"},
    RulePhrase{"byteSize", "a size"},
    RulePhrase{"amount", "an amount"},
    RulePhrase{"number", "a number"},
    RulePhrase{"text", "a string"},
    RulePhrase{"time", "a time"},
    RulePhrase{"digest", "a digest"},
    RulePhrase{"name", "a name"},
    RulePhrase{"newName", "a name"},
    RulePhrase{"softWord", "a name"},
    RulePhrase{"valueWord", "a name"},
    RulePhrase{"path", "a name"},
    RulePhrase{"answerId", "a rule's id"},
    RulePhrase{"action", "an action"},
    RulePhrase{"audience", "a principal, an attribute or `any`"},
    RulePhrase{"target", "a pattern"},
    RulePhrase{"place", "an address block"},
    RulePhrase{"comparator", "a comparison"},
};

// Rules that begin a condition or a value; what else they could begin with is of no interest.
bool IsValueRule(std::string_view rule) { return rule == "scalar" || rule == "value"; }

// Words behind which a whole condition stands, and not a mere value.
bool BeginsCondition(std::string_view before) {
  static constexpr std::array Words{"when", "where", "and", "or", "not", ":", "("};
  return std::find(Words.begin(), Words.end(), before) != Words.end();
}

std::string PhraseOf(const Expected& expected) {
  const auto* known =
      std::find_if(RulePhrases.begin(), RulePhrases.end(),
                   [&](const RulePhrase& phrase) { return phrase.rule == expected.rule; });
  if (known != RulePhrases.end()) return std::string(known->phrase);
  if (expected.word.empty()) return expected.rule == "methods" ? "a method" : "a name";
  // The two words are one to an author.
  return expected.word == "at" ? "`at most`" : fmt::format("`{}`", expected.word);
}

}  // namespace

std::string DescribeExpectation(const Expectation& expectation, std::string_view before) {
  if (expectation.can_end) return {};
  if (std::any_of(expectation.expected.begin(), expectation.expected.end(),
                  [](const Expected& expected) { return IsValueRule(expected.rule); })) {
    return BeginsCondition(before) ? "a condition" : "a value";
  }
  std::vector<std::string> phrases;
  for (const Expected& expected : expectation.expected) {
    std::string phrase = PhraseOf(expected);
    if (std::find(phrases.begin(), phrases.end(), phrase) == phrases.end()) {
      phrases.push_back(std::move(phrase));
    }
  }
  if (phrases.empty() || phrases.size() > PhrasesMax) return {};
  // What an author fills in first, the words of the language behind.
  std::stable_sort(phrases.begin(), phrases.end(), [](const std::string& a, const std::string& b) {
    return !a.starts_with('`') && b.starts_with('`');
  });
  std::string list = phrases.front();
  for (std::size_t i = 1; i < phrases.size(); ++i) {
    list += i + 1 == phrases.size() ? " or " : ", ";
    list += phrases[i];
  }
  return list;
}

bool WantsNewName(const Expectation& expectation) {
  return !expectation.expected.empty() &&
         std::all_of(expectation.expected.begin(), expectation.expected.end(),
                     [](const Expected& expected) {
                       return expected.rule == "newName" || expected.rule == "softWord";
                     });
}

}  // namespace curfew::syntax
