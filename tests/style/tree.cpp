#include "tests/style/tree.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace curfew::style {
namespace fs = std::filesystem;

std::string_view Tree::text(std::string_view path) const {
  const auto found = files.find(path);
  return found == files.end() ? std::string_view{} : std::string_view(found->second);
}

Tree ReadTree(const std::string& root) {
  Tree tree;
  for (auto entry = fs::recursive_directory_iterator(root);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = entry->path().lexically_relative(root).generic_string();
    if (entry->is_directory() && !entry->is_symlink()) {
      const bool ours =
          path != "build" && path != ".git" && path != ".cache" && NameOf(path) != "__pycache__";
      if (!ours) entry.disable_recursion_pending();
      continue;
    }
    if (path == ".git") continue;  // a worktree's pointer
    std::ifstream in(entry->path(), std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (text.find('\0') != std::string::npos) text.clear();
    tree.files.emplace(path, std::move(text));
  }
  return tree;
}

void EachLine(std::string_view text, const std::function<void(std::string_view, int)>& each) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    each(text.substr(0, end), ++number);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

bool IsCpp(std::string_view path) { return path.ends_with(".cpp") || path.ends_with(".h"); }

bool IsUnitTest(std::string_view path) { return path.ends_with("_test.cpp"); }

std::string_view NameOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view FolderOf(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string Print(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.line == 0
                ? fmt::format("{}: {}\n", finding.path, finding.message)
                : fmt::format("{}:{}: {}\n", finding.path, finding.line, finding.message);
  }
  return text;
}

}  // namespace curfew::style
