// Bytes that claim to be a bundle: refused, or read in their one form. The input is taken as it is,
// and once more as a payload under a digest of its own, since no mutation finds a digest.
#include "compiler/base/check.h"
#include "compiler/module/bundle.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace curfew;
  static_cast<void>(module::ReadBundle({data, size}, {}));

  Bytes sealed = module::WriteBundle({});
  sealed.resize(160);
  sealed.insert(sealed.end(), data, data + size);
  const std::uint64_t bytes = size;
  std::memcpy(sealed.data() + 16, &bytes, sizeof bytes);
  const Digest digest = Sha256({data, size});
  std::memcpy(sealed.data() + 24, digest.bytes.data(), digest.bytes.size());
  const auto read = module::ReadBundle(sealed, {});
  if (read) {
    CURFEW_CHECK(module::WriteBundle(read->content) == sealed, "a bundle has one form");
  }
  return 0;
}
