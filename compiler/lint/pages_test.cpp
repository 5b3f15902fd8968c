// Every rule has a page, and its examples are true: the bad one has this finding and no other, the
// good one has none.
#include "compiler/check/check.h"
#include "compiler/diagnostics/render.h"
#include "compiler/ir/encode.h"
#include "compiler/lint/lint.h"
#include "compiler/lower/lower.h"
#include "compiler/prove/check_uses.h"
#include "compiler/prove/prover.h"
#include "compiler/syntax/parse.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::lint {
namespace {

// What every example has beside it, unless it says its language and so is a set of its own.
constexpr std::string_view kBeside = R"(language 1
package acme.pages

image python311 { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }

own: require create: caller.id == task.owner or task.owner in caller.groups
  because "only the owner, or the owner's group, starts a task"

test "a coding task" {
  given task   { kind: "coding", team: "platform", owner: "user:ana" }
  given caller { id: "user:ana" }

  create image python311           -> allow coding
  egress GET "http://no.example/"  -> deny coding.network.default
}
)";

bool HasLine(std::string_view text, std::string_view begin) {
  return text.starts_with(begin) || text.find("\n" + std::string(begin)) != std::string_view::npos;
}

// Planes at the front of an example are of class `coding`, which has an image and a life.
std::string AsSet(const std::string& example) {
  if (HasLine(example, "language 1\n") || HasLine(example, "package ")) return example;
  if (HasLine(example, "sandbox coding")) return std::string(kBeside) + example;
  constexpr std::array kPlanes = {"image",   "identity", "filesystem",
                                  "network", "lifetime", "evidence"};
  // Blocks of planes end where a declaration begins.
  std::size_t end = 0;
  std::size_t at = 0;
  while (at < example.size()) {
    const std::string_view rest = std::string_view(example).substr(at);
    const bool is_plane = std::any_of(kPlanes.begin(), kPlanes.end(), [rest](const char* plane) {
      const std::size_t length = std::string_view(plane).size();
      return rest.starts_with(plane) && rest.find('{') == rest.find_first_not_of(" ", length);
    });
    if (!is_plane && !rest.starts_with('#')) break;
    const std::size_t line = rest.find('\n');
    const bool one_line = rest.substr(0, line).ends_with('}') || rest.starts_with('#');
    const std::size_t close = one_line ? line : rest.find("\n}\n");
    at = close == std::string_view::npos ? example.size() : at + close + (one_line ? 1 : 3);
    end = at;
  }
  const std::string planes = example.substr(0, end);
  return fmt::format(
      "{}\n## Work on code.\nsandbox coding when task.kind == \"coding\" {{\n{}{}{}}}\n{}", kBeside,
      planes, HasLine(planes, "image ") ? "" : "  image { allow python311 }\n",
      HasLine(planes, "lifetime ") ? "" : "  lifetime { ttl 1h }\n", example.substr(end));
}

struct Found {
  std::set<std::string> codes;
  std::string text;
};

Found FindingsOf(const std::string& example) {
  source::SourceMap sources;
  sources.Add({"example.curfew", AsSet(example)});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  const model::PolicyModel model = check::Check(trees, sources, sink);
  INFO(AsSet(example));
  if (sink.has_errors()) FAIL(RenderText(sink, sources));
  const auto code = lower::Lower(model, sources);
  REQUIRE(code);
  prove::CheckUses(model, ir::Encode(*code), prove::LibraryBesideProgram(), sink);
  const module::Tables tables = ir::View(*code);
  diagnostics::Sink findings;
  Lint(trees, sources, &model,
       {.now_ms = *values::ParseTime("2026-11-30T00:00:00Z"),
        .category = {},
        .warnings = sink.diagnostics(),
        .code = &tables},
       findings);
  Found found;
  found.text = RenderText(findings, sources);
  for (const diagnostics::Diagnostic& finding : findings.diagnostics()) {
    found.codes.insert(diagnostics::CodeName(finding.code));
  }
  return found;
}

// The block of code behind a heading.
std::string BlockOf(std::string_view page, std::string_view heading) {
  const std::size_t at = page.find(fmt::format("\n## {}\n", heading));
  REQUIRE(at != std::string_view::npos);
  constexpr std::string_view kOpen = "```curfew\n";
  const std::size_t begin = page.find(kOpen, at);
  REQUIRE(begin != std::string_view::npos);
  const std::size_t end = page.find("\n```\n", begin);
  REQUIRE(end != std::string_view::npos);
  return std::string(page.substr(begin + kOpen.size(), end + 1 - begin - kOpen.size()));
}

TEST_CASE("every rule has a code of its own, ascending, and a registry entry that is no error") {
  std::uint16_t last = 0;
  std::size_t count = 0;
  for (const auto rules : Rules()) {
    for (const Rule& rule : rules) {
      INFO(rule.code);
      CHECK(rule.code > last);
      last = rule.code;
      ++count;
      const diagnostics::RegistryEntry* entry = diagnostics::FindEntry(rule.code);
      REQUIRE(entry != nullptr);
      CHECK(entry->severity != diagnostics::Severity::Error);
      CHECK(rule.code / 100 == 91 + static_cast<int>(rule.category));
      CHECK(FindRule(rule.code) == &rule);
    }
  }
  CHECK(count >= 40);
  for (const diagnostics::RegistryEntry& entry : diagnostics::Registry()) {
    if (entry.code < 9100 || entry.code >= 9600) continue;
    INFO(entry.name);
    CHECK(FindRule(entry.code) != nullptr);
  }
}

TEST_CASE("every rule's page says what it finds, and its examples are true") {
  for (const auto rules : Rules()) {
    for (const Rule& rule : rules) {
      const std::string code = diagnostics::CodeName(rule.code);
      const diagnostics::RegistryEntry& entry = *diagnostics::FindEntry(rule.code);
      const std::string_view page = PageOf(rule.code);
      INFO(code << " " << entry.name);
      std::string summary(rule.summary);
      summary.front() = static_cast<char>(std::toupper(summary.front()));
      CHECK(page.starts_with(fmt::format("# {} {}\n\n{}.\n\n`{}`, {}\n\n## Why\n", code, entry.name,
                                         summary, NameOf(rule.category),
                                         diagnostics::NameOf(entry.severity))));
      CHECK(page.find("\n## How to fix\n") != std::string_view::npos);
      const Found bad = FindingsOf(BlockOf(page, "Bad"));
      INFO("bad:\n" << bad.text);
      const bool only_this = bad.codes == std::set<std::string>{code};
      CHECK(only_this);
      const Found good = FindingsOf(BlockOf(page, "Good"));
      INFO("good:\n" << good.text);
      CHECK(good.codes.empty());
    }
  }
}

}  // namespace
}  // namespace curfew::lint
