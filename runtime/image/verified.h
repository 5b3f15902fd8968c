// What was verified before: a note beside the image that saves reading 150 MB at each start. A file
// counts as the one that was hashed while its device, inode, size and both times are what they
// were; changing it without changing its ctime takes the rights of root, and whoever has those
// needs no forged image. Never more than a saving: with any doubt about the note the files are
// read.
#pragma once

#include "compiler/base/crypto.h"

#include <cstdint>
#include <map>
#include <string>
#include <sys/stat.h>

namespace curfew::image {

class Verified {
 public:
  // Reads the note of `directory`; empty when there is none, or when anybody but this user and root
  // could have written it or renamed files over it.
  static Verified Load(const std::string& directory);

  // Whether the open `file` was once found to have `digest`, and was not touched since.
  [[nodiscard]] bool Knows(int file, const Digest& digest);
  // Remembers that a file has `digest`, whose status was `before` it was read. Not when it had
  // changed just before: a change right after might leave the same times.
  void Add(const struct stat& before, const Digest& digest);
  // Writes the note, of what was known and added by now, if something was added. That it cannot be
  // written is no failure.
  void Save(const std::string& directory) const;

 private:
  // Digests by the file's identity and times: as the note had them, and as it will have them.
  std::map<std::string, std::string> before_;
  std::map<std::string, std::string> now_;
  std::int64_t loaded_ = 0;  // when, in seconds since 1970
  bool changed_ = false;
};

}  // namespace curfew::image
