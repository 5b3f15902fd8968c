// The receipt of a sandbox: what ran, what it may have left, and that it is gone. Plain data, its
// strict JSON form (an in-toto Statement), and its signed form (a DSSE envelope).
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/incarnation.h"
#include "compiler/base/result.h"
#include "runtime/evidence/flows.h"
#include "runtime/evidence/residue_report.h"
#include "runtime/evidence/signing_key.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace curfew::evidence {

enum class Isolation { Kvm, Emulated, None };  // None: no machine was ever started
std::string_view NameOf(Isolation isolation);

struct CommandResult {
  std::vector<std::string> argv;
  std::optional<bool> allowed;     // none: it could not even be judged
  bool started = false;            // inside
  std::string reason;              // the rule and its message, or why it did not run or end
  std::optional<int> exit_status;  // none: not run, or ended by a signal
  std::optional<int> signal;
  bool timed_out = false;
};

struct EndedProcess {
  std::int64_t pid = 0;  // inside the sandbox
  std::vector<std::string> argv;
  std::string how;  // "exited", "terminated", "killed", "with the machine"
};

struct ResourceOutcome {
  std::string resource_class;  // "machine", "cgroup", "disk", "key", "token", …
  std::string identity;
  Fate fate = Fate::Unknown;
  std::string detail;  // for kept: owner, reason, expiry; for unknown: why
};

struct ExportedFile {
  std::string name;
  std::uint64_t bytes = 0;
  Digest digest;
};

// Another policy set in force, while the sandbox ran.
struct PolicyChange {
  std::int64_t at_ms = 0;
  std::string digest;
  std::uint64_t generation = 0;
};
inline constexpr std::size_t PolicyChangesMax = 256;

struct DecisionCount {
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
};

inline constexpr std::int64_t OverrunMaxMs = 10'000;

// All times are wall, in milliseconds.
struct Receipt {
  Incarnation sandbox;
  std::string task_id;
  std::string owner;
  std::string creator;
  std::string sandbox_class;
  std::string policy_digest;
  std::uint64_t policy_generation = 0;  // both as it began
  std::vector<PolicyChange> reloads;    // at most PolicyChangesMax, the first
  std::uint64_t reloads_omitted = 0;
  std::string image_digest;
  Isolation isolation = Isolation::None;

  std::int64_t requested_ms = 0;
  std::optional<std::int64_t> ready_ms;
  std::optional<std::int64_t> deadline_ms;
  std::int64_t grace_ms = 0;  // after the deadline
  std::int64_t closing_ms = 0;
  // When the last of what it held was seen to be gone. By a sweep that may be long after it was.
  std::optional<std::int64_t> ended_ms;
  std::int64_t closed_ms = 0;
  std::string close_reason;
  std::string
      keeper_note;  // empty, or what is known of a keeper that died before its work was done

  DecisionCount decisions;
  std::vector<CommandResult> commands;
  std::uint64_t commands_omitted = 0;  // by Abridge
  std::vector<EndedProcess> processes;
  std::uint64_t processes_omitted = 0;
  std::vector<ResourceOutcome> resources;
  std::vector<ExportedFile> exports;
  FlowSummary flows;
  ResidueReport residue;

  // The receipt of this incarnation that this one takes the place of: the hash of its bytes.
  std::optional<Digest> supersedes;
  std::uint64_t record_count = 0;
  Digest record_head;

  // By how much the end was seen after deadline and grace; nothing where either is missing.
  [[nodiscard]] std::optional<std::int64_t> overrun_ms() const;
  // It was not shown to have ended in time: an end itself may take OverrunMaxMs.
  [[nodiscard]] bool is_late() const;
  // Clean only if the search was clean and no resource's fate is unknown.
  [[nodiscard]] Cleanness verdict() const;
};

// What a task can make long (arguments past 4 KiB, thousands of processes) is cut, and cut shorter
// until the receipt fits: nothing that a guest does can keep its receipt from being written.
void Abridge(Receipt& receipt);

// The statement, in canonical JSON. Malformed if the receipt holds what cannot be written.
Result<std::string> EncodeStatement(const Receipt& receipt);
// Strict: an unknown, missing or mistyped field, another type or version, or subjects that do not
// belong to the predicate: Malformed.
Result<Receipt> DecodeStatement(std::string_view statement);

// What a DSSE signature covers.
Bytes PreAuthentication(std::string_view payload_type, std::string_view payload);
// The envelope's bytes, ending in a newline.
std::string SealEnvelope(std::string_view statement, const SigningKey& key);
// The statement in an envelope, once its one signature by exactly this key has been checked.
// Tampered with the reason.
Result<std::string> OpenEnvelope(std::string_view envelope, const Ed25519PublicKey& key);

// A short table for a person (receipt_table.cpp). Nothing that a task controls can move the cursor
// or forge a line.
std::string RenderReceipt(const Receipt& receipt);

}  // namespace curfew::evidence
