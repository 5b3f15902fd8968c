// Files on their way out: listing what patterns name, and reading what was listed.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "runtime/guest/protocol.h"

#include <functional>
#include <string>
#include <vector>

namespace curfew::guest {

// Calls `found` for every file, link and special file that one of the patterns names, at most
// FilesMax of them. Folders are entered without following links or crossing mounts. A path may come
// more than once when patterns overlap.
Result<FilesEnd> ListFiles(const std::vector<std::string>& patterns,
                           const std::function<void(const File&)>& found);

// Opens a file that was listed. Failure(Busy): it is not the same any more.
Result<OwnedFd> OpenListed(const File& listed);
// Whether an open file still is what was listed.
bool IsUnchanged(int file, const File& listed);

// Writes a whole file and makes the folders above it.
Outcome WriteWholeFile(const WriteFile& what);

}  // namespace curfew::guest
