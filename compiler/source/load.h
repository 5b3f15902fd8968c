// Reading a policy set from files, folders and standard input. This is the compiler's only I/O.
#pragma once

#include "compiler/base/result.h"
#include "compiler/source/source.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace curfew::source {

// Every path is a file, a folder (every `*.curfew` below it, by name, without hidden folders), or
// `-` for standard input, named "<stdin>". A file that is given twice is read once; the map is
// sorted by name. Nothing blocks on a FIFO or a device: they are refused, as are a link in a folder
// that leads out of it, and a file or set above its limit (InvalidPolicy). No file at all is Usage,
// unless folders without policies are fine: then the map is empty.
enum class Nothing { Refused, Fine };

// What stands in the place of a file's bytes, by its path without links: text that an editor holds
// and has not saved.
using Overlay = std::map<std::string, std::string, std::less<>>;

Result<SourceMap> LoadSources(std::span<const std::string> paths,
                              Nothing nothing = Nothing::Refused, const Overlay* overlay = nullptr);

// Reads what files of a set name: `use "shared/hosts.curfew"`, `from "lists/npm.txt"`. Such a path
// is relative to the folder of the file that says it and never leads out of that folder, by `..`
// or by a link; for standard input it is the working folder. What was read before, under whatever
// name, is not read again.
class NamedFiles {
 public:
  // What is read is added to `sources`, which outlives this, as does the overlay.
  explicit NamedFiles(SourceMap& sources, const Overlay* overlay = nullptr);

  struct Read {
    FileId file = 0;
    bool is_new = false;
  };
  // InvalidPolicy, NotFound, PermissionDenied or another failure says why it is not read, in words
  // that need no path beside them.
  Result<Read> Follow(FileId from, const std::string& path);

 private:
  SourceMap& sources_;
  const Overlay* overlay_;
  std::size_t bytes_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FileId> seen_;  // by device and inode
};

}  // namespace curfew::source
