#include "compiler/check/public_suffix.h"

#include <catch2/catch.hpp>

namespace curfew::check {
namespace {

TEST_CASE("a wildcard left of a public suffix covers names of anybody") {
  const psl_ctx_st* list = BuiltinSuffixes();
  REQUIRE(list != nullptr);
  for (const char* name : {"example", "uk", "co.uk", "xn--p1ai", "blogspot.com", "s3.amazonaws.com",
                           // `*.ck` and `*.kawasaki.jp` of the list
                           "ck", "any.ck", "kawasaki.jp", "any.kawasaki.jp"}) {
    CAPTURE(name);
    CHECK(CoversRegistry(*list, name));
  }
  for (const char* name : {"acme.example", "acme.co.uk", "acme.blogspot.com", "amazonaws.com",
                           // `!www.ck` and `!city.kawasaki.jp`
                           "www.ck", "city.kawasaki.jp", "acme.any.ck"}) {
    CAPTURE(name);
    CHECK_FALSE(CoversRegistry(*list, name));
  }
}

TEST_CASE("without a list every wildcard is refused, for what this host lacks") {
  model::PolicyModel model;
  diagnostics::Sink sink;
  const Names names;
  Context context{model, sink, names};
  const values::HostPattern host{values::HostReach::OneLabel, "acme.example"};
  CHECK_FALSE(IsWildcardTooBroad(context, host, {}));
  CHECK(sink.diagnostics().empty());
  CHECK(IsWildcardTooBroad(context, host, {}, nullptr));
  REQUIRE(sink.diagnostics().size() == 1);
  CHECK(sink.diagnostics()[0].code == diag::NoSuffixList.code);
  CHECK(sink.diagnostics()[0].message.find("libpsl5") != std::string::npos);
}

TEST_CASE("the list has a version, which is part of every digest") {
  CHECK(SuffixListVersion().size() == 40);
}

}  // namespace
}  // namespace curfew::check
