// Deleting one token of a policy that is shipped never yields one that compiles and allows what its
// own tests see denied (language.md section 8): what its authors thought of, beside the generated
// sets of token_deletion_test.cpp.
#include "compiler/syntax/token_list.h"
#include "compiler/testing/run_tests.h"
#include "tests/properties/compiled_set.h"
#include "tests/properties/lost_token.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::properties {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A policy and what it takes by `use`, each once.
std::vector<std::string> ReadSet(const fs::path& policy) {
  std::vector<fs::path> paths{policy};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    texts.push_back(ReadFile(paths[i]));
    static const std::regex use("\nuse \"([^\"]+)\"");
    const std::string& text = texts.back();
    for (std::sregex_iterator at(text.begin(), text.end(), use), end; at != end; ++at) {
      const fs::path used = paths[i].parent_path() / (*at)[1].str();
      if (std::find(paths.begin(), paths.end(), used) == paths.end()) paths.push_back(used);
    }
  }
  return texts;
}

std::string WithoutTests(const std::string& text) { return text.substr(0, text.find("\ntest \"")); }

// Answers as the whole set does, and asks the one that lost a token as well.
class Beside final : public module::DecisionEngine {
 public:
  Beside(const module::DecisionEngine& whole, const module::DecisionEngine& mutant)
      : whole_(whole), mutant_(mutant) {}

  void Decide(const module::Request& request, module::Verdict& verdict) const override {
    whole_.Decide(request, verdict);
    if (verdict.effect == module::Effect::Allow) return;
    ++denials_;
    module::VerdictRoom room;
    mutant_.Decide(request, room.verdict);
    if (room.verdict.effect == module::Effect::Allow) ++opened_;
  }
  [[nodiscard]] const module::PolicyModule& module() const override { return whole_.module(); }
  [[nodiscard]] std::string_view kind() const override { return whole_.kind(); }
  [[nodiscard]] std::size_t denials() const { return denials_; }
  [[nodiscard]] std::size_t opened() const { return opened_; }

 private:
  const module::DecisionEngine& whole_;
  const module::DecisionEngine& mutant_;
  mutable std::size_t denials_ = 0;
  mutable std::size_t opened_ = 0;
};

TEST_CASE("a lost token never opens a policy that is shipped") {
  std::size_t still_valid = 0;
  std::size_t denials = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(CURFEW_SOURCE_DIR) / "policies")) {
    if (entry.path().extension() != ".curfew") continue;
    std::vector<std::string> texts = ReadSet(entry.path());
    diagnostics::Sink sink;
    const auto whole = CompileSet(texts, sink);
    INFO(entry.path().filename().string());
    REQUIRE(whole != nullptr);
    source::SourceMap sources;
    for (const std::string& text : texts) sources.Add({"set", text});
    // Its tests are no part of what is changed: their ids would hold every label.
    for (std::string& text : texts) text = WithoutTests(text);
    const std::string policy = texts.front();
    const syntax::TokenList list = syntax::Lex(sources, 0, sink);
    for (std::size_t at = 0; at < list.tokens.size(); ++at) {
      const syntax::Token& token = list.tokens[at];
      if (token.end > policy.size()) break;
      if (token.kind == syntax::TokenKind::Comment || token.kind == syntax::TokenKind::Doc) {
        continue;
      }
      texts.front() = policy.substr(0, token.begin) + " " + policy.substr(token.end);
      diagnostics::Sink errors;
      const auto mutant = CompileSet(texts, errors);
      if (mutant == nullptr) continue;
      ++still_valid;
      const Beside both(*whole->engine, *mutant->engine);
      testing::RunTests(whole->model, sources, both, {}, [](std::string_view) { return true; });
      denials += both.denials();
      INFO("without `" << list.TextOf(token) << "` at byte " << token.begin);
      CHECK((both.opened() == 0 || MayOpen(list, at)));
    }
  }
  WARN(fmt::format("{} sets still valid, {} denials asked again", still_valid, denials));
  CHECK(still_valid > 20);
  CHECK(denials > still_valid);
}

}  // namespace
}  // namespace curfew::properties
