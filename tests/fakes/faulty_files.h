// Files that fail when a test says so: at the n-th change (a full disk, a broken one, a crash), or
// at the reading of one path.
#pragma once

#include "runtime/host/files.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace curfew::fakes {

// Thrown where the process would have died. Only tests catch it.
struct Crash {};

class FaultyFiles final : public host::Files {
 public:
  // Borrows the files on which everything else is done.
  explicit FaultyFiles(host::Files& real) : real_(real) {}

  enum class Fault {
    None,
    Fails,         // the change does not happen; later ones do
    KeepsFailing,  // nor does any later one, as on a full disk
    CrashBefore,
    CrashAfter,
    CrashAmid,  // an append leaves half of its bytes; any other change does not happen
  };
  // The fault of the `change`th change from now on, counted from 1.
  void Plan(Fault fault, std::uint64_t change,
            Failure failure = Failure(FailureCode::OutOfSpace, "the test's disk is full"));
  // Changes since the last Plan.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  // Reading, listing or looking at exactly `path` fails.
  void RefuseReading(const std::string& path, Failure failure);

  Result<Bytes> ReadWhole(const std::string& path, std::size_t bytes_max) override;
  Result<host::FileStatus> Inspect(const std::string& path, host::Follow follow) override;
  Result<std::string> ReadLink(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Outcome WriteDurable(const std::string& path, ByteView bytes, std::uint32_t mode) override;
  Outcome CreateDurable(const std::string& path, ByteView bytes, std::uint32_t mode) override;
  Result<std::unique_ptr<host::AppendFile>> OpenAppend(const std::string& path,
                                                       std::uint32_t mode) override;
  Outcome Reserve(const std::string& path, std::uint64_t bytes) override;
  Result<bool> Remove(const std::string& path) override;
  Result<bool> RemoveDirectory(const std::string& path) override;
  Result<bool> RemoveTree(const std::string& path) override;
  Outcome MakeDirectory(const std::string& path, std::uint32_t mode) override;
  Outcome SyncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<host::FileLock>> Lock(const std::string& path, int wait_ms) override;
  [[nodiscard]] std::uint64_t durable_writes() const override { return real_.durable_writes(); }

 private:
  friend class FaultyAppendFile;
  // Whether the next change is to happen; throws where it is to crash before it. `amid` is set when
  // half of it is to happen.
  Outcome BeforeChange(bool* amid = nullptr);
  void AfterChange() const;
  template <typename T>
  T Change(const std::function<T()>& change);
  [[nodiscard]] const Failure* Refusal(const std::string& path) const;

  host::Files& real_;
  Fault fault_ = Fault::None;
  std::uint64_t at_ = 0;
  std::uint64_t changes_ = 0;
  Failure failure_{FailureCode::OutOfSpace, "the test's disk is full"};
  std::map<std::string, Failure> refused_;
};

}  // namespace curfew::fakes
