// Evidence from anybody: a chain, an envelope's statement, canonical JSON. What is taken is exactly
// what we would have written.
#include "compiler/base/check.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/format.h"
#include "runtime/evidence/receipt.h"

#include <cstddef>
#include <cstdint>

namespace {

using namespace curfew;
using namespace curfew::evidence;

void TakeChain(ByteView bytes) {
  const ChainScan scan = ScanChain(bytes, HeadsGenesis());
  Bytes again;
  Digest previous = HeadsGenesis();
  for (const Frame& frame : scan.frames) {
    const Result<Bytes> encoded = EncodeFrame(frame.sequence, previous, frame.body);
    CURFEW_CHECK(encoded.has_value(), "what was read can be written");
    again.insert(again.end(), encoded->begin(), encoded->end());
    previous = frame.hash;
  }
  CURFEW_CHECK(again.size() == scan.good_bytes, "the good part is all records");
  CURFEW_CHECK(std::equal(again.begin(), again.end(), bytes.begin()), "a record has one spelling");
  CURFEW_CHECK((scan.end == ChainScan::End::Whole) == (again.size() == bytes.size()),
               "a whole chain has no rest");
}

void TakeStatement(std::string_view text) {
  const Result<JsonValue> value = ParseCanonical(text);
  if (value) {
    CURFEW_CHECK(*Canonical(JsonOf(*value)) == text, "canonical JSON has one spelling");
  }
  const Result<Receipt> receipt = DecodeStatement(text);
  if (!receipt) return;
  CURFEW_CHECK(*EncodeStatement(*receipt) == text, "a receipt has one statement");
  for (const char c : RenderReceipt(*receipt)) {
    const auto byte = static_cast<unsigned char>(c);
    CURFEW_CHECK(c == '\n' || (byte >= 0x20 && byte != 0x7F), "a table cannot move the cursor");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes(data, size);
  TakeChain(bytes);
  // The seeds are files of text and end in a newline.
  const std::string_view text = AsText(bytes);
  TakeStatement(text.ends_with('\n') ? text.substr(0, text.size() - 1) : text);
  static_cast<void>(OpenEnvelope(AsText(bytes), Ed25519PublicKey{}));
  return 0;
}
