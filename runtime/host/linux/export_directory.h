// The folder that exports are written to, held by descriptor: whatever a name says and whatever
// stands there already, nothing is written outside of it, through a link, or over another file.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <string>

namespace curfew::host {

// One file on its way. It has no name until Finish; dropped before that, it leaves nothing.
class ExportFile {
 public:
  ExportFile(ExportFile&&) noexcept = default;
  ExportFile& operator=(ExportFile&&) = delete;
  ~ExportFile();

  // OutOfSpace, System…
  Outcome Write(ByteView bytes);
  // On the disk under its name when this returns. AlreadyExists.
  Result<Digest> Finish();
  // Takes the name away again, after Finish.
  void Withdraw();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  friend class ExportDirectory;
  ExportFile(OwnedFd parent, OwnedFd file, std::string name, bool named)
      : parent_(std::move(parent)), file_(std::move(file)), name_(std::move(name)), named_(named) {}
  OwnedFd parent_;
  OwnedFd file_;
  std::string name_;
  bool named_;  // the file system has no unnamed files: it has its name from the start
  bool finished_ = false;
  std::uint64_t bytes_ = 0;
  Sha256Stream digest_;
};

class ExportDirectory {
 public:
  explicit ExportDirectory(OwnedFd directory) : directory_(std::move(directory)) {}
  // Opens the folder, which must exist and be one.
  static Result<OwnedFd> Open(const std::string& path);

  // `name` is relative: segments without "", "." and ".."; folders are made. Malformed,
  // AlreadyExists, PermissionDenied (a link stands in the way).
  Result<ExportFile> Create(const std::string& name);

 private:
  OwnedFd directory_;
};

}  // namespace curfew::host
