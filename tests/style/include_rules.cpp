#include "tests/style/include_rules.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace curfew::style {
namespace {

constexpr std::string_view LayersPath = "tests/style/layers.txt";
constexpr std::string_view ConfinedPath = "tests/style/confined.txt";

// `key: values`, one a line; # begins a comment.
struct Line {
  int number = 0;
  std::string key;
  std::vector<std::string> values;
};

std::vector<Line> ReadLines(std::string_view text) {
  std::vector<Line> lines;
  EachLine(text, [&](std::string_view raw, int number) {
    const std::string_view line = Trimmed(raw.substr(0, raw.find('#')));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    lines.push_back({number, std::string(line.substr(0, colon)), WordsOf(line.substr(colon + 1))});
  });
  return lines;
}

using Layers = std::map<std::string, std::set<std::string>, std::less<>>;

Layers ReadLayers(const Tree& tree) {
  Layers layers;
  for (const Line& line : ReadLines(tree.text(LayersPath))) {
    layers[line.key] = {line.values.begin(), line.values.end()};
  }
  return layers;
}

// "compiler/base/result.h" is in room "compiler/base"; what is in no room yields nothing.
std::string RoomOf(std::string_view path) {
  if (!path.starts_with("compiler/") && !path.starts_with("runtime/")) return {};
  const std::size_t first = path.find('/');
  const std::size_t second = path.find('/', first + 1);
  return second == std::string_view::npos ? std::string{} : std::string(path.substr(0, second));
}

struct Include {
  int line = 0;
  bool quoted = false;
  std::string header;
};

std::vector<Include> IncludesOf(std::string_view text) {
  std::vector<Include> includes;
  EachLine(text, [&](std::string_view raw, int number) {
    std::string_view line = Trimmed(raw);
    if (!line.starts_with('#')) return;
    line = Trimmed(line.substr(1));
    if (!line.starts_with("include")) return;
    line = Trimmed(line.substr(7));
    if (line.size() < 3 || (line[0] != '"' && line[0] != '<')) return;
    const std::size_t end = line.find(line[0] == '"' ? '"' : '>', 1);
    if (end == std::string_view::npos) return;
    includes.push_back({number, line[0] == '"', std::string(line.substr(1, end - 1))});
  });
  return includes;
}

template <typename Each>
void EachInclude(const Tree& tree, Each each) {
  for (const auto& [path, text] : tree.files) {
    if (!IsCpp(path) && !path.ends_with(".def")) continue;
    for (const Include& include : IncludesOf(text)) each(std::string_view(path), include);
  }
}

// A pattern of confined.txt covers a folder (ends in '/'), files by suffix (begins with '*'), or
// one file.
bool Covers(std::string_view pattern, std::string_view path) {
  if (pattern.ends_with('/')) return path.starts_with(pattern);
  if (pattern.starts_with('*')) return path.ends_with(pattern.substr(1));
  return path == pattern;
}

}  // namespace

Findings CheckLayers(const Tree& tree) {
  static const std::set<std::string, std::less<>> SeenByRuntime = {
      "compiler/base", "compiler/values", "compiler/schema", "compiler/module"};
  Findings findings;
  std::set<std::string> above;
  for (const Line& line : ReadLines(tree.text(LayersPath))) {
    const auto report = [&](std::string message) {
      findings.push_back({std::string(LayersPath), line.number, std::move(message)});
    };
    if (above.contains(line.key)) report(fmt::format("{} has a line already", line.key));
    for (const std::string& lower : line.values) {
      if (!above.contains(lower)) {
        report(
            fmt::format("{} may only name rooms whose line stands above its own, and {} does not",
                        line.key, lower));
      }
      if (line.key.starts_with("compiler/") && lower.starts_with("runtime/")) {
        report("the compiler never sees the runtime");
      }
      if (line.key.starts_with("runtime/") && lower.starts_with("compiler/") &&
          !SeenByRuntime.contains(lower)) {
        report(fmt::format(
            "of the compiler the runtime sees base, values, schema and module, not {}", lower));
      }
    }
    above.insert(line.key);
  }
  if (above.empty()) findings.push_back({std::string(LayersPath), 0, "holds no room"});
  return findings;
}

Findings CheckIncludesFollowLayers(const Tree& tree) {
  const Layers layers = ReadLayers(tree);
  Findings findings;
  EachInclude(tree, [&](std::string_view path, const Include& include) {
    const std::string from = RoomOf(path);
    const std::string to = RoomOf(include.header);
    const bool to_tests = include.header.starts_with("tests/");
    if (from.empty() || (to.empty() && !to_tests) || from == to) return;
    // A program's main composes; a unit test may build what it needs, within its own half.
    if (NameOf(path) == "main.cpp") return;
    const auto report = [&](std::string message) {
      findings.push_back({std::string(path), include.line, std::move(message)});
    };
    if (IsUnitTest(path)) {
      if (from.starts_with("compiler/") && to.starts_with("runtime/")) {
        report("the compiler never sees the runtime, not even in a test");
      }
      return;
    }
    if (to_tests) {
      report("only tests include what stands below tests/");
      return;
    }
    const auto line = layers.find(from);
    if (line == layers.end() || !line->second.contains(to)) {
      report(fmt::format("{} may not include {}: see its line in {}", from, to, LayersPath));
    }
  });
  return findings;
}

Findings CheckRoomsAreBuilt(const Tree& tree) {
  const Layers layers = ReadLayers(tree);
  std::map<std::string, std::string> room_by_library;
  for (const auto& [room, lower] : layers) room_by_library[std::string(NameOf(room))] = room;
  Findings findings;
  std::set<std::string> built;
  for (const auto& [path, text] : tree.files) {
    if (NameOf(path) != "CMakeLists.txt") continue;
    const std::string room = RoomOf(path);
    const std::size_t call = text.find("curfew_library(");
    if (room.empty() || call == std::string::npos || FolderOf(path) != room) continue;
    built.insert(room);
    const auto report = [&, &path = path](std::string message) {
      findings.push_back({path, 0, std::move(message)});
    };
    const auto line = layers.find(room);
    if (line == layers.end()) {
      report(fmt::format("{} has no line in {}", room, LayersPath));
      continue;
    }
    const std::string_view body =
        std::string_view(text).substr(call + 15, text.find(')', call) - call - 15);
    const std::vector<std::string> words = WordsOf(body);
    if (words.empty() || words.front() != NameOf(room)) {
      report(fmt::format("the library of {} is called {}", room, NameOf(room)));
    }
    auto word = std::find(words.begin(), words.end(), "DEPS");
    if (word == words.end()) continue;
    static const std::set<std::string, std::less<>> Keywords = {"SOURCES", "LINK", "TESTS",
                                                                "TEST_DEPS"};
    for (++word; word != words.end() && !Keywords.contains(*word); ++word) {
      const auto linked = room_by_library.find(*word);
      if (linked == room_by_library.end()) {
        report(fmt::format("links {}, which is no room of {}", *word, LayersPath));
      } else if (!line->second.contains(linked->second)) {
        report(fmt::format("links {}, which its line in {} does not allow", linked->second,
                           LayersPath));
      }
    }
  }
  for (const auto& [room, lower] : layers) {
    // The law and the headers may come before the room; sources that nothing builds are a mistake.
    const bool has_sources =
        std::any_of(tree.files.begin(), tree.files.end(), [&room = room](const auto& file) {
          return RoomOf(file.first) == room && file.first.ends_with(".cpp");
        });
    if (has_sources && !built.contains(room)) {
      findings.push_back({std::string(LayersPath), 0,
                          fmt::format("{} has a line, and no CMakeLists.txt builds it", room)});
    }
  }
  return findings;
}

Findings CheckConfinedHeaders(const Tree& tree) {
  const std::vector<Line> confined = ReadLines(tree.text(ConfinedPath));
  Findings findings;
  if (confined.empty()) findings.push_back({std::string(ConfinedPath), 0, "confines nothing"});
  EachInclude(tree, [&](std::string_view path, const Include& include) {
    // The longest prefix decides.
    const Line* law = nullptr;
    for (const Line& line : confined) {
      if (!include.header.starts_with(line.key)) continue;
      if (law == nullptr || line.key.size() > law->key.size()) law = &line;
    }
    if (law == nullptr) return;
    const bool allowed = std::any_of(law->values.begin(), law->values.end(),
                                     [&](const auto& pattern) { return Covers(pattern, path); });
    if (allowed) return;
    findings.push_back({std::string(path), include.line,
                        fmt::format("<{}> may be included only by {}: see {}", include.header,
                                    fmt::join(law->values, ", "), ConfinedPath)});
  });
  return findings;
}

Findings CheckIncludeForm(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (!IsCpp(path)) continue;
    const auto report = [&, &path = path](int line, std::string message) {
      findings.push_back({path, line, std::move(message)});
    };
    if (path.ends_with(".h")) {
      if (text.find("#pragma once") == std::string::npos) report(0, "lacks #pragma once");
      if (!text.starts_with("//")) {
        report(1, "a header opens with what it is, what it is not, and what to read next");
      }
    }
    const std::vector<Include> includes = IncludesOf(text);
    for (const Include& include : includes) {
      const bool generated = include.header.starts_with("grammar/");
      if (include.quoted && !generated && !tree.has(include.header)) {
        report(include.line,
               fmt::format("\"{}\" is no file of the tree: quotes name a path from the "
                           "root, libraries stand in angle brackets",
                           include.header));
      }
    }
    if (!path.ends_with(".cpp") || includes.empty()) continue;
    const std::string own = path.substr(0, path.size() - 4) + ".h";
    if (tree.has(own) && includes.front().header != own) {
      report(includes.front().line, fmt::format("a file includes its own header first: {}", own));
    }
  }
  return findings;
}

}  // namespace curfew::style
