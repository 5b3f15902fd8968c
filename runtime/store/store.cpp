#include "runtime/store/store.h"

#include "runtime/store/sqlite.h"

#include <map>

#include <fmt/format.h>

namespace curfew::store {

namespace {

constexpr std::int64_t ApplicationId = 0x43524657;  // "CRFW"
constexpr std::int64_t SchemaVersion = 2;

constexpr const char* Schema = R"(
  CREATE TABLE sandbox (
    id TEXT PRIMARY KEY, nonce TEXT NOT NULL, state TEXT NOT NULL, class TEXT NOT NULL,
    owner TEXT NOT NULL, creator TEXT NOT NULL, task TEXT NOT NULL, created_ms INTEGER NOT NULL,
    deadline_ms INTEGER, deadline_boot_ms INTEGER, grace_ms INTEGER NOT NULL,
    boot TEXT NOT NULL,
    keeper_pid INTEGER, keeper_start INTEGER,
    machine_pid INTEGER, machine_start INTEGER, machine_uid INTEGER,
    policy TEXT NOT NULL, generation INTEGER NOT NULL, image TEXT NOT NULL,
    close_reason TEXT NOT NULL, exit_status INTEGER, closed_ms INTEGER) STRICT;
  CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, sandbox TEXT NOT NULL REFERENCES sandbox(id),
    step INTEGER NOT NULL, kind TEXT NOT NULL, phase TEXT NOT NULL, resource TEXT NOT NULL,
    at_ms INTEGER NOT NULL) STRICT;
  CREATE INDEX journal_of_sandbox ON journal(sandbox, sequence);
  CREATE TABLE token (
    jti TEXT PRIMARY KEY, sandbox TEXT NOT NULL REFERENCES sandbox(id), audience TEXT NOT NULL,
    expires_ms INTEGER NOT NULL, revoked_ms INTEGER) STRICT;
  CREATE INDEX token_of_sandbox ON token(sandbox);
)";

constexpr const char* SandboxColumns =
    "id, nonce, state, class, owner, creator, task, created_ms, deadline_ms, deadline_boot_ms, "
    "boot, keeper_pid, keeper_start, machine_pid, machine_start, machine_uid, policy, generation, "
    "image, close_reason, exit_status, closed_ms, grace_ms";

using OptionalNumber = std::optional<std::int64_t>;

OptionalNumber PidOf(const std::optional<host::ProcessIdentity>& identity) {
  return identity ? OptionalNumber(identity->pid) : std::nullopt;
}
OptionalNumber StartOf(const std::optional<host::ProcessIdentity>& identity) {
  return identity ? OptionalNumber(static_cast<std::int64_t>(identity->start_ticks)) : std::nullopt;
}
std::optional<host::ProcessIdentity> IdentityFrom(OptionalNumber pid, OptionalNumber start) {
  if (!pid || !start) return std::nullopt;
  return host::ProcessIdentity{static_cast<pid_t>(*pid), static_cast<std::uint64_t>(*start)};
}

Failure Unreadable(const Database& database, const std::string& what) {
  return {FailureCode::Malformed, fmt::format("{} holds a {} that no Curfew of this version writes",
                                              Printable(database.path()), what)};
}

Result<Sandbox> SandboxOf(const Database& database, const Statement& row) {
  Sandbox sandbox;
  sandbox.incarnation = {row.Text(0), row.Text(1)};
  const std::optional<SandboxState> state = ParseSandboxState(row.Text(2));
  if (!state) return Unreadable(database, "state of a sandbox");
  sandbox.state = *state;
  sandbox.sandbox_class = row.Text(3);
  sandbox.owner = row.Text(4);
  sandbox.creator = row.Text(5);
  sandbox.task_id = row.Text(6);
  sandbox.created_ms = row.Integer(7);
  sandbox.deadline_ms = row.OptionalInteger(8);
  sandbox.deadline_boot_ms = row.OptionalInteger(9);
  sandbox.boot_id = row.Text(10);
  sandbox.keeper = IdentityFrom(row.OptionalInteger(11), row.OptionalInteger(12));
  sandbox.machine = IdentityFrom(row.OptionalInteger(13), row.OptionalInteger(14));
  if (const OptionalNumber uid = row.OptionalInteger(15)) {
    sandbox.machine_uid = static_cast<std::uint32_t>(*uid);
  }
  sandbox.policy_digest = row.Text(16);
  sandbox.policy_generation = static_cast<std::uint64_t>(row.Integer(17));
  sandbox.image_digest = row.Text(18);
  sandbox.close_reason = row.Text(19);
  if (const OptionalNumber status = row.OptionalInteger(20)) {
    sandbox.exit_status = static_cast<int>(*status);
  }
  sandbox.closed_ms = row.OptionalInteger(21);
  sandbox.grace_ms = row.Integer(22);
  return sandbox;
}

std::optional<StepPhase> ParseStepPhase(std::string_view name) {
  for (const StepPhase phase : {StepPhase::Intent, StepPhase::Done, StepPhase::Undone}) {
    if (NameOf(phase) == name) return phase;
  }
  return std::nullopt;
}

// Makes a new file ours, or makes sure that it is. Idempotent, for openers that race.
Outcome Initialise(Database& database) {
  CURFEW_TRY(const std::int64_t application, database.Number("PRAGMA application_id"));
  CURFEW_TRY(const std::int64_t version, database.Number("PRAGMA user_version"));
  if (application == ApplicationId && version == SchemaVersion) return Ok();
  if (application == ApplicationId && version != 0) {
    return Failure(
        FailureCode::Unsupported,
        fmt::format("{} was written by {} Curfew (schema {}, this one reads {}); "
                    "use that one, or another state directory",
                    Printable(database.path()), version > SchemaVersion ? "a newer" : "an older",
                    version, SchemaVersion));
  }
  CURFEW_TRY(const std::int64_t objects, database.Number("SELECT count(*) FROM sqlite_schema"));
  if (application != 0 || version != 0 || objects != 0) {
    return Failure(FailureCode::Malformed,
                   fmt::format("{} is a database of something else; use another state directory",
                               Printable(database.path())));
  }
  CURFEW_TRY_VOID(database.Execute(Schema));
  CURFEW_TRY_VOID(database.Execute(fmt::format("PRAGMA application_id={}", ApplicationId).c_str()));
  return database.Execute(fmt::format("PRAGMA user_version={}", SchemaVersion).c_str());
}

// In WAL a reader never waits for a writer, and a plain commit does not wait for the disk. The
// first opener's switch asks for the whole file; where another one is about to switch too, SQLite
// says at once that it is busy instead of waiting, since each would wait for the other.
Outcome UseWal(Database& database, int busy_ms) {
  constexpr int kPauseMs = 5;
  for (int waited_ms = 0;; waited_ms += kPauseMs) {
    Outcome outcome = database.Execute("PRAGMA journal_mode=WAL;");
    if (outcome || outcome.error().code != FailureCode::Busy || waited_ms >= busy_ms)
      return outcome;
    sqlite3_sleep(kPauseMs);
  }
}

}  // namespace

std::string_view NameOf(StepPhase phase) {
  switch (phase) {
    case StepPhase::Intent:
      return "intent";
    case StepPhase::Done:
      return "done";
    case StepPhase::Undone:
      return "undone";
  }
  CURFEW_UNREACHABLE("the switch names every phase");
}

struct Store::Connection {
  Database database;
  bool in_transaction = false;
  std::uint64_t durable_writes = 0;
};

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::Open(const std::string& path, int busy_ms) {
  CURFEW_TRY(Database database, Database::Open(path, busy_ms));
  Store store(std::make_unique<Connection>(Connection{std::move(database)}));
  Database& opened = store.connection_->database;
  // Reading the header first: a file that is none of ours is left as it is.
  CURFEW_TRY(const std::int64_t application, opened.Number("PRAGMA application_id"));
  if (application != 0 && application != ApplicationId) return Initialise(opened).error();
  CURFEW_TRY_VOID(UseWal(opened, busy_ms));
  CURFEW_TRY_VOID(opened.Execute("PRAGMA foreign_keys=ON;"));
  CURFEW_TRY_VOID(store.Write([&] { return Initialise(opened); }, false));
  return store;
}

Outcome Store::Write(const std::function<Outcome()>& writes, bool durable) {
  if (connection_->in_transaction) return writes();
  Database& database = connection_->database;
  CURFEW_TRY_VOID(database.Execute(durable ? "PRAGMA synchronous=FULL; BEGIN IMMEDIATE"
                                           : "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE"));
  // Undoes the transaction unless it was committed, also when `writes` throws.
  struct Rollback {
    Connection& connection;
    ~Rollback() {
      connection.in_transaction = false;
      if (sqlite3_get_autocommit(connection.database.get()) == 0) {
        static_cast<void>(connection.database.Execute("ROLLBACK"));
      }
    }
  } rollback{*connection_};
  connection_->in_transaction = true;
  CURFEW_TRY_VOID(writes());
  CURFEW_TRY_VOID(database.Execute("COMMIT"));
  if (durable) ++connection_->durable_writes;
  return Ok();
}

Outcome Store::Durably(const std::function<Outcome()>& writes) {
  CURFEW_CHECK(!connection_->in_transaction, "a durable transaction is the outer one");
  return Write(writes, true);
}

Outcome Store::Together(const std::function<Outcome()>& writes) { return Write(writes, false); }

template <typename... Values>
Outcome Store::Update(const Incarnation& incarnation, const char* sql, const Values&... values) {
  return Write(
      [&]() -> Outcome {
        CURFEW_TRY(const Sandbox found, Find(incarnation));
        CURFEW_TRY(Statement statement,
                   Statement::Prepare(connection_->database, sql, values..., found.incarnation.id));
        return statement.Run();
      },
      false);
}

Outcome Store::Create(const Sandbox& sandbox) {
  CURFEW_CHECK(IsSandboxId(sandbox.incarnation.id) && IsNonce(sandbox.incarnation.nonce),
               "an incarnation is drawn, never typed");
  return Write(
      [&]() -> Outcome {
        const Result<Sandbox> taken = FindById(sandbox.incarnation.id);
        if (taken) {
          return Failure(FailureCode::AlreadyExists,
                         fmt::format("sandbox {} was used before", sandbox.incarnation.id));
        }
        if (taken.error().code != FailureCode::NotFound) return taken.error();
        const std::string sql = fmt::format(
            "INSERT INTO sandbox ({}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            SandboxColumns);
        CURFEW_TRY(
            Statement statement,
            Statement::Prepare(
                connection_->database, sql, sandbox.incarnation.id, sandbox.incarnation.nonce,
                NameOf(sandbox.state), sandbox.sandbox_class, sandbox.owner, sandbox.creator,
                sandbox.task_id, sandbox.created_ms, sandbox.deadline_ms, sandbox.deadline_boot_ms,
                sandbox.boot_id, PidOf(sandbox.keeper), StartOf(sandbox.keeper),
                PidOf(sandbox.machine), StartOf(sandbox.machine),
                sandbox.machine_uid ? OptionalNumber(*sandbox.machine_uid) : std::nullopt,
                sandbox.policy_digest, static_cast<std::int64_t>(sandbox.policy_generation),
                sandbox.image_digest, sandbox.close_reason,
                sandbox.exit_status ? OptionalNumber(*sandbox.exit_status) : std::nullopt,
                sandbox.closed_ms, sandbox.grace_ms));
        return statement.Run();
      },
      false);
}

Result<std::vector<Sandbox>> Store::Select(const std::string& condition,
                                           const std::string& parameter) {
  const std::string sql =
      fmt::format("SELECT {} FROM sandbox WHERE {} ORDER BY rowid", SandboxColumns, condition);
  CURFEW_TRY(Statement row, Statement::Prepare(connection_->database, sql, parameter));
  std::vector<Sandbox> sandboxes;
  for (;;) {
    CURFEW_TRY(const bool more, row.Next());
    if (!more) return sandboxes;
    CURFEW_TRY(Sandbox sandbox, SandboxOf(connection_->database, row));
    sandboxes.push_back(std::move(sandbox));
  }
}

Result<Sandbox> Store::FindById(const std::string& id) {
  CURFEW_TRY(std::vector<Sandbox> found, Select("id = ?", id));
  if (found.empty()) {
    return Failure(FailureCode::NotFound, fmt::format("there is no sandbox {}", Printable(id)));
  }
  return std::move(found.front());
}

Result<Sandbox> Store::Find(const Incarnation& incarnation) {
  CURFEW_TRY(Sandbox found, FindById(incarnation.id));
  if (found.incarnation.nonce != incarnation.nonce) {
    return Failure(FailureCode::AlreadyExists,
                   fmt::format("sandbox {} is another incarnation", incarnation.id));
  }
  return found;
}

Result<std::vector<Sandbox>> Store::List(bool open_only) {
  CURFEW_TRY(std::vector<Sandbox> all, Select("id <> ?", ""));
  if (open_only) std::erase_if(all, [](const Sandbox& one) { return !IsOpen(one.state); });
  return all;
}

Outcome Store::SetState(const Incarnation& incarnation, SandboxState to) {
  return Write(
      [&]() -> Outcome {
        CURFEW_TRY(const Sandbox found, Find(incarnation));
        if (!MayGo(found.state, to)) {
          return Failure(FailureCode::Denied,
                         fmt::format("sandbox {} is {} and cannot become {}", incarnation.id,
                                     NameOf(found.state), NameOf(to)));
        }
        return Update(incarnation, "UPDATE sandbox SET state=? WHERE id=?", NameOf(to));
      },
      false);
}

Outcome Store::SetClosed(const Incarnation& incarnation, SandboxState to, std::int64_t at_ms) {
  CURFEW_CHECK(!IsOpen(to), "this ends a sandbox");
  return Write(
      [&]() -> Outcome {
        CURFEW_TRY_VOID(SetState(incarnation, to));
        return Update(incarnation, "UPDATE sandbox SET closed_ms=? WHERE id=?", at_ms);
      },
      false);
}

Outcome Store::SetKeeper(const Incarnation& incarnation,
                         const std::optional<host::ProcessIdentity>& keeper) {
  return Update(incarnation, "UPDATE sandbox SET keeper_pid=?, keeper_start=? WHERE id=?",
                PidOf(keeper), StartOf(keeper));
}

Outcome Store::SetMachine(const Incarnation& incarnation,
                          const std::optional<host::ProcessIdentity>& machine,
                          std::optional<std::uint32_t> uid) {
  return Update(
      incarnation, "UPDATE sandbox SET machine_pid=?, machine_start=?, machine_uid=? WHERE id=?",
      PidOf(machine), StartOf(machine), uid ? OptionalNumber(*uid) : OptionalNumber(std::nullopt));
}

Outcome Store::SetDeadline(const Incarnation& incarnation, const Deadline& deadline) {
  return Write(
      [&]() -> Outcome {
        CURFEW_TRY(const Sandbox found, Find(incarnation));
        if (found.boot_id != deadline.boot_id) {
          return Failure(FailureCode::Denied,
                         fmt::format("sandbox {} ended with the boot in which it was created",
                                     incarnation.id));
        }
        const bool later = found.deadline_boot_ms && (deadline.boot_ms > *found.deadline_boot_ms ||
                                                      deadline.boot_ms + deadline.grace_ms >
                                                          *found.deadline_boot_ms + found.grace_ms);
        if (later) {
          return Failure(
              FailureCode::Denied,
              fmt::format("the deadline of sandbox {} cannot be moved away", incarnation.id));
        }
        return Update(incarnation,
                      "UPDATE sandbox SET deadline_ms=?, deadline_boot_ms=?, grace_ms=? WHERE id=?",
                      deadline.wall_ms, deadline.boot_ms, deadline.grace_ms);
      },
      false);
}

Outcome Store::SetCloseReason(const Incarnation& incarnation, const std::string& reason) {
  return Update(incarnation, "UPDATE sandbox SET close_reason=? WHERE close_reason='' AND id=?",
                reason);
}

Outcome Store::SetClass(const Incarnation& incarnation, const std::string& sandbox_class) {
  return Update(incarnation, "UPDATE sandbox SET class=? WHERE id=?", sandbox_class);
}

Outcome Store::SetExitStatus(const Incarnation& incarnation, int status) {
  return Update(incarnation, "UPDATE sandbox SET exit_status=? WHERE id=?",
                static_cast<std::int64_t>(status));
}

Outcome Store::Record(const Incarnation& incarnation, const JournalEntry& entry) {
  return Update(incarnation,
                "INSERT INTO journal (step, kind, phase, resource, at_ms, sandbox) "
                "VALUES (?,?,?,?,?,?)",
                static_cast<std::int64_t>(entry.step), entry.kind, NameOf(entry.phase),
                entry.resource, entry.at_ms);
}

Result<std::vector<JournalEntry>> Store::Journal(const Incarnation& incarnation) {
  CURFEW_TRY(const Sandbox found, Find(incarnation));
  CURFEW_TRY(Statement row,
             Statement::Prepare(connection_->database,
                                "SELECT sequence, step, kind, phase, resource, at_ms FROM journal "
                                "WHERE sandbox = ? ORDER BY sequence",
                                found.incarnation.id));
  std::vector<JournalEntry> entries;
  for (;;) {
    CURFEW_TRY(const bool more, row.Next());
    if (!more) return entries;
    const std::optional<StepPhase> phase = ParseStepPhase(row.Text(3));
    if (!phase) return Unreadable(connection_->database, "phase of a step");
    entries.push_back({row.Integer(0), static_cast<std::uint32_t>(row.Integer(1)), row.Text(2),
                       *phase, row.Text(4), row.Integer(5)});
  }
}

Result<std::vector<JournalEntry>> Store::OpenSteps(const Incarnation& incarnation) {
  CURFEW_TRY(const std::vector<JournalEntry> entries, Journal(incarnation));
  std::map<std::uint32_t, JournalEntry> last;
  for (const JournalEntry& entry : entries) last[entry.step] = entry;
  std::vector<JournalEntry> open;
  for (auto step = last.rbegin(); step != last.rend(); ++step) {
    if (step->second.phase != StepPhase::Undone) open.push_back(step->second);
  }
  return open;
}

Outcome Store::AddToken(const Token& token) {
  return Update(token.sandbox,
                "INSERT INTO token (jti, audience, expires_ms, revoked_ms, sandbox) "
                "VALUES (?,?,?,?,?)",
                token.jti, token.audience, token.expires_ms, token.revoked_ms);
}

Result<Token> Store::FindToken(const std::string& jti) {
  CURFEW_TRY(Statement row,
             Statement::Prepare(connection_->database,
                                "SELECT token.jti, sandbox.id, sandbox.nonce, token.audience, "
                                "token.expires_ms, token.revoked_ms FROM token JOIN sandbox ON "
                                "sandbox.id = token.sandbox WHERE jti = ?",
                                jti));
  CURFEW_TRY(const bool found, row.Next());
  if (!found) return Failure(FailureCode::NotFound, "there is no such token");
  return Token{
      row.Text(0), {row.Text(1), row.Text(2)}, row.Text(3), row.Integer(4), row.OptionalInteger(5)};
}

Result<int> Store::RevokeTokens(const Incarnation& incarnation, std::int64_t at_ms) {
  int revoked = 0;
  const Outcome written = Write(
      [&]() -> Outcome {
        CURFEW_TRY_VOID(
            Update(incarnation,
                   "UPDATE token SET revoked_ms=? WHERE revoked_ms IS NULL AND sandbox=?", at_ms));
        revoked = connection_->database.changes();
        return Ok();
      },
      false);
  if (!written) return written.error();
  return revoked;
}

Result<std::vector<std::string>> Store::UnrevokedTokens(const Incarnation& incarnation) {
  CURFEW_TRY(const Sandbox found, Find(incarnation));
  CURFEW_TRY(Statement row,
             Statement::Prepare(connection_->database,
                                "SELECT jti FROM token WHERE revoked_ms IS NULL AND sandbox = ? "
                                "ORDER BY jti",
                                found.incarnation.id));
  std::vector<std::string> ids;
  for (;;) {
    CURFEW_TRY(const bool more, row.Next());
    if (!more) return ids;
    ids.push_back(row.Text(0));
  }
}

std::uint64_t Store::durable_writes() const { return connection_->durable_writes; }

}  // namespace curfew::store
