// Deleting one token of a valid policy never yields a policy that compiles and allows more
// (language.md section 8), save for what only restricts. Every token of generated sets is deleted.
#include "compiler/schema/schema.h"
#include "tests/properties/compiled_set.h"
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"
#include "tests/properties/lost_token.h"

#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::properties {
namespace {

constexpr std::size_t kSets = 3;
constexpr std::size_t kRequests = 300;

// Facts that no gate states together: the sum of all files is less than one of them.
bool IsImpossible(const module::Request& request) {
  const auto is_below = [&](schema::Slot total, schema::Slot size) {
    return request.is_present(size) && request.is_present(total) &&
           request.value(total).integer < request.value(size).integer;
  };
  if (request.action() == schema::Action::Import) {
    return is_below(schema::slot::ImportTotal, schema::slot::ImportSize);
  }
  return request.action() == schema::Action::Export &&
         is_below(schema::slot::ExportTotal, schema::slot::ExportSize);
}

TEST_CASE("a lost token never opens a policy") {
  const std::uint64_t seed = SeedFromEnvironment() + 7;
  INFO("CURFEW_SEED=" << seed - 7);
  Random random(seed);
  std::size_t mutants = 0;
  std::size_t still_valid = 0;
  std::map<std::string, std::size_t> opened;
  for (std::size_t set = 0; set < kSets * EffortFromEnvironment();) {
    const std::string text = GeneratePolicy(random).Text();
    diagnostics::Sink sink;
    const auto whole = CompileSet({text}, sink);
    if (whole == nullptr) continue;  // what the generator cannot know
    ++set;
    source::SourceMap sources;
    const auto file = sources.Add({"whole", text});
    const syntax::TokenList list = syntax::Lex(sources, file, sink);
    RequestGenerator generator(random);
    std::vector<module::Request> requests;
    std::vector<Answer> answers;
    for (std::size_t i = 0; i < kRequests * 20 && requests.size() < kRequests; ++i) {
      const module::Request request = generator.Generate();
      const Answer answer = whole->Decide(request);
      if (answer.allow || IsImpossible(request)) continue;
      requests.push_back(request);
      answers.push_back(answer);
    }
    for (std::size_t at = 0; at < list.tokens.size(); ++at) {
      const syntax::Token& token = list.tokens[at];
      if (token.kind == syntax::TokenKind::Comment || token.kind == syntax::TokenKind::Doc)
        continue;
      ++mutants;
      diagnostics::Sink errors;
      const auto mutant =
          CompileSet({text.substr(0, token.begin) + " " + text.substr(token.end)}, errors);
      if (mutant == nullptr) continue;
      ++still_valid;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (!mutant->Decide(requests[i]).allow) continue;
        INFO(text);
        INFO("without `" << list.TextOf(token) << "` at byte " << token.begin);
        INFO("before: " << Text(answers[i]));
        REQUIRE(MayOpen(list, at));
        ++opened[std::string(list.TextOf(token))];
        break;
      }
    }
  }
  WARN(fmt::format("{} tokens deleted, {} sets still valid, {} opened within the exceptions",
                   mutants, still_valid, opened.size()));
  CHECK(still_valid > 20);
  CHECK(still_valid * 3 < mutants);
}

}  // namespace
}  // namespace curfew::properties
