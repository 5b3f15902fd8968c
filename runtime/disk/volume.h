// The encrypted container of a disk: a LUKS1 header by libcryptsetup, and AES-XTS over the payload.
// Needs no device mapper: nothing is ever mapped on the host.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/secret.h"

#include <cstdint>

namespace curfew::disk {

// A container whose payload can be written.
struct Volume {
  int file;                     // borrowed
  Secret volume_key;            // 64 bytes
  std::uint64_t payload_start;  // in bytes
};

// Formats `file`, which is made large enough for `payload_bytes`, so that `passphrase` opens it.
// The passphrase must be random: it is stretched by as little as the format allows.
Result<Volume> FormatVolume(int file, std::uint64_t payload_bytes, const Secret& passphrase);

// Encrypts what `plain` holds (its holes stay holes) into the payload.
Outcome FillVolume(const Volume& volume, int plain);

}  // namespace curfew::disk
