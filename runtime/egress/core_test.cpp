#include "runtime/egress/core.h"

#include <catch2/catch.hpp>

namespace curfew::egress {
namespace {

TEST_CASE("a request counts for as long as its window, and a sixtieth of it more at most") {
  RequestWindow window(60'000);
  CHECK(window.Count(0) == 0);
  window.Add(0);
  window.Add(30'000);
  CHECK(window.Count(59'999) == 2);
  CHECK(window.Count(62'002) == 1);
  CHECK(window.Count(92'003) == 0);
}

TEST_CASE("another window forgets nothing that still counts") {
  RequestWindow window(60'000);
  window.Add(0);
  window.Add(50'000);
  window.CountOver(60'000, 50'000);
  CHECK(window.Count(62'002) == 1);
  window.CountOver(3'600'000, 62'002);
  CHECK(window.Count(62'002) == 1);
  // As if it were of the moment of the change.
  CHECK(window.Count(3'600'000) == 1);
  CHECK(window.Count(62'002 + 3'600'000 + 2 * 60'001) == 0);
  window.Add(8'000'000);
  window.CountOver(1'000, 8'000'000);
  CHECK(window.Count(8'000'000) == 1);
  CHECK(window.Count(8'001'040) == 0);
}

}  // namespace
}  // namespace curfew::egress
