// One incarnation has one valid receipt. Where its books are taken up again after a receipt was
// written (it was in quarantine, and now nothing is left), the records go on with a `reopened`
// record that names that receipt, it is kept as evidence, and the next one says that it supersedes
// it. A verifier follows the same way back.
#pragma once

#include "runtime/evidence/chain.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/files.h"
#include "runtime/host/state_directory.h"

#include <optional>
#include <string>

namespace curfew::evidence {

// The receipt that stands in a sandbox's folder.
struct StandingReceipt {
  std::string envelope;
  Digest digest;  // of the envelope
  Receipt receipt;
};
// Nothing if there is none. Tampered when what is there is not this incarnation's, signed by this
// key: then nobody writes over it.
Result<std::optional<StandingReceipt>> FindStandingReceipt(host::Files& files,
                                                           const host::StateDirectory& state,
                                                           const SigningKey& key,
                                                           const Incarnation& sandbox);

// What a `reopened` record says: who goes on why, and which receipt covers what was before it. No
// receipt where nobody had come to write one.
struct Reopening {
  struct Covered {
    Digest receipt;
    std::uint64_t records = 0;
  };
  std::string why;
  std::optional<Covered> covered;
};
Json ReopenedFacts(const Reopening& reopening);
Result<Reopening> ReadReopening(const Record& record);

// Copies the standing receipt to where it stays, durably; then its place may be taken.
Outcome KeepSuperseded(host::Files& files, const host::StateDirectory& state,
                       const StandingReceipt& standing);

}  // namespace curfew::evidence
