// The text of a source tree, and what a rule says about it. A rule is a function from a Tree to
// findings: the real tree must have none, and a planted one must have some.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::style {

struct Finding {
  std::string path;
  int line = 0;  // 0: the file as a whole
  std::string message;
};
using Findings = std::vector<Finding>;

// Paths are relative to the root, with forward slashes. Binary files are listed with empty text.
struct Tree {
  std::map<std::string, std::string, std::less<>> files;

  [[nodiscard]] bool has(std::string_view path) const { return files.contains(path); }
  [[nodiscard]] std::string_view text(std::string_view path) const;
};

// Every file below `root`, except the build folder and what version control keeps. Throws
// std::filesystem::filesystem_error: a tree that cannot be read is not a clean one.
Tree ReadTree(const std::string& root);

// Calls `each` with every line and its number, from 1.
void EachLine(std::string_view text, const std::function<void(std::string_view, int)>& each);

[[nodiscard]] bool IsCpp(std::string_view path);       // .cpp or .h
[[nodiscard]] bool IsUnitTest(std::string_view path);  // *_test.cpp
[[nodiscard]] std::string_view NameOf(std::string_view path);
[[nodiscard]] std::string_view FolderOf(std::string_view path);
[[nodiscard]] std::vector<std::string> WordsOf(std::string_view text);
[[nodiscard]] std::string_view Trimmed(std::string_view text);

// For messages of a failing test: one finding a line.
std::string Print(const Findings& findings);

}  // namespace curfew::style
