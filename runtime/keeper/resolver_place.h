// Where a resolver is asked: ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT, the brackets for IPv6 as in a
// URL. Without a port it is 53.
#pragma once

#include "compiler/base/result.h"
#include "compiler/values/address.h"

#include <cstdint>
#include <string_view>

namespace curfew::keeper {

struct ResolverPlace {
  values::Address address;
  std::uint16_t port = 53;
};
// Usage, with an example.
Result<ResolverPlace> ParseResolver(std::string_view text);

}  // namespace curfew::keeper
