// Runs every golden file: <stage>/*.curfew (or what else a stage reads), an input and below it what
// the stage prints, as comments:
//   #--- expected
//   #| …
// `#=== NAME` starts another file of the same input, and `#<<< PATH` brings a file of the
// repository. Parts of documents that are written from code (documents.h) are held as well, and
// examples in documents.
// golden_test FOLDER [--update] rewrites what
// stands below the input. Ends with 0 when all is as expected, 2 when not, 1 when it could not run.
#include "compiler/diagnostics/diagnostic.h"
#include "tests/golden/documents.h"
#include "tests/golden/stage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace curfew::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ExpectedMark = "#--- expected\n";
constexpr std::string_view FileMark = "#=== ";
constexpr std::string_view ShippedMark = "#<<< ";

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The files of an input: up to the first mark it is named as the golden file is.
source::SourceMap FilesOf(std::string_view input, std::string name, const fs::path& repository) {
  source::SourceMap sources;
  std::string text;
  std::size_t at = 0;
  while (at < input.size()) {
    std::size_t end = input.find('\n', at);
    end = end == std::string_view::npos ? input.size() : end + 1;
    std::string_view line = input.substr(at, end - at);
    at = end;
    if (line.starts_with(ShippedMark)) {
      line.remove_prefix(ShippedMark.size());
      const std::string shipped(line.substr(0, line.find_first_of("\r\n")));
      sources.Add({shipped, ReadFile(repository / shipped)});
      continue;
    }
    if (!line.starts_with(FileMark)) {
      text += line;
      continue;
    }
    if (sources.size() > 0 || !text.empty()) sources.Add({std::move(name), std::move(text)});
    text.clear();
    line.remove_prefix(FileMark.size());
    name = line.substr(0, line.find_first_of("\r\n"));
  }
  sources.Add({std::move(name), std::move(text)});
  return sources;
}

std::string AsComments(std::string_view text) {
  std::string comments(ExpectedMark);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    comments += line.empty() ? "#|\n" : fmt::format("#| {}\n", line);
    at = end + 1;
  }
  return comments;
}

void PrintFirstDifference(std::string_view expected, std::string_view actual) {
  std::istringstream a{std::string(expected)};
  std::istringstream b{std::string(actual)};
  std::string left;
  std::string right;
  for (int line = 1;; ++line) {
    const bool has_left = static_cast<bool>(std::getline(a, left));
    const bool has_right = static_cast<bool>(std::getline(b, right));
    if (!has_left && !has_right) return;
    if (has_left && has_right && left == right) continue;
    fmt::print("  line {} of what is expected\n    expected: {}\n    actual:   {}\n", line,
               has_left ? left : "(nothing)", has_right ? right : "(nothing)");
    return;
  }
}

class Run {
 public:
  Run(fs::path root, bool update) : root_(std::move(root)), update_(update) {}

  int Main() {
    for (const Stage& stage : Stages()) RunStage(stage);
    for (const Stage& stage : Stages()) CheckCoverage(stage);
    for (const DocumentPart& part : DocumentParts()) CheckDocument(part);
    CheckExamples("grammar/REFERENCE.md");
    CheckWords("grammar/CurfewLexer.g4", "grammar/REFERENCE.md");
    fmt::print("{} golden files, {} failed\n", count_, failures_);
    return failures_ == 0 ? 0 : 2;
  }

 private:
  void Fail(std::string_view what) {
    fmt::print("FAILED {}\n", what);
    ++failures_;
  }

  void RunStage(const Stage& stage) {
    std::vector<fs::path> files;
    const fs::path folder = root_ / stage.name;
    if (fs::is_directory(folder)) {
      for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    }
    if (files.empty()) return Fail(fmt::format("{}: no golden file", folder.string()));
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) RunFile(stage, path);
  }

  void RunFile(const Stage& stage, const fs::path& path) {
    ++count_;
    const std::string name = path.filename().string();
    if (path.extension() != stage.extension) {
      return Fail(fmt::format("{}: not a {} file", path.string(), stage.extension));
    }
    const std::string whole = ReadFile(path);
    const std::size_t mark = whole.find(ExpectedMark);
    const std::string input = whole.substr(0, mark);
    const std::string expected = mark == std::string::npos ? "" : whole.substr(mark);
    const Printed printed = stage.run(FilesOf(input, name, Repository()));
    const std::string actual = AsComments(printed.text);
    if (printed.failed != name.starts_with("fail_")) {
      Fail(fmt::format("{}: a file is named fail_… if and only if it errs", path.string()));
      fmt::print("{}", printed.text);
    }
    NoteCodes(actual);
    if (actual == expected) return;
    if (update_) {
      const bool is_whole = input.empty() || input.ends_with('\n');
      std::ofstream(path, std::ios::binary) << input << (is_whole ? "" : "\n") << actual;
      fmt::print("updated {}\n", path.string());
      return;
    }
    Fail(fmt::format("{} (rewrite by golden_test {} --update)", path.string(), root_.string()));
    PrintFirstDifference(expected, actual);
  }

  void CheckDocument(const DocumentPart& part) {
    ++count_;
    const fs::path path = Repository() / part.path;
    const std::string before = ReadFile(path);
    const std::string after = WithPart(before, part);
    if (after == before) return;
    if (after.empty()) return Fail(fmt::format("{}: no place for `{}`", path.string(), part.name));
    if (update_) {
      std::ofstream(path, std::ios::binary) << after;
      fmt::print("updated {}\n", path.string());
      return;
    }
    Fail(fmt::format("{} (rewrite by golden_test {} --update)", path.string(), root_.string()));
    PrintFirstDifference(after, before);
  }

  // The examples of a document are one policy set, whose tests pass. Lines keep their numbers.
  void CheckExamples(const std::string& document) {
    ++count_;
    std::istringstream lines(ReadFile(Repository() / document));
    std::string policy;
    bool in_example = false;
    for (std::string line; std::getline(lines, line);) {
      const bool is_fence = line.starts_with("```");
      if (is_fence) in_example = line == "```curfew";
      policy += in_example && !is_fence ? line + "\n" : "\n";
    }
    source::SourceMap sources;
    sources.Add({document, std::move(policy)});
    const auto stages = Stages();
    const auto test = std::find_if(stages.begin(), stages.end(),
                                   [](const Stage& stage) { return stage.name == "test"; });
    const Printed printed = test->run(sources);
    if (!printed.failed) return;
    Fail(fmt::format("{}: its examples are no policy set whose tests pass", document));
    fmt::print("{}", printed.text);
  }

  // Every word of the language stands in the reference's code, so that no construct is forgotten.
  void CheckWords(const std::string& lexer, const std::string& document) {
    ++count_;
    std::string code;
    bool is_code = false;  // three marks in a row are as good as one
    for (const char c : ReadFile(Repository() / document)) {
      if (c == '`') is_code = !is_code;
      code += is_code ? c : ' ';
    }
    std::set<std::string> shown;
    static const std::regex name("[a-z]+");
    for (std::sregex_iterator at(code.begin(), code.end(), name), end; at != end; ++at) {
      shown.insert(at->str());
    }
    const std::string grammar = ReadFile(Repository() / lexer);
    static const std::regex literal("'([a-z]{2,})'");
    for (std::sregex_iterator at(grammar.begin(), grammar.end(), literal), end; at != end; ++at) {
      if (shown.contains((*at)[1])) continue;
      Fail(fmt::format("{}: nothing shows the word `{}`", document, (*at)[1].str()));
    }
  }

  [[nodiscard]] fs::path Repository() const { return root_.parent_path().parent_path(); }

  void NoteCodes(std::string_view text) {
    for (std::size_t at = text.find("[CUR"); at != std::string_view::npos;
         at = text.find("[CUR", at + 1)) {
      codes_.insert(std::string(text.substr(at + 1, 7)));
    }
  }

  // "CUR6001 needs …; FILE gives them": the file is a test that speaks of the diagnostic.
  void CheckIsTestedElsewhere(std::string_view line) {
    const std::string_view code = line.substr(0, line.find(' '));
    const std::size_t semicolon = line.find("; ");
    const std::string_view behind =
        semicolon == line.npos ? std::string_view() : line.substr(semicolon + 2);
    const std::string file(behind.substr(0, behind.find(' ')));
    const auto registry = diagnostics::Registry();
    const auto entry = std::find_if(registry.begin(), registry.end(), [&](const auto& one) {
      return diagnostics::CodeName(one.code) == code;
    });
    if (entry == registry.end()) return Fail(fmt::format("uncovered.txt: {} is no code", code));
    const std::string text = file.ends_with("_test.cpp") ? ReadFile(Repository() / file) : "";
    if (text.find(entry->name) != text.npos || text.find(code) != text.npos) return;
    Fail(fmt::format("uncovered.txt: no test that names {} or {} is in `{}`", code, entry->name,
                     file));
  }

  void CheckCoverage(const Stage& stage) {
    std::map<std::string, std::string> exempt;
    std::istringstream lines(ReadFile(root_ / "uncovered.txt"));
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with('#')) continue;
      const std::size_t blank = line.find(' ');
      if (blank == std::string::npos) Fail(fmt::format("uncovered.txt: `{}` has no reason", line));
      CheckIsTestedElsewhere(line);
      exempt[line.substr(0, blank)] = line.substr(std::min(blank, line.size()));
    }
    for (const diagnostics::RegistryEntry& entry : diagnostics::Registry()) {
      if (entry.code < stage.first_code || entry.code > stage.last_code) continue;
      const std::string code = diagnostics::CodeName(entry.code);
      const bool covered = codes_.contains(code);
      if (!covered && !exempt.contains(code)) {
        Fail(fmt::format("{} {}: no golden file emits it; write {}/fail_….curfew", code, entry.name,
                         stage.name));
      }
      if (covered && exempt.contains(code)) {
        Fail(fmt::format("{} {}: emitted after all; take it out of uncovered.txt", code,
                         entry.name));
      }
    }
  }

  fs::path root_;
  bool update_;
  std::set<std::string> codes_;
  int count_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace curfew::golden

int main(int argc, char** argv) {
  const bool update = argc == 3 && std::string_view(argv[2]) == "--update";
  if (argc != 2 && !update) {
    fmt::print(stderr, "usage: golden_test FOLDER [--update]\n");
    return 1;
  }
  return curfew::golden::Run(argv[1], update).Main();
}
