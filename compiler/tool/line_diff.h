// A unified diff of two texts by lines.
#pragma once

#include <string>
#include <string_view>

namespace curfew::tool {

// With three lines around each change, headed by `name`; empty where the texts are equal. Where the
// texts have too little in common to be worth a search, the whole middle is one change.
std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace curfew::tool
