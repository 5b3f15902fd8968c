// The states of a sandbox and the only ways between them.
#pragma once

#include <optional>
#include <string_view>

namespace curfew::store {

enum class SandboxState {
  Requested,
  Admitted,
  Creating,
  Running,
  Frozen,
  Closing,
  Closed,       // a tombstone: final, and its id is never used again
  Quarantined,  // something of it could not be verified as gone
};

inline constexpr SandboxState SandboxStates[] = {
    SandboxState::Requested, SandboxState::Admitted,   SandboxState::Creating,
    SandboxState::Running,   SandboxState::Frozen,     SandboxState::Closing,
    SandboxState::Closed,    SandboxState::Quarantined};

std::string_view NameOf(SandboxState state);
std::optional<SandboxState> ParseSandboxState(std::string_view name);

// requested ► admitted ► creating ► running ⇄ frozen; each of them ► closing ► closed |
// quarantined; quarantined ► closing, to look again. Requested may be closed at once (a denial).
// Closing ► closing is the one step that stays: a second closer takes over from one that died.
bool MayGo(SandboxState from, SandboxState to);

// Neither closed nor quarantined: somebody is still responsible for its end.
bool IsOpen(SandboxState state);

}  // namespace curfew::store
