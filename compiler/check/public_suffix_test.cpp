#include "compiler/check/public_suffix.h"

#include <catch2/catch.hpp>

namespace curfew::check {
namespace {

TEST_CASE("a wildcard left of a public suffix covers names of anybody") {
  for (const char* name : {"example", "uk", "co.uk", "xn--p1ai", "blogspot.com", "s3.amazonaws.com",
                           // `*.ck` and `*.kawasaki.jp` of the list
                           "ck", "any.ck", "kawasaki.jp", "any.kawasaki.jp"}) {
    CAPTURE(name);
    CHECK(CoversRegistry(name));
  }
  for (const char* name : {"acme.example", "acme.co.uk", "acme.blogspot.com", "amazonaws.com",
                           // `!www.ck` and `!city.kawasaki.jp`
                           "www.ck", "city.kawasaki.jp", "acme.any.ck"}) {
    CAPTURE(name);
    CHECK_FALSE(CoversRegistry(name));
  }
}

TEST_CASE("without a list every wildcard covers names of anybody") {
  CHECK(CoversRegistry(nullptr, "acme.example"));
  CHECK(SuffixListVersion().size() == 40);
}

}  // namespace
}  // namespace curfew::check
