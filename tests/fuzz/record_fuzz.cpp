// Bytes that claim to be records of decisions: each is refused, or read in its one form, which is
// never more than the bytes say.
#include "compiler/base/check.h"
#include "compiler/record/record_format.h"
#include "compiler/record/record_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <climits>

namespace {

using namespace curfew;

// Bytes of text that the record's request has; reading them all is what a sanitizer sees.
std::size_t TextBytes(const record::Record& record) {
  std::size_t bytes = 0;
  const auto add = [&](const module::Value& value) {
    const std::string_view text = value.text();
    bytes += text.size();
    CURFEW_CHECK(std::accumulate(text.begin(), text.end(), 0L) != LONG_MAX, "texts can be read");
  };
  for (schema::Slot slot = 0; slot < limits::AttributesPerActionMax; ++slot) {
    const module::Value& value = record.request.value(slot);
    if (module::Facts::Test(record.said.texts, slot)) add(value);
    if (!module::Facts::Test(record.said.text_lists, slot)) continue;
    std::ranges::for_each(value.elements(), add);
  }
  return bytes;
}

void Read(ByteView bytes) {
  record::RecordReader reader;
  while (!bytes.empty()) {
    const std::size_t before = bytes.size();
    const auto record = reader.Read(bytes);
    if (!record) return;
    CURFEW_CHECK(bytes.size() < before, "a record is taken off");
    CURFEW_CHECK(TextBytes(*record) <= before - bytes.size(), "and says no more than it has");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Read({data, size});
  // And once more with the length that it has, since few mutations leave that right.
  Bytes sized(data, data + size / 8 * 8);
  if (sized.size() < sizeof(record::format::Header)) return 0;
  const auto bytes = static_cast<std::uint32_t>(sized.size());
  std::memcpy(sized.data(), &bytes, sizeof bytes);
  Read(sized);
  return 0;
}
