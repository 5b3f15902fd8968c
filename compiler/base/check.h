// CURFEW_CHECK: our own bug, found. Prints the place and the reason and aborts. Never used on
// input.
#pragma once

#include <string_view>

namespace curfew {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view reason);

}  // namespace curfew

#define CURFEW_CHECK(condition, reason)                                \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::curfew::CheckFailed(__FILE__, __LINE__, #condition, (reason)); \
  } while (false)

#define CURFEW_UNREACHABLE(reason) \
  ::curfew::CheckFailed(__FILE__, __LINE__, "unreachable", (reason))
