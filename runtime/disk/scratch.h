// A scratch disk: a file without a name that holds an empty ext4, encrypted with a key that exists
// only as long as its sandbox. Destroying the key destroys the data; closing the file frees the
// blocks. Plain text never reaches the host's disk. QEMU opens it with `driver=luks`.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/secret.h"

#include <cstdint>
#include <string>

namespace curfew::disk {

inline constexpr std::uint64_t ScratchBytesMin = 8ull << 20;   // below this ext4 has no journal
inline constexpr std::uint64_t ScratchBytesMax = 16ull << 40;  // what ext4 with 4 KiB blocks holds

struct ScratchRequest {
  std::string directory;           // where the blocks live; on a real disk
  std::uint64_t bytes = 0;         // what the guest sees; rounded up to 4 KiB
  std::uint32_t owner_uid = 1000;  // of the root folder of the file system inside the guest
  std::uint32_t owner_gid = 1000;
};

struct Scratch {
  OwnedFd file;
  Secret key;                // 64 hexadecimal digits (QEMU wants UTF-8), only ever in memory
  std::uint64_t bytes = 0;   // the payload
  std::uint64_t device = 0;  // identity of the file, for the journal and the receipt
  std::uint64_t inode = 0;
};

// Makes one. The file never has a name (O_TMPFILE), so no crash leaves one behind. OutOfSpace when
// the host's disk is full; Unsupported when mke2fs is missing or the directory's file system has no
// O_TMPFILE.
Result<Scratch> CreateScratch(const ScratchRequest& request);

// Overwrites the header and every key slot, so that even the right key opens nothing. For a file
// that somebody else may still hold open; not needed for secrecy once the key is wiped.
Outcome WipeHeader(int file);

}  // namespace curfew::disk
