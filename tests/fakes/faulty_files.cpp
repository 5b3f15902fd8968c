#include "tests/fakes/faulty_files.h"

#include <functional>

namespace curfew::fakes {

void FaultyFiles::Plan(Fault fault, std::uint64_t change, Failure failure) {
  fault_ = fault;
  at_ = change;
  changes_ = 0;
  failure_ = std::move(failure);
}

void FaultyFiles::RefuseReading(const std::string& path, Failure failure) {
  refused_.insert_or_assign(path, std::move(failure));
}

const Failure* FaultyFiles::Refusal(const std::string& path) const {
  const auto found = refused_.find(path);
  return found == refused_.end() ? nullptr : &found->second;
}

Outcome FaultyFiles::BeforeChange(bool* amid) {
  ++changes_;
  const bool now = changes_ == at_;
  switch (fault_) {
    case Fault::None:
    case Fault::CrashAfter:
      return Ok();
    case Fault::Fails:
      if (now) return failure_;
      return Ok();
    case Fault::KeepsFailing:
      if (changes_ >= at_) return failure_;
      return Ok();
    case Fault::CrashBefore:
      if (now) throw Crash{};
      return Ok();
    case Fault::CrashAmid:
      if (now && amid == nullptr) throw Crash{};
      if (now) *amid = true;
      return Ok();
  }
  CURFEW_UNREACHABLE("the switch names every fault");
}

void FaultyFiles::AfterChange() const {
  if (fault_ == Fault::CrashAfter && changes_ == at_) throw Crash{};
}

template <typename T>
T FaultyFiles::Change(const std::function<T()>& change) {
  CURFEW_TRY_VOID(BeforeChange());
  T result = change();
  AfterChange();
  return result;
}

class FaultyAppendFile final : public host::AppendFile {
 public:
  FaultyAppendFile(FaultyFiles& files, std::unique_ptr<host::AppendFile> real)
      : files_(files), real_(std::move(real)) {}
  Outcome Append(ByteView bytes) override {
    bool amid = false;
    CURFEW_TRY_VOID(files_.BeforeChange(&amid));
    if (amid) {
      CURFEW_CHECK(real_->Append(bytes.first(bytes.size() / 2)).has_value(), "half fits");
      throw Crash{};
    }
    Outcome outcome = real_->Append(bytes);
    files_.AfterChange();
    return outcome;
  }
  Outcome Sync() override {
    return files_.Change<Outcome>([&] { return real_->Sync(); });
  }
  Outcome Truncate(std::uint64_t bytes) override {
    return files_.Change<Outcome>([&] { return real_->Truncate(bytes); });
  }
  Result<Bytes> ReadAt(std::uint64_t offset, std::size_t bytes) override {
    return real_->ReadAt(offset, bytes);
  }
  [[nodiscard]] std::uint64_t size() const override { return real_->size(); }

 private:
  FaultyFiles& files_;
  std::unique_ptr<host::AppendFile> real_;
};

Result<Bytes> FaultyFiles::ReadWhole(const std::string& path, std::size_t bytes_max) {
  if (const Failure* refusal = Refusal(path)) return *refusal;
  return real_.ReadWhole(path, bytes_max);
}
Result<host::FileStatus> FaultyFiles::Inspect(const std::string& path, host::Follow follow) {
  if (const Failure* refusal = Refusal(path)) return *refusal;
  return real_.Inspect(path, follow);
}
Result<std::string> FaultyFiles::ReadLink(const std::string& path) {
  if (const Failure* refusal = Refusal(path)) return *refusal;
  return real_.ReadLink(path);
}
Result<std::vector<std::string>> FaultyFiles::List(const std::string& directory) {
  if (const Failure* refusal = Refusal(directory)) return *refusal;
  return real_.List(directory);
}
Outcome FaultyFiles::WriteDurable(const std::string& path, ByteView bytes, std::uint32_t mode) {
  return Change<Outcome>([&] { return real_.WriteDurable(path, bytes, mode); });
}
Outcome FaultyFiles::CreateDurable(const std::string& path, ByteView bytes, std::uint32_t mode) {
  return Change<Outcome>([&] { return real_.CreateDurable(path, bytes, mode); });
}
Result<std::unique_ptr<host::AppendFile>> FaultyFiles::OpenAppend(const std::string& path,
                                                                  std::uint32_t mode) {
  CURFEW_TRY_VOID(BeforeChange());
  CURFEW_TRY(std::unique_ptr<host::AppendFile> real, real_.OpenAppend(path, mode));
  AfterChange();
  return std::unique_ptr<host::AppendFile>(
      std::make_unique<FaultyAppendFile>(*this, std::move(real)));
}
Outcome FaultyFiles::Reserve(const std::string& path, std::uint64_t bytes) {
  return Change<Outcome>([&] { return real_.Reserve(path, bytes); });
}
Result<bool> FaultyFiles::Remove(const std::string& path) {
  return Change<Result<bool>>([&] { return real_.Remove(path); });
}
Result<bool> FaultyFiles::RemoveDirectory(const std::string& path) {
  return Change<Result<bool>>([&] { return real_.RemoveDirectory(path); });
}
Result<bool> FaultyFiles::RemoveTree(const std::string& path) {
  return Change<Result<bool>>([&] { return real_.RemoveTree(path); });
}
Outcome FaultyFiles::MakeDirectory(const std::string& path, std::uint32_t mode) {
  return Change<Outcome>([&] { return real_.MakeDirectory(path, mode); });
}
Outcome FaultyFiles::SyncDirectory(const std::string& directory) {
  return Change<Outcome>([&] { return real_.SyncDirectory(directory); });
}
Result<std::unique_ptr<host::FileLock>> FaultyFiles::Lock(const std::string& path, int wait_ms) {
  return real_.Lock(path, wait_ms);
}

}  // namespace curfew::fakes
