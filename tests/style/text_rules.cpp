#include "tests/style/text_rules.h"

#include <string>

#include <fmt/format.h>

namespace curfew::style {
namespace {

// Rules about words must be able to name them: this folder is exempt from its own word lists.
bool IsStyleTest(std::string_view path) { return path.starts_with("tests/style/"); }

bool IsSample(std::string_view path) {
  return path.starts_with("tests/") &&
         (path.ends_with(".curfew") || path.find("/seeds/") != std::string_view::npos);
}

using Words = std::vector<std::pair<std::string_view, std::string_view>>;  // word, why not

Findings CheckWords(const Tree& tree, const Words& words, bool cpp_only) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (IsStyleTest(path) || path == "LICENSE" || (cpp_only && !IsCpp(path))) continue;
    EachLine(text, [&, &path = path](std::string_view line, int number) {
      for (const auto& [word, why] : words) {
        if (line.find(word) != std::string_view::npos) {
          findings.push_back({path, number, fmt::format("`{}`: {}", word, why)});
        }
      }
    });
  }
  return findings;
}

}  // namespace

Findings CheckWhitespace(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (IsSample(path) || text.empty()) continue;
    if (!text.ends_with('\n')) findings.push_back({path, 0, "lacks a newline at the end"});
    EachLine(text, [&, &path = path](std::string_view line, int number) {
      if (line.ends_with(' ') || line.ends_with('\t')) {
        findings.push_back({path, number, "trailing space"});
      }
      if (line.ends_with('\r')) findings.push_back({path, number, "a carriage return"});
      // The law of Go's own formatters is tabs.
      const bool may_have_tabs =
          path == ".gitmodules" || path.ends_with(".go") || NameOf(path) == "go.mod";
      if (line.find('\t') != std::string_view::npos && !may_have_tabs) {
        findings.push_back({path, number, "a tab: indent by spaces"});
      }
    });
  }
  return findings;
}

Findings CheckNothingIsLeftOpen(const Tree& tree) {
  constexpr std::string_view Why = "what is left to do is an issue, not a comment";
  return CheckWords(
      tree, {{"TODO", Why}, {"FIXME", Why}, {"XXX:", Why}, {"XXX ", Why}, {"HACK", Why}}, false);
}

Findings CheckNoMachine(const Tree& tree) {
  constexpr std::string_view Path = "a path of one machine";
  constexpr std::string_view Mirror = "a package mirror: use what the machine is configured for";
  return CheckWords(tree,
                    {{"/work/main", Path},
                     {"/work/shared", Path},
                     {"/tmp/wt", Path},
                     {"/home/runner", Path},
                     {"deb.debian.org", Mirror},
                     {"security.debian.org", Mirror},
                     {"ftp.debian.org", Mirror},
                     {"registry.npmjs.org", Mirror},
                     {"files.pythonhosted.org", Mirror},
                     {"proxy.golang.org", Mirror},
                     {"index.crates.io", Mirror},
                     {"repo.maven.apache.org", Mirror}},
                    false);
}

Findings CheckTestsCanFail(const Tree& tree) {
  constexpr std::string_view Why = "a test that cannot fail guards nothing";
  return CheckWords(tree,
                    {{"[!mayfail]", Why},
                     {"[!shouldfail]", Why},
                     {"\"[.", Why},
                     {"[!hide]", Why},
                     {"SUCCEED(", Why},
                     {"CHECK(true)", Why},
                     {"REQUIRE(true)", Why}},
                    true);
}

Findings CheckHeadersImportNothing(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (!path.ends_with(".h")) continue;
    EachLine(text, [&, &path = path](std::string_view line, int number) {
      if (Trimmed(line).starts_with("using namespace ")) {
        findings.push_back({path, number, "a header imports no namespace into its readers"});
      }
    });
  }
  return findings;
}

}  // namespace curfew::style
