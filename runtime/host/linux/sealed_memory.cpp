#include "runtime/host/linux/sealed_memory.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace curfew::host {
namespace {

constexpr int AllSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

}  // namespace

Result<OwnedFd> SealBytes(const std::string& name, ByteView bytes) {
  OwnedFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.is_open()) return SystemFailure(errno, "make a memory file");
  while (!bytes.empty()) {
    const ssize_t written = write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemFailure(errno, "write a memory file");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (fcntl(fd.get(), F_ADD_SEALS, AllSeals) != 0) return SystemFailure(errno, "seal memory");
  return fd;
}

Result<SealedMemory> SealedMemory::Map(const OwnedFd& fd, std::size_t bytes_max) {
  const int seals = fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & AllSeals) != AllSeals) {
    return Failure(FailureCode::Tampered, "the memory that was handed over is not sealed");
  }
  struct stat status{};
  if (fstat(fd.get(), &status) != 0) return SystemFailure(errno, "look at sealed memory");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0 || size > bytes_max) {
    return Failure(FailureCode::TooLarge, "the sealed memory has no size that is allowed");
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) return SystemFailure(errno, "map sealed memory");
  return SealedMemory(static_cast<const std::uint8_t*>(data), size);
}

SealedMemory::~SealedMemory() {
  if (data_ != nullptr) munmap(const_cast<std::uint8_t*>(data_), size_);
}

}  // namespace curfew::host
