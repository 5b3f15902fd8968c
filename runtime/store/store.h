// The host's memory in SQLite: the catalogue of sandboxes, the journal of steps, the tokens. It
// holds what a sweep needs to finish what a dead process began; it is not evidence
// (runtime/evidence).
//
// Every writing call is one short transaction of its own, which survives the death of the process
// but not that of the machine. Durably() makes several of them one transaction that survives both.
#pragma once

#include "compiler/base/incarnation.h"
#include "compiler/base/result.h"
#include "runtime/host/processes.h"
#include "runtime/store/lifecycle_state.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace curfew::store {

struct Sandbox {
  Incarnation incarnation;
  SandboxState state = SandboxState::Requested;
  std::string sandbox_class;
  std::string owner;
  std::string creator;
  std::string task_id;
  std::int64_t created_ms = 0;                   // wall
  std::optional<std::int64_t> deadline_ms;       // wall; absolute, may only come nearer
  std::optional<std::int64_t> deadline_boot_ms;  // the same, monotonic in the boot `boot_id`
  std::int64_t grace_ms = 0;                     // after the deadline; then it must be gone
  std::string boot_id;  // the boot in which it was created, and in which alone it can live
  std::optional<host::ProcessIdentity> keeper;
  std::optional<host::ProcessIdentity> machine;  // the VM's process
  std::optional<std::uint32_t> machine_uid;
  std::string policy_digest;
  std::uint64_t policy_generation = 0;
  std::string image_digest;
  std::string close_reason;               // empty while nothing ends it
  std::optional<int> exit_status;         // of the task
  std::optional<std::int64_t> closed_ms;  // wall
};

enum class StepPhase { Intent, Done, Undone };
std::string_view NameOf(StepPhase phase);

// One line of a sandbox's journal. A step is `step`th of its plan; its phases are separate lines.
struct JournalEntry {
  std::int64_t sequence = 0;  // given by the store, ascending over all sandboxes
  std::uint32_t step = 0;
  std::string kind;  // the kind of plan step
  StepPhase phase = StepPhase::Intent;
  std::string resource;    // JSON: the class and exact identity of what is acquired
  std::int64_t at_ms = 0;  // wall
};

struct Token {
  std::string jti;
  Incarnation sandbox;
  std::string audience;
  std::int64_t expires_ms = 0;  // wall
  std::optional<std::int64_t> revoked_ms;
};

struct Deadline {
  std::int64_t wall_ms = 0;
  std::int64_t boot_ms = 0;  // monotonic, in the boot `boot_id`
  std::int64_t grace_ms = 0;
  std::string boot_id;
};

class Store {
 public:
  // Opens or creates the file, in a directory that exists and is private. Malformed when it is not
  // a store of ours or is damaged, Unsupported when another version wrote it, PermissionDenied,
  // OutOfSpace, Busy when another process holds it longer than `busy_ms`.
  static Result<Store> Open(const std::string& path, int busy_ms = 10'000);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // All writes that `writes` makes through this store are one transaction, on the disk when this
  // returns; a failure undoes them all. Not nested.
  Outcome Durably(const std::function<Outcome()>& writes);
  // The same without waiting for the disk.
  Outcome Together(const std::function<Outcome()>& writes);

  // AlreadyExists when the id was ever used.
  Outcome Create(const Sandbox& sandbox);
  // NotFound; AlreadyExists if the id has another nonce than asked.
  Result<Sandbox> Find(const Incarnation& incarnation);
  Result<Sandbox> FindById(const std::string& id);
  // By creation, oldest first; only those that are open if `open_only`.
  Result<std::vector<Sandbox>> List(bool open_only);

  // Denied when MayGo says no (the message names both states).
  Outcome SetState(const Incarnation& incarnation, SandboxState to);
  // The class that create selected.
  Outcome SetClass(const Incarnation& incarnation, const std::string& sandbox_class);
  Outcome SetKeeper(const Incarnation& incarnation,
                    const std::optional<host::ProcessIdentity>& keeper);
  Outcome SetMachine(const Incarnation& incarnation,
                     const std::optional<host::ProcessIdentity>& machine,
                     std::optional<std::uint32_t> uid);
  // Denied when it would come later than the one that stands, or is of a boot in which the sandbox
  // cannot live: a monotonic time means nothing there.
  Outcome SetDeadline(const Incarnation& incarnation, const Deadline& deadline);
  // The first reason stays: what ended a sandbox first is why it ended.
  Outcome SetCloseReason(const Incarnation& incarnation, const std::string& reason);
  Outcome SetExitStatus(const Incarnation& incarnation, int status);
  // SetState(closed or quarantined) with its time.
  Outcome SetClosed(const Incarnation& incarnation, SandboxState to, std::int64_t at_ms);

  Outcome Record(const Incarnation& incarnation, const JournalEntry& entry);
  // In order.
  Result<std::vector<JournalEntry>> Journal(const Incarnation& incarnation);
  // The last line of each step that is not undone: what may still exist. In reverse order of steps,
  // as it is to be undone.
  Result<std::vector<JournalEntry>> OpenSteps(const Incarnation& incarnation);

  Outcome AddToken(const Token& token);
  // NotFound.
  Result<Token> FindToken(const std::string& jti);
  // How many were still unrevoked.
  Result<int> RevokeTokens(const Incarnation& incarnation, std::int64_t at_ms);
  // The ids of those that nobody revoked, whether they have expired or not.
  Result<std::vector<std::string>> UnrevokedTokens(const Incarnation& incarnation);

  // How many transactions of this object have waited for the disk.
  [[nodiscard]] std::uint64_t durable_writes() const;

 private:
  struct Connection;
  explicit Store(std::unique_ptr<Connection> connection);
  Outcome Write(const std::function<Outcome()>& writes, bool durable);
  // The one row that `incarnation` names is changed by `sql`, whose last parameter is its id.
  template <typename... Values>
  Outcome Update(const Incarnation& incarnation, const char* sql, const Values&... values);
  Result<std::vector<Sandbox>> Select(const std::string& condition, const std::string& parameter);
  std::unique_ptr<Connection> connection_;
};

}  // namespace curfew::store
