#include "runtime/store/lifecycle_state.h"

#include "compiler/base/check.h"

namespace curfew::store {

std::string_view NameOf(SandboxState state) {
  switch (state) {
    case SandboxState::Requested:
      return "requested";
    case SandboxState::Admitted:
      return "admitted";
    case SandboxState::Creating:
      return "creating";
    case SandboxState::Running:
      return "running";
    case SandboxState::Frozen:
      return "frozen";
    case SandboxState::Closing:
      return "closing";
    case SandboxState::Closed:
      return "closed";
    case SandboxState::Quarantined:
      return "quarantined";
  }
  CURFEW_UNREACHABLE("the switch names every state");
}

std::optional<SandboxState> ParseSandboxState(std::string_view name) {
  for (const SandboxState state : SandboxStates) {
    if (NameOf(state) == name) return state;
  }
  return std::nullopt;
}

bool MayGo(SandboxState from, SandboxState to) {
  using enum SandboxState;
  switch (from) {
    case Requested:
      return to == Admitted || to == Closing || to == Closed;
    case Admitted:
      return to == Creating || to == Closing;
    case Creating:
      return to == Running || to == Closing;
    case Running:
      return to == Frozen || to == Closing;
    case Frozen:
      return to == Running || to == Closing;
    case Closing:
      return to == Closing || to == Closed || to == Quarantined;
    case Closed:
      return false;
    case Quarantined:
      return to == Closing;
  }
  CURFEW_UNREACHABLE("the switch names every state");
}

bool IsOpen(SandboxState state) {
  return state != SandboxState::Closed && state != SandboxState::Quarantined;
}

}  // namespace curfew::store
