// What a class grants and bounds, as plain data: what an allowed create turns into steps
// (runtime/plan). One template a class, at the class's index. Everything here was already judged by
// the decision; a template never widens it.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/schema/schema.h"

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace curfew::module {

// `X at most Y`: the default, where there is one, and the maximum. In the unit of the thing that is
// bounded.
struct Bound {
  std::optional<std::int64_t> standard;
  std::int64_t most = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

struct ImageGrant {
  std::string name;
  std::string ref;  // empty where the declaration has none
  Digest digest;
  friend bool operator==(const ImageGrant&, const ImageGrant&) = default;
};

struct TokenGrant {
  std::string audience;
  std::int64_t lives_ms = 0;
  friend bool operator==(const TokenGrant&, const TokenGrant&) = default;
};

// A secret that a sandbox may have. The gateway sends it, and nobody else has it.
enum class SecretForm : std::uint8_t { Bearer, Basic, Header };
struct SecretGrant {
  struct Host {
    std::string name;
    std::int64_t port = 443;
    friend bool operator==(const Host&, const Host&) = default;
  };
  std::string name;
  bool from_file = false;  // its source is a path on the host; otherwise a variable of it
  std::string source;
  SecretForm form = SecretForm::Bearer;
  std::string header;
  std::vector<Host> hosts;
  friend bool operator==(const SecretGrant&, const SecretGrant&) = default;
};
// What the rule of this id allows goes with the secret.
struct SecretUse {
  std::string rule;
  std::string secret;
  friend bool operator==(const SecretUse&, const SecretUse&) = default;
};

struct ScratchMount {
  std::string path;
  std::int64_t bytes = 0;
  friend bool operator==(const ScratchMount&, const ScratchMount&) = default;
};

// One `export` or `import` rule: the patterns tell the agent where to look; each file is still
// asked of the gate.
struct TransferGrant {
  std::vector<std::string> patterns;
  bool each = false;  // the size bounds each file, not the sum
  std::int64_t bytes_most = 0;
  friend bool operator==(const TransferGrant&, const TransferGrant&) = default;
};

// `persist`: what outlives a sandbox, and which sandboxes get it.
struct Volume {
  std::string name;
  std::string path;
  std::int64_t bytes = 0;
  std::string reason;
  std::string owner;  // a principal
  std::int64_t expires_ms = 0;
  bool shared_by_class = false;  // else each owner of a task has one
  friend bool operator==(const Volume&, const Volume&) = default;
};

// In the order of schema::Enum::SnapshotKind.
enum class SnapshotKind : std::uint8_t { Disk, Memory };

struct SnapshotGrant {
  SnapshotKind kind = SnapshotKind::Disk;
  Bound expires_ms;
  std::optional<std::int64_t> bytes_most;
  std::optional<std::int64_t> keep_most;
  std::int64_t branches_most = 1;
  bool renews = false;            // it may outlive the snapshot that its sandbox came from
  std::vector<std::string> from;  // classes whose snapshots run in this one, beside its own chain
  friend bool operator==(const SnapshotGrant&, const SnapshotGrant&) = default;
};

// Bounds of what leaves. Whoever serves counts requests over `window_ms`, also where nothing bounds
// them.
struct EgressLimits {
  std::optional<std::int64_t> requests;  // in any window
  std::int64_t window_ms = 60'000;
  std::optional<std::int64_t> request_bytes;
  std::optional<std::int64_t> total_bytes;
  friend bool operator==(const EgressLimits&, const EgressLimits&) = default;
};

// Ports inside that may be made reachable.
struct ExposeGrant {
  std::int64_t first_port = 0;
  std::int64_t last_port = 0;  // included
  std::string to;              // a principal, `task.owner` or `any`
  Bound lasts_ms;
  friend bool operator==(const ExposeGrant&, const ExposeGrant&) = default;
};

enum class Isolation : std::uint8_t { Kvm, Any };
enum class IdleEnd : std::uint8_t { Close, Freeze };

// How often a lifetime may grow, and by how much each time.
struct Renewal {
  std::int64_t times = 0;
  std::int64_t by_ms = 0;
  friend bool operator==(const Renewal&, const Renewal&) = default;
};

// What is put on record, and for how long at least it stays there.
struct Evidence {
  std::bitset<schema::ActionCount> unrecorded_allows;  // everything else is on record
  std::vector<std::string> redacted_headers;           // lower case, sorted
  std::int64_t retain_ms = 0;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

struct PlanTemplate {
  std::string class_name;
  std::vector<ImageGrant> images;
  Bound cpu;
  Bound memory_bytes;
  Bound disk_bytes;
  bool disk_is_bounded = false;  // a class without a disk size gets no disk beyond its scratch
  Isolation isolation = Isolation::Kvm;
  std::optional<TokenGrant> token;
  std::vector<SecretGrant> secrets;
  std::vector<SecretUse> secret_uses;
  std::vector<std::string> env;     // variables that may be passed, by name
  bool access_any = false;          // everybody has access
  std::vector<std::string> access;  // principals
  std::vector<ScratchMount> scratch;
  std::vector<Volume> volumes;           // by name
  std::vector<SnapshotGrant> snapshots;  // by kind
  std::vector<TransferGrant> imports;
  std::vector<TransferGrant> exports;
  bool network = false;       // some allow exists: the plan needs a driver that can judge egress
  bool inspects_tls = false;  // the plan needs one that reads inside TLS
  bool opens_websockets = false;  // the plan needs one that judges WebSockets
  EgressLimits limits;
  std::vector<ExposeGrant> exposes;
  Bound ttl_ms;
  std::optional<std::int64_t> idle_ms;
  IdleEnd idle_end = IdleEnd::Close;
  std::optional<std::int64_t> frozen_ms;  // without: until the deadline
  std::optional<Renewal> renewal;
  std::int64_t grace_ms = 0;
  Evidence evidence;
  friend bool operator==(const PlanTemplate&, const PlanTemplate&) = default;
};

}  // namespace curfew::module
