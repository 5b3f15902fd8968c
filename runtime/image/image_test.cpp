#include "runtime/image/image.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::image {
namespace {

namespace fs = std::filesystem;

FileEntry Entry(const std::string& file, const std::string& content) {
  return {file, Sha256(AsBytes(content)), content.size()};
}

Manifest Example() {
  return {
      "python311",
      {Entry("root.erofs", "root"), {"/usr/bin/python3"}, {{"PATH", "/usr/bin"}, {"LANG", "C"}}},
      {Entry("vmlinux", "kernel"),
       "6.1.0",
       Entry("initrd.cpio", "initrd"),
       Sha256(AsBytes("agent")),
       {{"10-virtio.ko", Sha256(AsBytes("module"))}}}};
}

// A directory with the example's files, removed at the end.
struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/curfew-image-XXXXXX";
    path = mkdtemp(name);
    Write("root.erofs", "root");
    Write("vmlinux", "kernel");
    Write("initrd.cpio", "initrd");
    Write("manifest.json", EncodeManifest(Example()));
  }
  ~Folder() { fs::remove_all(path); }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary | std::ios::trunc) << content;
  }
};

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a manifest comes back as it was") {
  const auto decoded = DecodeManifest(EncodeManifest(Example()));
  REQUIRE(decoded);
  CHECK(*decoded == Example());
}

TEST_CASE("the digest covers what a task sees and nothing else") {
  Manifest other = Example();
  other.boot.kernel_release = "6.1.1";
  other.name = "another";
  CHECK(DigestOf(other.content) == DigestOf(Example().content));
  other.content.environment["LANG"] = "C.UTF-8";
  CHECK(DigestOf(other.content) != DigestOf(Example().content));
  other = Example();
  other.content.entry_point.push_back("-I");
  CHECK(DigestOf(other.content) != DigestOf(Example().content));
  // Fixed for ever: a change of the canonical form would change every published digest.
  CHECK(ToString(DigestOf(Example().content)) ==
        "sha256:76f3c2047b8832bdc60372d740c47131b5dfa3d1de5bff5d55961b394dd8a80e");
}

TEST_CASE("a manifest with anything odd is refused") {
  const std::string good = EncodeManifest(Example());
  const std::string digest = ToString(DigestOf(Example().content));
  CHECK(DecodeManifest(Replaced(good, digest, ToString(Sha256(AsBytes("x"))))).error().code ==
        FailureCode::Tampered);
  for (const std::string& bad :
       {std::string(), std::string("{}\n"), std::string("[]"), good.substr(0, good.size() / 2),
        good + " ", Replaced(good, "\"version\":1", "\"version\":2"),
        Replaced(good, "\"version\":1", "\"version\":1,\"version\":1"),
        Replaced(good, "\"version\":1", "\"extra\":true,\"version\":1"),
        Replaced(good, "\"bytes\":6", "\"bytes\":6.0"),
        Replaced(good, "\"bytes\":6", "\"bytes\":-6"),
        Replaced(good, "\"file\":\"vmlinux\"", "\"file\":\"../vmlinux\""),
        Replaced(good, "\"file\":\"vmlinux\"", "\"file\":\".\""),
        Replaced(good, "\"name\":\"python311\"", "\"name\":null")}) {
    INFO(bad);
    const auto decoded = DecodeManifest(bad);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code == FailureCode::Malformed);
  }
}

TEST_CASE("an image opens when every file is what its manifest says") {
  const Folder folder;
  const auto image = Open(folder.path);
  REQUIRE(image);
  CHECK(image->digest == DigestOf(Example().content));
  char content[16] = {};
  CHECK(pread(image->kernel.get(), content, sizeof(content), 0) == 6);
  CHECK(std::string(content) == "kernel");
}

TEST_CASE("a file that was changed, cut, replaced or lost is found") {
  for (const char* name : {"root.erofs", "vmlinux", "initrd.cpio"}) {
    const Folder folder;
    INFO(name);
    folder.Write(name, "rooT");
    CHECK(Open(folder.path).error().code == FailureCode::Tampered);
    folder.Write(name, "");
    CHECK(Open(folder.path).error().code == FailureCode::Tampered);
    fs::remove(folder.path / name);
    CHECK(Open(folder.path).error().code == FailureCode::NotFound);
    fs::create_directory(folder.path / name);
    CHECK(Open(folder.path).error().code == FailureCode::Malformed);
    fs::remove(folder.path / name);
    fs::create_symlink("/etc/passwd", folder.path / name);
    CHECK_FALSE(Open(folder.path));
  }
}

TEST_CASE("a file that is known is not read again, and one that was touched is") {
  const Folder folder;
  const std::string note = folder.path / ".verified";
  REQUIRE(Open(folder.path));
  CHECK_FALSE(fs::exists(note));  // everything is too new to be known
  struct stat status{};
  for (int tries = 0; tries < 100 && !fs::exists(note); ++tries) {
    usleep(100'000);
    REQUIRE(Open(folder.path));
  }
  REQUIRE(stat(note.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(Open(folder.path));

  // Same size, times set back: the change time tells.
  REQUIRE(stat((folder.path / "vmlinux").c_str(), &status) == 0);
  folder.Write("vmlinux", "kerneL");
  const timespec times[2] = {status.st_atim, status.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, (folder.path / "vmlinux").c_str(), times, 0) == 0);
  CHECK(Open(folder.path).error().code == FailureCode::Tampered);
  folder.Write("vmlinux", "kernel");
  CHECK(Open(folder.path));

  // A note that anybody may write is not believed, nor one of a folder that anybody may change: a
  // lie in it then does no harm.
  folder.Write("root.erofs", "rooT");
  REQUIRE(stat((folder.path / "root.erofs").c_str(), &status) == 0);
  const std::string lie =
      fmt::format("{} {} {} {}.{:09} {}.{:09} {}\n", status.st_dev, status.st_ino, status.st_size,
                  status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                  status.st_ctim.tv_nsec, ToString(Example().content.root.digest));
  folder.Write(".verified", lie);
  CHECK(Open(folder.path));  // the form is right, so this is what the checks below stand against
  fs::permissions(note, fs::perms(0622));
  CHECK_FALSE(Open(folder.path));
  fs::permissions(note, fs::perms(0600));
  fs::permissions(folder.path, fs::perms(0777));
  CHECK_FALSE(Open(folder.path));
  fs::permissions(folder.path, fs::perms(0700));
  folder.Write(".verified", lie.substr(0, lie.size() - 1));
  CHECK_FALSE(Open(folder.path));
  folder.Write(".verified", "nonsense\n" + lie);
  CHECK_FALSE(Open(folder.path));
}

TEST_CASE("no image says how to get one") {
  const auto image = Open("/nonexistent");
  REQUIRE_FALSE(image);
  CHECK(image.error().code == FailureCode::NotFound);
  CHECK(image.error().message.find("bootstrap") != std::string::npos);
}

TEST_CASE("the declaration names the digest") {
  CHECK(EncodeDeclaration(Example()).find(ToString(DigestOf(Example().content))) !=
        std::string::npos);
}

}  // namespace
}  // namespace curfew::image
