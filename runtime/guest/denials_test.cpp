#include "runtime/guest/agent/denials.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::guest {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/curfew-denials-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::string Denials() const { return path / "curfew" / "denials"; }
};

std::string ContentOf(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

TEST_CASE("refusals are lines of a file that everybody may read") {
  const Folder folder;
  REQUIRE(BeginDenials(folder.Denials()));
  CHECK(ContentOf(folder.Denials()).empty());
  REQUIRE(AppendDenial(folder.Denials(), "egress to a.example: coding.network.default"));
  REQUIRE(AppendDenial(folder.Denials(), "second"));
  CHECK(ContentOf(folder.Denials()) == "egress to a.example: coding.network.default\nsecond\n");
  CHECK(fs::status(folder.Denials()).permissions() == fs::perms(0444));
}

TEST_CASE("a line that could forge another is refused") {
  const Folder folder;
  REQUIRE(BeginDenials(folder.Denials()));
  for (const char* line : {"a\nb", "a\rb", "\x1b[2J", "\x7f", "\xc2\x85"}) {
    const Outcome appended = AppendDenial(folder.Denials(), line);
    REQUIRE_FALSE(appended);
    CHECK(appended.error().code == FailureCode::Usage);
  }
  CHECK(ContentOf(folder.Denials()).empty());
}

TEST_CASE("the file keeps its bound, and the newest lines") {
  const Folder folder;
  REQUIRE(BeginDenials(folder.Denials()));
  const std::string filler(1000, 'x');
  for (int i = 0; i < 700; ++i) {
    REQUIRE(AppendDenial(folder.Denials(), std::to_string(i) + filler));
    REQUIRE(fs::file_size(folder.Denials()) <= DenialsBytesMax);
  }
  CHECK(fs::file_size(folder.Denials() + ".old") <= DenialsBytesMax);
  const std::string newest = ContentOf(folder.Denials());
  CHECK(newest.ends_with("699" + filler + "\n"));
  CHECK(ContentOf(folder.Denials() + ".old").ends_with("\n"));
  // Two files and no more.
  CHECK(std::distance(fs::directory_iterator(folder.path / "curfew"), {}) == 2);
}

TEST_CASE("where there is no file, nothing is made of a refusal") {
  const Folder folder;
  CHECK_FALSE(AppendDenial(folder.Denials(), "line"));
}

}  // namespace
}  // namespace curfew::guest
