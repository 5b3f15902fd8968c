#include "tests/style/house_rules.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace curfew::style {
namespace {

bool IsFolder(const Tree& tree, std::string_view path) {
  const auto next = tree.files.lower_bound(fmt::format("{}/", path));
  return next != tree.files.end() && next->first.starts_with(fmt::format("{}/", path));
}

// "a/b/../c/./d" is "a/c/d"; nothing if it leaves the tree.
std::string Resolve(std::string_view folder, std::string_view link) {
  std::vector<std::string> parts;
  for (std::string_view rest : {folder, link}) {
    while (!rest.empty()) {
      const std::size_t slash = rest.find('/');
      const std::string_view part = rest.substr(0, slash);
      rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
      if (part.empty() || part == ".") continue;
      if (part != "..") {
        parts.emplace_back(part);
      } else if (parts.empty()) {
        return {};
      } else {
        parts.pop_back();
      }
    }
  }
  return fmt::format("{}", fmt::join(parts, "/"));
}

// The targets of `[text](target)` in a line.
std::vector<std::string> LinksOf(std::string_view line) {
  std::vector<std::string> links;
  for (std::size_t at = line.find("]("); at != std::string_view::npos;
       at = line.find("](", at + 2)) {
    const std::size_t end = line.find(')', at);
    if (end == std::string_view::npos) break;
    links.emplace_back(line.substr(at + 2, end - at - 2));
  }
  return links;
}

std::vector<std::string> CellsOf(std::string_view row) {
  std::vector<std::string> cells;
  row.remove_prefix(1);
  while (!row.empty()) {
    const std::size_t bar = row.find('|');
    if (bar == std::string_view::npos) break;
    cells.emplace_back(Trimmed(row.substr(0, bar)));
    row.remove_prefix(bar + 1);
  }
  return cells;
}

}  // namespace

Findings CheckTopLevel(const Tree& tree) {
  static const std::set<std::string, std::less<>> Allowed = {
      "grammar",        "compiler",          "runtime",   "policies", "tests",    "examples",
      "CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE",  "bootstrap"};
  Findings findings;
  std::set<std::string> seen;
  for (const auto& [path, text] : tree.files) {
    const std::string top = path.substr(0, path.find('/'));
    if (top.starts_with('.') || Allowed.contains(top) || !seen.insert(top).second) continue;
    findings.push_back({top, 0,
                        fmt::format("is no part of the house: its top level holds {} and dotfiles",
                                    fmt::join(Allowed, ", "))});
  }
  return findings;
}

Findings CheckLanguages(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    const bool foreign = path.ends_with(".go") || path.ends_with(".rs") || path.ends_with(".java");
    const bool at_home = path.starts_with("examples/") || path.starts_with("tests/bench/peers/");
    if (foreign && !at_home) {
      findings.push_back({path, 0, "this language is at home in examples and tests/bench/peers"});
    }
  }
  return findings;
}

Findings CheckLinks(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (!path.ends_with(".md")) continue;
    EachLine(text, [&, &path = path](std::string_view line, int number) {
      for (const std::string& link : LinksOf(line)) {
        if (link.find("://") != std::string::npos || link.starts_with('#')) continue;
        const std::string target = Resolve(FolderOf(path), link.substr(0, link.find('#')));
        if (!target.empty() && (tree.has(target) || IsFolder(tree, target))) continue;
        findings.push_back({path, number, fmt::format("the link {} leads nowhere", link)});
      }
    });
  }
  return findings;
}

Findings CheckPromises(const Tree& tree) {
  Findings findings;
  int rows = 0;
  bool inside = false;
  EachLine(tree.text("README.md"), [&](std::string_view line, int number) {
    if (line.starts_with("## ")) inside = line == "## Promises";
    if (!inside || !line.starts_with('|') || line.starts_with("|--") || line.starts_with("| --") ||
        line.starts_with("| Promise")) {
      return;
    }
    ++rows;
    const auto report = [&](std::string message) {
      findings.push_back({"README.md", number, std::move(message)});
    };
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.size() != 2) return report("a promise is `| promise | test or pending |`");
    const std::string& test = cells[1];
    if (test.starts_with("pending")) return;
    const std::vector<std::string> links = LinksOf(test);
    if (links.size() != 1) return report("names no test: link one, or say pending");
    const std::string_view text = tree.text(links.front());
    if (text.empty()) return report(fmt::format("its test {} does not exist", links.front()));
    // The name stands in backquotes behind the link.
    const std::size_t open = test.find('`', test.find("]("));
    const std::size_t close = open == std::string::npos ? open : test.find('`', open + 1);
    if (close == std::string::npos) return report("says not which test of the file holds it");
    const std::string name = test.substr(open + 1, close - open - 1);
    if (text.find(name) == std::string_view::npos) {
      report(fmt::format("{} holds no test `{}`", links.front(), name));
    }
  });
  if (rows == 0) findings.push_back({"README.md", 0, "has no table under `## Promises`"});
  return findings;
}

Findings CheckExamplesAndPolicies(const Tree& tree) {
  Findings findings;
  std::set<std::string> examples;
  for (const auto& [path, text] : tree.files) {
    if (path.starts_with("examples/") && path.find('/', 9) != std::string::npos) {
      examples.insert(path.substr(0, path.find('/', 9)));
    }
    const bool shipped = path.ends_with(".curfew") &&
                         (path.starts_with("policies/") || path.starts_with("examples/"));
    // What has no class is a part that policies take by `use`.
    const bool has_class =
        text.starts_with("sandbox ") || text.find("\nsandbox ") != std::string::npos;
    if (shipped && has_class && text.find("\ntest \"") == std::string::npos) {
      findings.push_back({path, 0, "a policy that is shipped has tests in the language"});
    }
  }
  for (const std::string& example : examples) {
    // What it runs: a task on a machine, or a program that asks.
    const bool has_program = tree.files.contains(example + "/ask.c");
    for (const std::string_view file : {"README.md", "task.json"}) {
      if (has_program && file == "task.json") continue;
      if (!tree.has(fmt::format("{}/{}", example, file))) {
        findings.push_back({example, 0, fmt::format("an example has a {}", file)});
      }
    }
  }
  return findings;
}

}  // namespace curfew::style
