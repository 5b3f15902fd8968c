#include "runtime/image/image.h"
#include "runtime/image/verified.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::image {
namespace {

constexpr std::size_t ManifestBytesMax = 1 << 20;
constexpr char Remedy[] = "build it with `./bootstrap build`";

Result<OwnedFd> OpenPlainFile(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) {
      return Failure(FailureCode::NotFound,
                     fmt::format("there is no image file {}; {}", path, Remedy));
    }
    return SystemFailure(errno, "open " + path);
  }
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Failure(FailureCode::Malformed, path + " is not a regular file");
  }
  return file;
}

// Opens one file of the image and reads it all, unless it is known to be unchanged since it was.
Result<OwnedFd> OpenVerified(const std::string& directory, const FileEntry& entry,
                             Verified& verified) {
  CURFEW_TRY(OwnedFd file, OpenPlainFile(directory, entry.file));
  if (verified.Knows(file.get(), entry.digest)) return file;
  struct stat before{};
  if (fstat(file.get(), &before) != 0) return SystemFailure(errno, "look at " + entry.file);
  Sha256Stream hash;
  std::uint64_t bytes = 0;
  Bytes piece(1 << 20);
  for (;;) {
    const ssize_t got = pread(file.get(), piece.data(), piece.size(), static_cast<off_t>(bytes));
    if (got < 0) return SystemFailure(errno, fmt::format("read {}/{}", directory, entry.file));
    if (got == 0) break;
    hash.Update(ByteView(piece).first(static_cast<std::size_t>(got)));
    bytes += static_cast<std::uint64_t>(got);
  }
  const Digest found = hash.Finish();
  if (bytes != entry.bytes || found != entry.digest) {
    return Failure(FailureCode::Tampered,
                   fmt::format("{}/{} is {} of {} bytes, and the image's manifest says {} of {}; "
                               "delete the folder and {}",
                               directory, entry.file, ToString(found), bytes,
                               ToString(entry.digest), entry.bytes, Remedy));
  }
  verified.Add(before, entry.digest);
  return file;
}

}  // namespace

Result<Manifest> ReadManifest(const std::string& directory) {
  CURFEW_TRY(const OwnedFd file, OpenPlainFile(directory, "manifest.json"));
  std::string text(ManifestBytesMax + 1, '\0');
  std::size_t bytes = 0;
  for (;;) {
    const ssize_t got = read(file.get(), text.data() + bytes, text.size() - bytes);
    if (got < 0) return SystemFailure(errno, "read " + directory + "/manifest.json");
    if (got == 0) break;
    bytes += static_cast<std::size_t>(got);
  }
  if (bytes > ManifestBytesMax) {
    return Failure(FailureCode::TooLarge, directory + "/manifest.json is too large");
  }
  auto manifest = DecodeManifest(std::string_view(text).substr(0, bytes));
  if (!manifest) return manifest.error().In(directory);
  return manifest;
}

Result<Image> Open(const std::string& directory) {
  CURFEW_TRY(Manifest manifest, ReadManifest(directory));
  Image image;
  Verified verified = Verified::Load(directory);
  CURFEW_TRY(image.root, OpenVerified(directory, manifest.content.root, verified));
  CURFEW_TRY(image.kernel, OpenVerified(directory, manifest.boot.kernel, verified));
  CURFEW_TRY(image.initrd, OpenVerified(directory, manifest.boot.initrd, verified));
  verified.Save(directory);
  image.digest = DigestOf(manifest.content);
  image.manifest = std::move(manifest);
  return image;
}

}  // namespace curfew::image
