#include "compiler/base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace curfew {

void CheckFailed(const char* file, int line, const char* condition, std::string_view reason) {
  static_cast<void>(std::fprintf(stderr,
                                 "curfew: internal error at %s:%d: %s does not hold: %.*s\n", file,
                                 line, condition, static_cast<int>(reason.size()), reason.data()));
  std::abort();
}

Reaction ReactionTo(FailureCode code) {
  switch (code) {
#define CURFEW_FAILURE(name, reaction, exit) \
  case FailureCode::name:                    \
    return Reaction::reaction;
#include "compiler/base/failure.def"
#undef CURFEW_FAILURE
  }
  CURFEW_UNREACHABLE("the switch names every code");
}

std::string_view NameOf(FailureCode code) {
  switch (code) {
#define CURFEW_FAILURE(name, reaction, exit) \
  case FailureCode::name:                    \
    return #name;
#include "compiler/base/failure.def"
#undef CURFEW_FAILURE
  }
  CURFEW_UNREACHABLE("the switch names every code");
}

int ExitStatusOf(FailureCode code) {
  switch (code) {
#define CURFEW_FAILURE(name, reaction, exit) \
  case FailureCode::name:                    \
    return exit;
#include "compiler/base/failure.def"
#undef CURFEW_FAILURE
  }
  CURFEW_UNREACHABLE("the switch names every code");
}

Failure Failure::In(std::string_view context) const {
  return {code, fmt::format("{}: {}", context, message)};
}

Failure SystemFailure(int error, std::string_view what) {
  FailureCode code = FailureCode::System;
  switch (error) {
    case ENOENT:
    case ESRCH:
    case ENXIO:
      code = FailureCode::NotFound;
      break;
    case EEXIST:
      code = FailureCode::AlreadyExists;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      code = FailureCode::PermissionDenied;
      break;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EFBIG:
      code = FailureCode::OutOfSpace;
      break;
    case EAGAIN:
    case EBUSY:
    case ETXTBSY:
      code = FailureCode::Busy;
      break;
    case ETIMEDOUT:
      code = FailureCode::TimedOut;
      break;
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
    case ENOTCONN:
      code = FailureCode::PeerGone;
      break;
    case EINTR:
      code = FailureCode::Interrupted;
      break;
    case ENOSYS:
    case EOPNOTSUPP:
      code = FailureCode::Unsupported;
      break;
    default:
      break;
  }
  char text[256];
  // The GNU form returns the string, which may or may not be `text`.
  return {code, fmt::format("{}: {}", what, strerror_r(error, text, sizeof text))};
}

}  // namespace curfew
