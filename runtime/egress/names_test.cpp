#include "runtime/egress/names.h"

#include <set>

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

values::Address Base() { return *values::ParseAddress("198.18.0.0"); }

TEST_CASE("a name has one address for good, and no other name ever has it") {
  Names names(Base());
  const auto first = names.AddressOf("a.example");
  CHECK(values::ToString(*first) == "198.18.0.0");
  CHECK(names.AddressOf("b.example") != first);
  CHECK(names.AddressOf("a.example") == first);
  CHECK(names.NameAt(*first) == "a.example");
}

TEST_CASE("an address of the gateway's own without a name has none; others are not its own") {
  Names names(Base());
  names.AddressOf("a.example");
  const auto free = *values::ParseAddress("198.18.0.1");
  CHECK(names.IsOwn(free));
  CHECK_FALSE(names.NameAt(free));
  for (const char* text : {"198.17.255.255", "198.19.0.0", "10.0.0.1", "2001:db8::1"}) {
    CHECK_FALSE(names.IsOwn(*values::ParseAddress(text)));
  }
}

TEST_CASE("65,536 names have addresses, and then no more do") {
  Names names(Base());
  std::set<values::Address> given;
  for (std::size_t n = 0; n < Names::Max; ++n) {
    given.insert(*names.AddressOf("n" + std::to_string(n) + ".example"));
  }
  CHECK(given.size() == Names::Max);
  CHECK(values::ToString(*given.rbegin()) == "198.18.255.255");
  CHECK_FALSE(names.AddressOf("one-more.example"));
  CHECK(names.AddressOf("n7.example"));
}

TEST_CASE("what was frozen comes back with the same addresses") {
  Names before(Base());
  before.AddressOf("a.example");
  before.AddressOf("b.example");
  Names after(Base(), before.All());
  CHECK(after.AddressOf("b.example") == before.AddressOf("b.example"));
  CHECK(after.AddressOf("c.example") == before.AddressOf("c.example"));
}

}  // namespace
}  // namespace curfew::egress
