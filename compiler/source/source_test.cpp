#include "compiler/source/source.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/source/load.h"
#include "compiler/source/text_faults.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::source {
namespace {

namespace fs = std::filesystem;

// A folder of its own for one test.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/curfew-source-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string path(std::string_view name = "") const { return path_ / name; }
  std::string Write(std::string_view name, std::string_view text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  fs::path path_;
};

FailureCode CodeOf(const std::vector<std::string>& paths) {
  const auto result = LoadSources(paths);
  REQUIRE_FALSE(result.has_value());
  CHECK_FALSE(result.error().message.empty());
  return result.error().code;
}

TEST_CASE("positions count lines and code points from one") {
  SourceMap sources;
  const FileId file = sources.Add({"a", "ab\r\n\xC3\xA9x\n"});
  CHECK(sources.PositionOf(file, 0) == Position{1, 1});
  CHECK(sources.PositionOf(file, 2) == Position{1, 3});
  CHECK(sources.PositionOf(file, 4) == Position{2, 1});
  CHECK(sources.PositionOf(file, 6) == Position{2, 2});
  CHECK(sources.PositionOf(file, 8) == Position{3, 1});
  CHECK(sources.PositionOf(file, 999) == Position{3, 1});
  CHECK(sources.Line(file, 1) == "ab");
  CHECK(sources.Line(file, 2) == "\xC3\xA9x");
  CHECK(sources.Line(file, 3).empty());
  CHECK(sources.Line(file, 4).empty());
  CHECK(sources.Describe({file, 6, 7}) == "a:2:2");
  CHECK(sources.Describe({}) == "policy set");
}

TEST_CASE("views into a map live while it grows") {
  SourceMap sources;
  const std::string_view first = sources.text(sources.Add({"a", "short"}));
  for (int i = 0; i < 100; ++i) sources.Add({"b", "x"});
  CHECK(first == "short");
}

TEST_CASE("a folder yields its .curfew files by name, without hidden folders") {
  const Folder folder;
  folder.Write("b.curfew", "b");
  folder.Write("a/z.curfew", "z");
  folder.Write("a/readme.md", "no");
  folder.Write(".git/x.curfew", "no");
  const auto sources = LoadSources(std::vector{folder.path(), folder.path("b.curfew")});
  REQUIRE(sources.has_value());
  REQUIRE(sources->size() == 2);
  CHECK(sources->text(0) == "z");
  CHECK(sources->text(1) == "b");
}

TEST_CASE("what cannot be read is one failure each, and nothing blocks") {
  const Folder folder;
  CHECK(CodeOf({}) == FailureCode::Usage);
  CHECK(CodeOf({folder.path()}) == FailureCode::Usage);
  CHECK(CodeOf({folder.path("absent.curfew")}) == FailureCode::NotFound);
  REQUIRE(::mkfifo(folder.path("pipe.curfew").c_str(), 0600) == 0);
  CHECK(CodeOf({folder.path("pipe.curfew")}) == FailureCode::Usage);
  CHECK(CodeOf({folder.path()}) == FailureCode::Usage);
  CHECK(CodeOf({"/dev/zero"}) == FailureCode::Usage);
}

TEST_CASE("a link in a folder may not lead out of it") {
  const Folder folder;
  const Folder outside;
  folder.Write("..data/a.curfew", "a");
  fs::create_symlink("..data/a.curfew", folder.path("a.curfew"));
  CHECK(LoadSources(std::vector{folder.path()}).has_value());
  fs::create_symlink(outside.Write("secret.curfew", "s"), folder.path("b.curfew"));
  CHECK(CodeOf({folder.path()}) == FailureCode::Usage);
}

TEST_CASE("of a file above the limit nothing is read, and its map says so") {
  const Folder folder;
  folder.Write("small.curfew", "x");
  const std::string path = folder.Write("big.curfew", "");
  fs::resize_file(path, limits::FileBytesMax);
  auto sources = LoadSources(std::vector{folder.path()});
  REQUIRE(sources.has_value());
  CHECK_FALSE(sources->is_too_large(0));
  fs::resize_file(path, limits::FileBytesMax + 1);
  sources = LoadSources(std::vector{folder.path()});
  REQUIRE(sources.has_value());
  REQUIRE(sources->size() == 2);
  CHECK(sources->is_too_large(0));
  CHECK(sources->text(0).empty());
  CHECK(sources->text(1) == "x");
}

TEST_CASE("a set above its limits is a map of nothing that says so") {
  const Folder folder;
  for (std::size_t i = 0; i <= limits::SetBytesMax / limits::FileBytesMax; ++i) {
    fs::resize_file(folder.Write("big" + std::to_string(i) + ".curfew", ""), limits::FileBytesMax);
  }
  auto sources = LoadSources(std::vector{folder.path()});
  REQUIRE(sources.has_value());
  CHECK(sources->size() == 0);
  CHECK(sources->excess() == Excess::Bytes);

  const Folder many;
  for (std::size_t i = 0; i < limits::SetFilesMax; ++i) {
    many.Write(std::to_string(i) + ".curfew", "x");
  }
  sources = LoadSources(std::vector{many.path()});
  REQUIRE(sources.has_value());
  CHECK(sources->size() == limits::SetFilesMax);
  CHECK(sources->excess() == Excess::None);
  many.Write("more.curfew", "x");
  sources = LoadSources(std::vector{many.path()});
  REQUIRE(sources.has_value());
  CHECK(sources->size() == 0);
  CHECK(sources->excess() == Excess::Files);
}

TEST_CASE("a place in a line as long as its file costs no walk along it") {
  SourceMap sources;
  const std::size_t bytes = 8 * 1024 * 1024;
  std::string text;
  while (text.size() < bytes) text += "\xC3\xA9x";
  const FileId file = sources.Add({"a", text});
  std::uint64_t sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t at = 0; at < text.size(); at += 30) {
    sum += sources.PositionOf(file, at).column - 1;
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  std::uint64_t expected = 0;
  for (std::size_t at = 0; at < text.size(); at += 30) expected += at / 3 * 2;
  CHECK(sum == expected);
  CHECK(sources.PositionOf(file, static_cast<std::uint32_t>(text.size())).column ==
        text.size() / 3 * 2 + 1);
}

TEST_CASE("text attacks are found wherever they stand") {
  const auto kinds = [](std::string_view text) {
    std::vector<TextFaultKind> found;
    for (const TextFault& fault : FindTextFaults(text)) found.push_back(fault.kind);
    return found;
  };
  using enum TextFaultKind;
  CHECK(kinds("plain \xC3\xA9 \t\r\n").empty());
  CHECK(kinds("\xEF\xBB\xBFx") == std::vector{ByteOrderMark});
  CHECK(kinds("x\xEF\xBB\xBF") == std::vector{HiddenCharacter});
  CHECK(kinds("a\rb") == std::vector{LoneCarriageReturn});
  CHECK(kinds("a\r") == std::vector{LoneCarriageReturn});
  CHECK(kinds(std::string_view("a\0\xFF", 3)) == std::vector{Nul});
  CHECK(kinds("\x1B[2J\xFF\xFF") == std::vector{HiddenCharacter, NotUtf8});
  CHECK(kinds("\xC0\xAF") == std::vector{NotUtf8});                // overlong
  CHECK(kinds("\xED\xA0\x80") == std::vector{NotUtf8});            // a surrogate
  CHECK(kinds("# \xE2\x80\xAE") == std::vector{HiddenCharacter});  // right-to-left override
  CHECK(FindTextFaults(std::string(100'000, '\x01')).size() == limits::DiagnosticsMax + 1);
}

TEST_CASE("about forty code points that mislead readers are hidden") {
  for (const char32_t code_point :
       {0x00,   0x07,   0x08,   0x0B,   0x0C,   0x1B,    0x7F,    0x85,   0xAD,
        0x34F,  0x61C,  0x115F, 0x1160, 0x17B4, 0x180E,  0x200B,  0x200C, 0x200D,
        0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,  0x202C,  0x202D, 0x202E,
        0x2060, 0x2061, 0x2064, 0x2066, 0x2067, 0x2068,  0x2069,  0x206F, 0x3164,
        0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xE0001, 0xE0020, 0xE01EF}) {
    INFO(static_cast<std::uint32_t>(code_point));
    CHECK(IsHidden(code_point));
  }
  for (const char32_t code_point : {0x09, 0x0A, 0x0D, 0x20, 0x61, 0xE9, 0x4E2D, 0x1F600}) {
    INFO(static_cast<std::uint32_t>(code_point));
    CHECK_FALSE(IsHidden(code_point));
  }
}

}  // namespace
}  // namespace curfew::source
