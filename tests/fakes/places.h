// Directories and file systems that are gone after a test.
#pragma once

#include "compiler/base/text.h"

#include <cstdint>
#include <string>

namespace curfew::fakes {

// An empty directory (0700) below the system's temporary one.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A real file system of so many bytes (a tmpfs). Needs root: `is_mounted` says whether it is there.
class SmallFileSystem {
 public:
  explicit SmallFileSystem(std::uint64_t bytes);
  ~SmallFileSystem();
  [[nodiscard]] bool is_mounted() const { return mounted_; }
  [[nodiscard]] const std::string& path() const { return directory_.path(); }
  // Writes a file `ballast` until nothing more fits but `leave_bytes`.
  void Fill(std::uint64_t leave_bytes = 0) const;

 private:
  TemporaryDirectory directory_;
  bool mounted_ = false;
};

// Puts `bytes` into a file as an attacker or an accident would: at once, without waiting for the
// disk.
void Overwrite(const std::string& path, ByteView bytes);

}  // namespace curfew::fakes
