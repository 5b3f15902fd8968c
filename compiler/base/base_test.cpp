#include "compiler/base/crypto.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"

#include <cerrno>

#include <catch2/catch.hpp>

namespace curfew {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) return Failure(FailureCode::Malformed, "odd");
  return n / 2;
}
Result<int> Quarter(int n) {
  CURFEW_TRY(const int half, Half(n));
  return Half(half);
}

TEST_CASE("a failure travels to the caller with its code") {
  CHECK(Quarter(8).value() == 2);
  REQUIRE_FALSE(Quarter(6));
  CHECK(Quarter(6).error().code == FailureCode::Malformed);
  CHECK(Quarter(6).error().In("quarter of 6").message == "quarter of 6: odd");
}

TEST_CASE("errno decides the code of a system failure") {
  CHECK(SystemFailure(ENOSPC, "write x").code == FailureCode::OutOfSpace);
  CHECK(SystemFailure(ENOENT, "open x").message == "open x: No such file or directory");
}

TEST_CASE("UTF-8 is strict") {
  CHECK(DecodeUtf8("é")->value == 0xE9);
  CHECK_FALSE(DecodeUtf8("\xC0\xAF"));          // overlong
  CHECK_FALSE(DecodeUtf8("\xED\xA0\x80"));      // surrogate
  CHECK_FALSE(DecodeUtf8("\xF4\x90\x80\x80"));  // past U+10FFFF
  CHECK_FALSE(DecodeUtf8("\xE2\x82"));          // cut
}

TEST_CASE("base64 takes only the canonical spelling") {
  CHECK(Base64(AsBytes("any")) == "YW55");
  CHECK(Base64(AsBytes("an")) == "YW4=");
  CHECK(AsText(*FromBase64("YQ==")) == "a");
  CHECK_FALSE(FromBase64("YQ"));
  CHECK_FALSE(FromBase64("YR=="));  // unused bits set
  CHECK_FALSE(FromBase64("Y==="));
  CHECK_FALSE(FromBase64("YQ==\n"));
  CHECK(AsText(*FromBase64Url("YQ")) == "a");
}

TEST_CASE("SHA-256 agrees with FIPS 180-4's example") {
  CHECK(ToString(Sha256(AsBytes("abc"))) ==
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK_FALSE(
      ParseDigest("sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
}

TEST_CASE("printable text never carries a control character") {
  CHECK(Printable("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u{202e}");
}

TEST_CASE("edit distance counts a swap as one") {
  CHECK(Counted(1, "process", "processes") == "1 process");
  CHECK(Counted(0, "process", "processes") == "0 processes");
  CHECK(Counted(2, "byte") == "2 bytes");
  CHECK(EditDistance("persist", "presist", 3) == 1);
  CHECK(EditDistance("ttl", "idle", 2) == 3);
}

}  // namespace
}  // namespace curfew
