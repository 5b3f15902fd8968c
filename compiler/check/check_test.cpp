#include "compiler/check/check.h"

#include "compiler/base/limits.h"
#include "compiler/check/context.h"
#include "compiler/diagnostics/render.h"
#include "compiler/model/print.h"
#include "compiler/syntax/parse.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::check {
namespace {

struct Checked {
  source::SourceMap sources;
  diagnostics::Sink sink;
  model::PolicyModel model;

  explicit Checked(const std::vector<std::string>& files) {
    int number = 0;
    for (const std::string& text : files) sources.Add({fmt::format("{}.curfew", number++), text});
    const auto trees = syntax::ParseAll(sources, sink);
    model = Check(trees, sources, sink);
  }
  [[nodiscard]] std::vector<int> Codes() const {
    std::vector<int> codes;
    for (const auto& diagnostic : sink.diagnostics()) codes.push_back(diagnostic.code);
    return codes;
  }
  [[nodiscard]] std::string Text() const { return diagnostics::RenderText(sink, sources); }
};

const std::vector<std::string> kDeclarations = {
    "image python311 { ref \"a.example/p\" digest "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }\n",
    "image node22 { digest sha256:0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
    "}\n",
    "attributes task { ticket: string?  risk: low < medium < high  phase: plan | build }\n",
    "attributes caller { mail: string? }\n",
    "sandbox coding when task.kind == \"coding\" {\n"
    "  image { allow node22, python311  exec \"/usr/bin/**\", \"/bin/*\"  size cpu 1 at most 2 }\n"
    "  identity { access \"user:b\", \"user:a\" }\n"
    "  filesystem { scratch \"/b\" 1GiB  scratch \"/a\" 1GiB  export \"/a/**\" at most 1MiB }\n"
    "  network { allow POST, GET \"http://b.example/**\", \"http://a.example/**\"\n"
    "            deny any \"http://a.example/secret\" }\n"
    "  lifetime { ttl 1h }\n"
    "}\n",
    "sandbox review when task.kind == \"review\" {\n"
    "  image { allow python311 }  lifetime { ttl 30m }\n"
    "  deny exec when exec.user == \"root\"\n"
    "}\n",
    "deny exec when has task.ticket and task.ticket == \"x\" because \"no\"\n",
    "deny create when task.risk >= medium\n",
    "named: require create: task.owner == caller.id\n"};

std::string Joined(const std::vector<std::string>& declarations) {
  std::string text;
  for (const std::string& declaration : declarations) text += declaration;
  return text;
}

TEST_CASE("order, files, formatting, comments, tests and equal rules leave no trace") {
  const Checked one({Joined(kDeclarations)});
  INFO(one.Text());
  REQUIRE_FALSE(one.sink.has_errors());
  const std::string printed = model::PrintDeclarations(one.model);
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> declarations = kDeclarations;
    declarations.push_back("test \"t\" { create image node22 -> allow }\n");
    for (std::size_t again = 6; again < 8; ++again) declarations.push_back(kDeclarations[again]);
    std::shuffle(declarations.begin(), declarations.end(), random);
    std::vector<std::string> files(random() % 4 + 1);
    for (std::string declaration : declarations) {
      if (random() % 2 == 0) {
        // A blank is a line's end, except within strings.
        bool quoted = false;
        for (char& c : declaration) {
          if (c == '"') quoted = !quoted;
          if (c == ' ' && !quoted && random() % 3 == 0) c = '\n';
        }
      }
      files[random() % files.size()] += "# a remark\n" + declaration + "\n";
    }
    std::erase_if(files, [](const std::string& file) { return file.empty(); });
    const Checked many(files);
    INFO(many.Text());
    REQUIRE_FALSE(many.sink.has_errors());
    CHECK(model::PrintDeclarations(many.model) == printed);
    CHECK(many.model.digest == one.model.digest);
  }
}

TEST_CASE("what a set says changes its digest") {
  const Digest base = Checked({Joined(kDeclarations)}).model.digest;
  std::set<Digest> seen = {base};
  const std::pair<const char*, const char*> changes[] = {{"1h", "61m"},
                                                         {"\"root\"", "\"toor\""},
                                                         {"because \"no\"", "because \"nope\""},
                                                         {"at most 2", "at most 3"},
                                                         {"low < medium", "low < mid < medium"},
                                                         {"user:b", "user:c"},
                                                         {"sha256:9f", "sha256:8f"},
                                                         {"named:", "renamed:"},
                                                         {"a.example/p", "a.example/q"},
                                                         {"POST, GET", "GET"},
                                                         {"plan | build", "plan < build"}};
  for (const auto& [from, to] : changes) {
    std::string text = Joined(kDeclarations);
    const std::size_t at = text.find(from);
    CAPTURE(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(from).size(), to);
    const Checked changed({text});
    INFO(changed.Text());
    CHECK_FALSE(changed.sink.has_errors());
    CHECK(seen.insert(changed.model.digest).second);
  }
}

TEST_CASE("absence is followed through and, or and not") {
  const auto codes = [](const std::string& condition) {
    return Checked(
               {"attributes task { a: string?  b: string? }\ndeny create when " + condition + "\n"})
        .Codes();
  };
  const std::vector<int> fine;
  const std::vector<int> absent = {4004};
  CHECK(codes("has task.a and task.a == \"x\"") == fine);
  CHECK(codes("task.a == \"x\"") == absent);
  CHECK(codes("task.a == \"x\" and has task.a") == absent);
  CHECK(codes("has task.a or task.a == \"x\"") == absent);
  CHECK(codes("not has task.a or task.a == \"x\"") == fine);
  CHECK(codes("not (not has task.a) and task.a == \"x\"") == fine);
  CHECK(codes("(has task.a and has task.b) and task.a == task.b") == fine);
  CHECK(codes("(has task.a or has task.b) and task.a == \"x\"") == absent);
  CHECK(codes("(not (has task.a or has task.b)) or task.a == \"x\"") == absent);
  CHECK(codes("(not (has task.a and has task.b)) or task.a == task.b") == fine);
  CHECK(codes("((has task.a and has task.b) or (has task.a and task.a == \"y\")) and task.a == "
              "\"x\"") == fine);
  CHECK(codes("any g in caller.groups where (has task.a and task.a == \"x\")") == fine);
  CHECK(codes("has task.a and (any g in caller.groups where (task.a == \"x\"))") == fine);
  // A mistake beside it does not make a second one of what follows.
  CHECK(codes("has task.c and task.a == \"x\"") == std::vector<int>{3004});
}

TEST_CASE("require reads what its when has made sure of") {
  const std::string attributes = "attributes task { a: string? }\n";
  CHECK(
      Checked({attributes + "require create when has task.a: task.a == \"x\"\n"}).Codes().empty());
  CHECK(Checked({attributes + "require create: task.a == \"x\"\n"}).Codes() ==
        std::vector<int>{4004});
}

TEST_CASE("errors are bounded, and so is the work behind them") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += fmt::format("deny create when task.x{} == 1\n", i);
  const Checked many({text});
  CHECK(many.sink.error_count() == 20000);
  CHECK(many.sink.diagnostics().size() <= limits::DiagnosticsMax + 1);
}

TEST_CASE("every rule of a large set has its own id") {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += fmt::format("deny exec when exec.user == \"u{}\"\n", i);
  const Checked large({text});
  REQUIRE_FALSE(large.sink.has_errors());
  CHECK(large.model.rules.size() == 10000);
  CHECK(std::is_sorted(large.model.rules.begin(), large.model.rules.end(),
                       [](const auto& a, const auto& b) { return a.id < b.id; }));
}

TEST_CASE("known ids cover what a class can deny by") {
  const Checked set({Joined(kDeclarations)});
  const auto ids = model::KnownIds(set.model);
  for (const char* id :
       {"coding", "coding.image.python311", "coding.image.exec", "coding.network.default",
        "coding.lifetime.ttl", "coding.lifetime.idle", "coding.filesystem.export",
        "coding.filesystem.export.size", "set.named", "class.none", "builtin.access",
        "request.invalid", "review.image.size.cpu"}) {
    CAPTURE(id);
    CHECK(std::binary_search(ids.begin(), ids.end(), id));
  }
}

// What a tool does to text by accident: tokens go, double, swap. Nothing crashes, and what still
// checks prints.
TEST_CASE("no mutation of a policy crashes the checker") {
  const std::string text =
      Joined(kDeclarations) +
      "test \"t\" { given task { kind: \"a\", risk: low } after 1h create image node22, ttl 1h -> "
      "allow coding with { ttl: 1h } egress GET \"http://a.example/\", \"b.example:22\" -> deny "
      "exec \"/bin/sh\" [\"x\"] { sandbox: { age: 1h } } -> deny only coding.image.exec }\n";
  source::SourceMap sources;
  const auto file = sources.Add({"whole", text});
  diagnostics::Sink sink;
  const auto tokens = syntax::Lex(sources, file, sink).tokens;
  std::mt19937_64 random(17);
  int valid = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> words;
    for (const auto& token : tokens)
      words.push_back(text.substr(token.begin, token.end - token.begin));
    for (std::size_t edits = random() % 3 + 1; edits > 0; --edits) {
      const std::size_t at = random() % words.size();
      const std::size_t other = random() % words.size();
      switch (random() % 4) {
        case 0:
          words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          words[at] = words[other];
          break;
        case 2:
          std::swap(words[at], words[other]);
          break;
        default:
          words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words[other]);
          break;
      }
    }
    std::string mutant;
    for (const std::string& word : words) mutant += word + (random() % 5 == 0 ? "\n" : " ");
    const Checked checked({mutant});
    if (!checked.sink.has_errors()) {
      ++valid;
      CHECK_FALSE(model::Print(checked.model).empty());
    }
  }
  CHECK(valid > 5);
}

}  // namespace
}  // namespace curfew::check
