// Host names and the patterns that meet them. A name is compared as canonical text only: this file
// says what canonical is. Addresses in any spelling are not names: see address.h.
//
//   host    := label ("." label)*          at most 253 bytes, lower-case
//   label   := 1 to 63 of a-z 0-9 - _
//   pattern := host | "*." host | "**." host
//
// `*.` stands for exactly one label, `**.` for one or more; the bare domain is not covered.
#pragma once

#include "compiler/values/value_error.h"

#include <string>
#include <string_view>

namespace curfew::values {

// From the wire or from policy text: ASCII upper case is folded and one trailing dot removed.
// Anything else that is not a host is refused, an address in any spelling (`2130706433`, `0x7f.1`)
// among it.
Parsed<std::string> ParseHost(std::string_view text);

enum class HostReach : std::uint8_t { Exact, OneLabel, AnyDepth };

struct HostPattern {
  HostReach reach = HostReach::Exact;
  std::string name;  // canonical, without the wildcard
  friend auto operator<=>(const HostPattern&, const HostPattern&) = default;
};

// How much a pattern covers is not judged here: a deny may say `**.com`.
Parsed<HostPattern> ParseHostPattern(std::string_view text);
std::string ToString(const HostPattern& pattern);

// `name` is that of a HostPattern, `host` is canonical.
bool MatchesHost(HostReach reach, std::string_view name, std::string_view host);
// Whether some host meets both.
bool Meet(const HostPattern& a, const HostPattern& b);
// Whether every host that meets `inner` meets `outer`.
bool Covers(const HostPattern& outer, const HostPattern& inner);

}  // namespace curfew::values
