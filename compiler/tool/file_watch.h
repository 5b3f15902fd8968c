// Waiting until files change, for a verb that runs again. Folders are watched and not files, since
// editors put a new file into the old one's place.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <span>
#include <string>

namespace curfew::tool {

class FileWatch {
 public:
  // From here on SIGINT and SIGTERM are told by Wait and do not end the process.
  static Result<FileWatch> Make();

  // Watches the paths, too, from here on: a folder with all below it, a file by its folder. What is
  // not there is not watched. Changes between two calls of Wait are not lost.
  Outcome Add(std::span<const std::string> paths);

  enum class Event { Changed, Interrupted };
  // Until something changed and then stood still for a moment, or a signal came.
  Result<Event> Wait();

 private:
  FileWatch(OwnedFd changes, OwnedFd signals)
      : changes_(std::move(changes)), signals_(std::move(signals)) {}
  Outcome AddFolder(const std::string& folder);

  OwnedFd changes_;
  OwnedFd signals_;
};

}  // namespace curfew::tool
