// Reading a policy set from files, folders and standard input. This is the compiler's only I/O.
#pragma once

#include "compiler/base/result.h"
#include "compiler/source/source.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace curfew::source {

// Every path is a file, a folder (every `*.curfew` below it, by name, without hidden folders), or
// `-` for standard input, named "<stdin>". A file that is given twice is read once; the map is
// sorted by name. Nothing blocks on a FIFO or a device: they are refused, as is a link in a folder
// that leads out of it. A file above its limit is in the map without its text, and a set above its
// limits is a map that says so: mistakes of the author, which syntax::Lex and syntax::ParseAll
// report. No file at all is Usage, unless folders without policies are fine: then the map is empty.
enum class Nothing { Refused, Fine };

// What stands in the place of a file's bytes, by its path without links: text that an editor holds
// and has not saved.
using Overlay = std::map<std::string, std::string, std::less<>>;

Result<SourceMap> LoadSources(std::span<const std::string> paths,
                              Nothing nothing = Nothing::Refused, const Overlay* overlay = nullptr);

// Where the files lie that a file names: at or below the folder of the file that says it, or, where
// there is a root, at or below that folder and nowhere else.
struct Naming {
  std::string root = {};
  const Overlay* overlay = nullptr;
};

// The path of a file or folder that `said_by` names: one that is there, relative to the folder of
// the file that says it (for standard input the working folder), and that leads out of what
// `naming` says neither by its text nor by a link. InvalidPolicy, NotFound, PermissionDenied or
// another failure says why not, in words that need no path beside them.
Result<std::string> FollowPath(std::string_view said_by, const std::string& path,
                               const Naming& naming);

// Reads what files of a set name: `use "shared/hosts.curfew"`, `from "lists/npm.txt"`. What was
// read before, under whatever name, is not read again.
class NamedFiles {
 public:
  // What is read is added to `sources`, which outlives this, as does the overlay.
  explicit NamedFiles(SourceMap& sources, Naming naming = {});

  struct Read {
    FileId file = 0;
    bool is_new = false;
  };
  // Fails as FollowPath does.
  Result<Read> Follow(FileId from, const std::string& path);

 private:
  SourceMap& sources_;
  Naming naming_;
  std::size_t bytes_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, FileId> seen_;  // by device and inode
};

}  // namespace curfew::source
