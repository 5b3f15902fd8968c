#include "compiler/module/bundle.h"

#include <catch2/catch.hpp>

namespace curfew::module {
namespace {

BundleContent Content() {
  BundleContent content;
  content.language = 1;
  content.compiler = "0.1.0";
  content.packages = {"acme.\"coding\""};
  content.policy = Sha256(AsBytes("policy"));
  content.module = {1, 2, 3, 4, 5};
  content.files = {{"b.curfew", "two\n"}, {"a.curfew", ""}, {"lists/ä.txt", "x"}};
  return content;
}

FailureCode CodeOf(const Bytes& bytes, std::span<const Ed25519PublicKey> trusted = {}) {
  const auto read = ReadBundle(bytes, trusted);
  REQUIRE(!read);
  return read.error().code;
}

void Reseal(Bytes& bytes) {
  const Digest digest = Sha256(ByteView(bytes).subspan(160));
  std::copy(digest.bytes.begin(), digest.bytes.end(), bytes.begin() + 24);
}

TEST_CASE("a bundle brings back what it was made of, whatever the order of its files") {
  const Bytes bytes = WriteBundle(Content());
  BundleContent other = Content();
  std::swap(other.files[0], other.files[2]);
  CHECK(WriteBundle(other) == bytes);
  REQUIRE(BeginsBundle(bytes));
  const auto read = ReadBundle(bytes, {});
  REQUIRE(read);
  CHECK(!read->signer);
  CHECK(read->content.language == 1);
  CHECK(read->content.compiler == "0.1.0");
  CHECK(read->content.packages == Content().packages);
  CHECK(read->content.policy == Content().policy);
  CHECK(read->content.module == Content().module);
  REQUIRE(read->content.files.size() == 3);
  CHECK(read->content.files[0].name == "a.curfew");
  CHECK(read->content.files[1].text == "two\n");
  CHECK(WriteBundle(read->content) == bytes);
}

TEST_CASE("a byte that was changed, added or lost is found before anything is read") {
  const Bytes bytes = WriteBundle(Content());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes changed = bytes;
    changed[i] ^= 0x41;
    INFO(i);
    CHECK(!ReadBundle(changed, {}));
    Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(!ReadBundle(cut, {}));
  }
  Bytes longer = bytes;
  longer.push_back(0);
  CHECK(!ReadBundle(longer, {}));
}

TEST_CASE("a payload under a digest of its own is read in its one form, or not at all") {
  const Bytes bytes = WriteBundle(Content());
  std::size_t read = 0;
  for (std::size_t i = 160; i < bytes.size(); ++i) {
    for (const std::uint8_t flip : std::initializer_list<std::uint8_t>{0x01, 0x20, 0x80}) {
      Bytes changed = bytes;
      changed[i] ^= flip;
      Reseal(changed);
      const auto again = ReadBundle(changed, {});
      if (!again) continue;
      // What the manifest says of itself may differ; what is read is then what is written.
      ++read;
      CHECK(WriteBundle(again->content) == changed);
    }
  }
  CHECK(read > 0);
}

TEST_CASE("who trusts a key takes nothing that it did not sign") {
  Ed25519PublicKey someone{};
  someone[0] = 7;
  const std::vector<Ed25519PublicKey> trusted = {someone};
  CHECK(CodeOf(WriteBundle(Content()), trusted) == FailureCode::Denied);
  const BundleSigner forger{.key = someone, .sign = [](ByteView) { return Ed25519Signature{}; }};
  CHECK(CodeOf(WriteBundle(Content(), forger), trusted) == FailureCode::Tampered);
  CHECK(CodeOf(WriteBundle(Content(), forger)) == FailureCode::Tampered);
  Bytes half_signed = WriteBundle(Content());
  half_signed[56] = 7;  // a key, and the word that it is not signed
  CHECK(CodeOf(half_signed) == FailureCode::Malformed);
}

}  // namespace
}  // namespace curfew::module
