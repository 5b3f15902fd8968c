#include "compiler/tool/replace_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::tool {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "replace-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string File(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t Entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

void Write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }
std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a file is replaced with its mode, and nothing is left beside it") {
  const Folder folder;
  const std::string path = folder.File("a.curfew");
  Write(path, "old");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  REQUIRE(ReplaceFile(path, "old", "new text"));
  CHECK(Read(path) == "new text");
  struct stat status{};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
  CHECK(folder.Entries() == 1);
}

TEST_CASE("what changed meanwhile, a link, and what is not there are left alone") {
  const Folder folder;
  const std::string path = folder.File("a.curfew");
  for (const char* changed : {"other", "older", "o", ""}) {
    Write(path, changed);
    CHECK(ReplaceFile(path, "old", "new").error().code == FailureCode::Busy);
    CHECK(Read(path) == changed);
  }
  Write(path, "old");
  REQUIRE(symlink("a.curfew", folder.File("link").c_str()) == 0);
  CHECK(ReplaceFile(folder.File("link"), "old", "new").error().code == FailureCode::Usage);
  CHECK(Read(path) == "old");
  CHECK(ReplaceFile(folder.File("none"), "old", "new").error().code == FailureCode::NotFound);
  CHECK(folder.Entries() == 2);
}

}  // namespace
}  // namespace curfew::tool
