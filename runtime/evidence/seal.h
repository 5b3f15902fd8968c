// The last act of a sandbox: its receipt is bound to its chain, the host's chain notes the head,
// and the signed receipt is on the disk.
#pragma once

#include "runtime/evidence/chain.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/files.h"
#include "runtime/host/state_directory.h"

namespace curfew::evidence {

// Fills record_count and record_head of `receipt` and writes it. No record may follow. Repeating it
// after a failure, or after a crash between its steps, is right.
Outcome SealReceipt(host::Files& files, const host::StateDirectory& state, const SigningKey& key,
                    ChainWriter& chain, Receipt& receipt);

}  // namespace curfew::evidence
