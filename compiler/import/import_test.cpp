#include "compiler/import/import.h"

#include "compiler/check/check.h"
#include "compiler/syntax/parse.h"

#include <algorithm>
#include <chrono>

#include <catch2/catch.hpp>

namespace curfew::import {
namespace {

const Options Whole{"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "30m"};

Imported Of(std::string text, const Options& options = {}) {
  return Import({"policy.yaml", std::move(text)}, "policy", options);
}

bool Says(const Imported& made, std::uint16_t code) {
  const auto& found = made.diagnostics.diagnostics();
  return std::any_of(found.begin(), found.end(),
                     [code](const auto& diagnostic) { return diagnostic.code == code; });
}

// The codes of a check of the result.
std::vector<std::uint16_t> CheckOf(const Imported& made) {
  source::SourceMap sources;
  sources.Add({"imported.curfew", made.policy.value()});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  if (!sink.has_errors()) check::Check(trees, sources, sink);
  std::vector<std::uint16_t> codes;
  for (const auto& diagnostic : sink.diagnostics()) codes.push_back(diagnostic.code);
  return codes;
}

TEST_CASE("a policy that leaves nothing out is valid as it comes") {
  const Imported made = Of("sandbox: a\nrules: [{domain: evil.example, action: deny}]\n", Whole);
  CHECK_FALSE(made.diagnostics.has_errors());
  CHECK(CheckOf(made).empty());
}

TEST_CASE("what is not understood keeps the result from compiling, image or not") {
  // Each loses a restriction, or may.
  const char* const sources[] = {
      "sandbox: a\nblock_all: true\nrules: []\n",
      "sandbox: a\nrules: [{domain: \"a b\", action: deny}]\n",
      "sandbox: a\nrules: [{domain: x.example, action: denied}]\n",
      "sandbox: a\nrules: [{domain: x.example, action: deny, port: 1}]\n",
      "sandbox: a\nrules: [{domain: [x.example], action: deny}]\n",
      "network: {allowedDomains: [], deniedDomains: {a: b}}\n",
      "policy: {default_egress: deny, rules: [{action: refuse, destination: x.example}]}\n",
  };
  for (const char* const source : sources) {
    CAPTURE(source);
    const Imported made = Of(source, Whole);
    CHECK(made.diagnostics.has_errors());
    CHECK_FALSE(CheckOf(made).empty());
    CHECK(made.policy->find("fill_in_what_was_not_read") != std::string::npos);
  }
}

TEST_CASE("a wildcard is narrower in an allow and wider in a deny") {
  const Imported made =
      Of("sandbox: a\nrules:\n- {domain: '*.x.example', methods: [GET]}\n"
         "- {domain: '*.y.example', action: deny}\n");
  CHECK(made.policy->find("\"https://*.x.example\"") != std::string::npos);
  CHECK(made.policy->find("\"**.y.example\"") != std::string::npos);
  CHECK(Says(made, diag::WildcardOfSource.code));
}

TEST_CASE("a credential is neither in the result nor in what is shown of the source") {
  const std::string secret = "ghp_0123456789abcdefghij";
  const char* const templates[] = {
      "sandbox: a\nrules: [{domain: x.example, tokenInjection: %}]\n",
      "sandbox: a\nrules: [{domain: x.example, note: %}]\n",
      "sandbox: %\nrules: []\n",
      "network: {allowOut: [x.example], rules: {x.example: {transform: {headers: {X: '%'}}}}}\n",
      "networkPolicy: {allow: {x.example: [{transform: [{headers: {A: 'Bearer %'}}]}]}}\n",
      "envVars: {API_TOKEN: %}\nallowInternetAccess: false\n",
      "what: %\n",
      "not yaml: [%\n",
  };
  for (const std::string text : templates) {
    CAPTURE(text);
    std::string source = text;
    source.replace(source.find('%'), 1, secret);
    const Imported made = Of(source);
    CHECK(made.diagnostics.has_errors());
    CHECK(made.sources.text(0).find(secret) == std::string::npos);
    CHECK(made.sources.text(0).size() == source.size());
    if (made.policy) CHECK(made.policy->find(secret) == std::string::npos);
    for (const auto& diagnostic : made.diagnostics.diagnostics()) {
      CHECK(diagnostic.message.find(secret) == std::string::npos);
    }
  }
}

TEST_CASE("a header's value is hidden also where it looks like nothing") {
  const Imported made =
      Of("network: {allowOut: [x.example], rules: {x.example: {transform: {headers: {X: ab}}}}}\n");
  CHECK(Says(made, diag::SecretInClear.code));
  CHECK(made.sources.text(0).find("{X: **}") != std::string::npos);
}

TEST_CASE("names become names of the language") {
  CHECK(NameLike("Research Bot") == "research_bot");
  CHECK(NameLike("class") == "imported_class");
  CHECK(NameLike("7up") == "imported_7up");
  CHECK(NameLike("**.") == "imported");
  CHECK(NameLike(std::string(200, 'a')).size() == 60);
}

TEST_CASE("limits have their own errors, and cost no time") {
  const auto start = std::chrono::steady_clock::now();
  CHECK(Says(Of(std::string(DocumentBytesMax + 1, ' ')), diag::ImportTooLarge.code));
  CHECK(Says(Of(std::string(DocumentBytesMax, '[')), diag::ImportTooLarge.code));
  CHECK(Says(Of("a: " + std::string(1000, '{')), diag::ImportTooLarge.code));
  std::string wide = "sandbox: a\nrules:\n";
  while (wide.size() < DocumentBytesMax / 4) wide += "- {domain: x.example, action: deny}\n";
  CHECK(Of(wide).policy.has_value());
  CHECK(Of("a: &b [x, x]\nc: [*b, *b]\n").diagnostics.error_count() == 1);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(120));
}

TEST_CASE("a .json file is strict JSON") {
  const std::string yaml = "{sandbox: a, rules: []}";
  CHECK(Import({"a.yaml", yaml}, "a", {}).policy.has_value());
  const Imported made = Import({"a.json", yaml}, "a", {});
  CHECK_FALSE(made.policy.has_value());
  CHECK(Says(made, diag::NotReadable.code));
}

}  // namespace
}  // namespace curfew::import
