// What stands in a sandbox's records, typed: each kind of fact once, written by the keeper or a
// sweep and read back to make the receipt. The receipt is made of the records and of nothing else,
// so the two cannot disagree, and whoever closes the books needs no memory of what happened.
#pragma once

#include "compiler/base/crypto.h"
#include "runtime/evidence/chain.h"
#include "runtime/evidence/receipt.h"
#include "runtime/execute/executor.h"
#include "runtime/gate/permit.h"
#include "runtime/store/store.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lifecycle {

using evidence::Json;

// Record kind `decision`: the answer, and the facts as they were judged (null where none were).
Json Decided(const gate::Answer& answer, Json request);

// Record kind `step`.
// Also what the store's journal keeps as a step's resource.
Json ResourcesJson(const std::vector<execute::Resource>& resources);
Result<std::vector<execute::Resource>> ParseResources(std::string_view text);
Json StepDone(std::string_view step, const std::vector<execute::Resource>& resources);
Json StepUndone(std::string_view step, const std::vector<execute::Ended>& ended);
// Record kind `step`: the machine answers; it is isolated so.
Json StepReady(evidence::Isolation isolation);

// Record kind `command`. An allowed command has two: started, ended.
Json CommandStarted(std::uint64_t number, const std::vector<std::string>& argv,
                    std::string_view program);
Json CommandEnded(std::uint64_t number, const evidence::CommandResult& result);

Json ProcessEnded(const evidence::EndedProcess& process);
Json Exported(const evidence::ExportedFile& file);
// Record kind `reload`, before it takes effect.
Json Reloaded(std::string_view old_digest, std::string_view new_digest, std::uint64_t generation);
Json Closing(std::string_view reason);
Json Residue(const evidence::ResidueReport& report);

// The receipt that these records and this row of the catalogue make. `closed_ms` is now.
// Malformed when a record is not as this file writes it.
Result<evidence::Receipt> ReceiptOf(const std::vector<evidence::Record>& records,
                                    const store::Sandbox& sandbox,
                                    const evidence::ResidueReport& residue, std::string keeper_note,
                                    std::int64_t closed_ms);

}  // namespace curfew::lifecycle
