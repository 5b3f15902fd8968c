// Runs every case below a folder on every back end. conformance_test FOLDER [PART] runs those whose
// path holds PART. Ends with 0 when all is as expected, 2 when not, 1 when it could not run.
#include "tests/conformance/back_ends.h"
#include "tests/conformance/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::conformance {
namespace {

namespace fs = std::filesystem;

// Fewer are not the suite.
constexpr std::size_t CasesMin = 400;

class Run {
 public:
  Run(fs::path root, std::string part) : root_(std::move(root)), part_(std::move(part)) {}

  int Main() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.path().extension() == ".case") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      if (NameOf(file).find(part_) != std::string::npos) RunFile(file);
    }
    const std::size_t cases_min = part_.empty() ? CasesMin : 1;
    if (cases_ < cases_min) {
      Fail("the suite", fmt::format("{} cases, and at least {} are it", cases_, cases_min));
    }
    if (part_.empty() && indexed_ == 0) Fail("the suite", "no case has a module with an index");
    fmt::print("{} cases, {} questions, {} modules with an index, {} failed\n", cases_, questions_,
               indexed_, failures_);
    return failures_ == 0 ? 0 : 2;
  }

 private:
  [[nodiscard]] std::string NameOf(const fs::path& file) const {
    return fs::relative(file, root_).string();
  }

  void Fail(std::string_view where, std::string_view what) {
    fmt::print("FAILED {}: {}\n", where, what);
    ++failures_;
  }

  void RunFile(const fs::path& file) {
    ++cases_;
    const std::string name = NameOf(file);
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const Result<Case> read = ReadCase(text.str());
    if (!read) return Fail(name, read.error().message);
    const auto compiled = CompileCase(*read);
    if (!compiled) return Fail(name, compiled.error().message);
    const Compiled& made = **compiled;
    if (made.errors != read->errors) {
      return Fail(name, fmt::format("errors\n  expected: {}\n  got:      {}",
                                    fmt::join(read->errors, ", "), fmt::join(made.errors, ", ")));
    }
    if (made.has_index) ++indexed_;
    for (const Question& question : read->questions) {
      for (const Compiled::BackEnd& back_end : made.back_ends) {
        AskOne(fmt::format("{}:{}", name, question.line), question, back_end);
      }
    }
  }

  void AskOne(std::string_view where, const Question& question, const Compiled::BackEnd& back_end) {
    ++questions_;
    const Answer got = AsExpected(Ask(*back_end.engine, question.request), question.expected);
    if (got == question.expected) return;
    Fail(where, fmt::format("{}\n  expected: {}\n  got:      {}", back_end.name,
                            Text(question.expected), Text(got)));
  }

  fs::path root_;
  std::string part_;
  std::size_t cases_ = 0;
  std::size_t questions_ = 0;
  std::size_t indexed_ = 0;
  std::size_t failures_ = 0;
};

}  // namespace
}  // namespace curfew::conformance

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: conformance_test FOLDER [PART]\n");
    return 1;
  }
  return curfew::conformance::Run(argv[1], argc == 3 ? argv[2] : "").Main();
}
