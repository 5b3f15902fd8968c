#include "runtime/disk/volume.h"

#include "compiler/base/owned_fd.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <libcryptsetup.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

namespace curfew::disk {
namespace {

constexpr std::size_t VolumeKeyBytes = 64;  // AES-256 in XTS mode takes two
constexpr std::uint64_t SectorBytes = 512;
constexpr std::uint64_t HeaderBytes = 2ull << 20;  // where libcryptsetup puts the payload
constexpr std::uint32_t StretchIterations = 1000;

struct FreeDevice {
  void operator()(crypt_device* device) const { crypt_free(device); }
};
using Device = std::unique_ptr<crypt_device, FreeDevice>;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* cipher) const { EVP_CIPHER_CTX_free(cipher); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

void Silent(int, const char*, void*) {}

Outcome EncryptSectors(EVP_CIPHER_CTX* cipher, std::uint64_t first_sector,
                       const std::uint8_t* plain, std::uint8_t* sealed, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes; done += SectorBytes) {
    std::array<std::uint8_t, 16> tweak{};  // "plain64": the sector's number, little endian
    const std::uint64_t sector = first_sector + done / SectorBytes;
    for (std::size_t i = 0; i < 8; ++i) tweak[i] = static_cast<std::uint8_t>(sector >> (8 * i));
    int written = 0;
    if (EVP_EncryptInit_ex(cipher, nullptr, nullptr, nullptr, tweak.data()) != 1 ||
        EVP_EncryptUpdate(cipher, sealed + done, &written, plain + done, SectorBytes) != 1) {
      return Failure(FailureCode::System, "OpenSSL could not encrypt a sector");
    }
  }
  return Ok();
}

Outcome CopyHeader(int from, int to) {
  std::vector<char> header(HeaderBytes);
  const ssize_t got = pread(from, header.data(), header.size(), 0);
  if (got != static_cast<ssize_t>(header.size())) {
    return SystemFailure(got < 0 ? errno : EIO, "read the header of a disk");
  }
  const ssize_t put = pwrite(to, header.data(), header.size(), 0);
  if (put != got) return SystemFailure(put < 0 ? errno : ENOSPC, "write the header of a disk");
  return Ok();
}

}  // namespace

Result<Volume> FormatVolume(int file, std::uint64_t payload_bytes, const Secret& passphrase) {
  // Takes the header's blocks first, so that a full disk is told from a broken library.
  if (fallocate(file, 0, 0, static_cast<off_t>(HeaderBytes)) != 0 ||
      ftruncate(file, static_cast<off_t>(HeaderBytes + payload_bytes)) != 0) {
    return SystemFailure(errno, "size a disk's file");
  }
  std::string key(VolumeKeyBytes, '\0');
  if (RAND_priv_bytes(reinterpret_cast<unsigned char*>(key.data()), VolumeKeyBytes) != 1) {
    return Failure(FailureCode::System, "OpenSSL has no random bytes");
  }
  Volume volume{file, Secret(key), 0};
  WipeText(key);

  const auto failed = [](int error, const char* step) {
    return SystemFailure(-error, fmt::format("{} an encrypted disk by libcryptsetup", step));
  };
  crypt_device* raw = nullptr;
  // The library waits for the disk after each part of a header, a dozen times in all; nothing of
  // this file outlives its sandbox, so that the header is made in memory and copied.
  const OwnedFd header(memfd_create("curfew-luks", MFD_CLOEXEC));
  if (!header.is_open() ||
      ftruncate(header.get(), static_cast<off_t>(HeaderBytes + payload_bytes)) != 0) {
    return SystemFailure(errno, "make a file in memory");
  }
  int error = crypt_init(&raw, fmt::format("/proc/self/fd/{}", header.get()).c_str());
  if (error != 0) return failed(error, "open");
  const Device device(raw);
  crypt_set_log_callback(device.get(), Silent, nullptr);
  crypt_pbkdf_type stretch{};
  stretch.type = CRYPT_KDF_PBKDF2;
  stretch.hash = "sha256";
  stretch.iterations = StretchIterations;
  stretch.flags = CRYPT_PBKDF_NO_BENCHMARK;
  error = crypt_set_pbkdf_type(device.get(), &stretch);
  if (error != 0) return failed(error, "configure");
  crypt_params_luks1 parameters{};
  parameters.hash = "sha256";
  error = crypt_format(device.get(), CRYPT_LUKS1, "aes", "xts-plain64", nullptr,
                       volume.volume_key.Reveal().data(), VolumeKeyBytes, &parameters);
  if (error < 0) return failed(error, "format");
  error = crypt_keyslot_add_by_volume_key(device.get(), 0, volume.volume_key.Reveal().data(),
                                          VolumeKeyBytes, passphrase.Reveal().data(),
                                          passphrase.Reveal().size());
  if (error < 0) return failed(error, "add the key of");
  volume.payload_start = crypt_get_data_offset(device.get()) * SectorBytes;
  if (volume.payload_start != HeaderBytes) {
    return Failure(FailureCode::System, "libcryptsetup put the payload in an unexpected place");
  }
  CURFEW_TRY_VOID(CopyHeader(header.get(), file));
  return volume;
}

Outcome FillVolume(const Volume& volume, int plain) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  if (!cipher ||
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_xts(), nullptr,
                         reinterpret_cast<const unsigned char*>(volume.volume_key.Reveal().data()),
                         nullptr) != 1) {
    return Failure(FailureCode::System, "OpenSSL has no AES-256-XTS");
  }
  std::vector<std::uint8_t> clear(128 * 1024);
  std::vector<std::uint8_t> sealed(clear.size());
  off_t at = 0;
  for (;;) {
    at = lseek(plain, at, SEEK_DATA);
    if (at < 0 && errno == ENXIO) return Ok();
    const off_t end = lseek(plain, at, SEEK_HOLE);
    if (at < 0 || end < 0) return SystemFailure(errno, "find the data of a new file system");
    at -= at % static_cast<off_t>(SectorBytes);
    while (at < end) {
      const std::size_t wanted =
          std::min<std::size_t>(clear.size(), static_cast<std::size_t>(end - at));
      const ssize_t got = pread(plain, clear.data(), wanted, at);
      if (got <= 0 || static_cast<std::uint64_t>(got) % SectorBytes != 0) {
        return SystemFailure(got < 0 ? errno : EIO, "read a new file system");
      }
      const auto bytes = static_cast<std::size_t>(got);
      CURFEW_TRY_VOID(EncryptSectors(cipher.get(), static_cast<std::uint64_t>(at) / SectorBytes,
                                     clear.data(), sealed.data(), bytes));
      const ssize_t put =
          pwrite(volume.file, sealed.data(), bytes, static_cast<off_t>(volume.payload_start) + at);
      if (put != got) return SystemFailure(put < 0 ? errno : ENOSPC, "write an encrypted disk");
      at += got;
    }
  }
}

}  // namespace curfew::disk
