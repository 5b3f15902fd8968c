// What the verbs share: this host's state, opened, and swept of what dead keepers left.
#pragma once

#include "runtime/client/verbs.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/state_directory.h"
#include "runtime/lifecycle/sweep.h"
#include "runtime/store/store.h"

#include <memory>
#include <string>

namespace curfew::client {

class Station {
 public:
  // PermissionDenied says that root is needed.
  static Result<std::unique_ptr<Station>> Open(const Means& means, const std::string& state_root);

  // Finishes what dead keepers began, and tells the console what it did and could not do.
  Result<lifecycle::SweepReport> Sweep(Console& console, bool quarantined_too);

  [[nodiscard]] const host::StateDirectory& state() const { return state_; }
  [[nodiscard]] store::Store& store() { return *store_; }

 private:
  Station(const Means& means, host::StateDirectory state)
      : means_(means), state_(std::move(state)) {}

  const Means& means_;
  host::StateDirectory state_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<evidence::SigningKey> key_;
};

inline constexpr std::string_view StateHelp =
    "the state directory of this host's sandboxes (default /var/lib/curfew)";

}  // namespace curfew::client
