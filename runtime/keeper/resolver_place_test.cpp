#include "runtime/keeper/resolver_place.h"

#include <string>

#include <catch2/catch.hpp>

namespace curfew::keeper {
namespace {

std::string Read(std::string_view text) {
  const Result<ResolverPlace> place = ParseResolver(text);
  if (!place) return "none";
  return values::ToString(place->address) + " " + std::to_string(place->port);
}

TEST_CASE("a resolver is an address, and a port where it is not 53") {
  CHECK(Read("192.0.2.53") == "192.0.2.53 53");
  CHECK(Read("192.0.2.53:5353") == "192.0.2.53 5353");
  CHECK(Read("2001:db8::53") == "2001:db8::53 53");
  CHECK(Read("[2001:db8::53]") == "2001:db8::53 53");
  CHECK(Read("[2001:db8::53]:5353") == "2001:db8::53 5353");
}

TEST_CASE("what could be read in another way is no resolver") {
  for (const char* text :
       {"", ":53", "192.0.2.53:", "192.0.2.53:0", "192.0.2.53:65536", "192.0.2.53:+53",
        "192.0.2.53:53 ", "192.0.2", "dns.example", "dns.example:53", "[2001:db8::53", "[]:53",
        "[2001:db8::53]53", "[2001:db8::53]:", "192.0.2.53:53:53", "[192.0.2.53", "127.1"}) {
    INFO(text);
    CHECK(Read(text) == "none");
  }
}

}  // namespace
}  // namespace curfew::keeper
