#include "runtime/keeper/resolver_place.h"

#include "compiler/base/text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace curfew::keeper {
namespace {

// The address, and what stands behind it.
std::optional<std::pair<std::string_view, std::string_view>> Split(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    return std::pair(text.substr(1, end - 1), text.substr(end + 1));
  }
  // More than one colon is an IPv6 address alone.
  const std::size_t colon = text.find(':');
  const bool has_port = colon != std::string_view::npos && colon == text.rfind(':');
  if (!has_port) return std::pair(text, std::string_view());
  return std::pair(text.substr(0, colon), text.substr(colon));
}

std::optional<std::uint16_t> PortOf(std::string_view rest) {
  if (!rest.starts_with(':')) return std::nullopt;
  rest.remove_prefix(1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (error != std::errc() || end != rest.data() + rest.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

Result<ResolverPlace> ParseResolver(std::string_view text) {
  const Failure wrong(
      FailureCode::Usage,
      fmt::format("{} is no resolver; one is an address, with :PORT behind it where that is not "
                  "53, as in 192.0.2.53:5353 or [2001:db8::53]:5353",
                  Printable(text, 80)));
  const auto parts = Split(text);
  if (!parts) return wrong;
  const values::Parsed<values::Address> address = values::ParseAddress(parts->first);
  if (!address) return wrong;
  ResolverPlace place{.address = *address};
  if (parts->second.empty()) return place;
  const std::optional<std::uint16_t> port = PortOf(parts->second);
  if (!port) return wrong;
  place.port = *port;
  return place;
}

}  // namespace curfew::keeper
