// The search for what a sandbox left on this host. It looks at the host itself and not at what the
// journal claims: names with the sandbox's id (of links and packet tables in every network
// namespace too), the uid of its VM, its cgroups, the exact identities that were journalled. What
// it cannot read is `unknown`. It changes nothing.
//
// A process that started before the sandbox was created cannot be its own. Where even root may not
// read the descriptors of such a one, it is counted as passed over and not as unknown; its cgroup,
// uid, mounts and sockets are still read.
//
// Not seen: kernel keys that their owner hides from root, names that say nothing of the id below
// the first two levels of a searched directory, and a network namespace that only a socket keeps
// alive.
#pragma once

#include "compiler/base/incarnation.h"
#include "compiler/base/result.h"
#include "runtime/evidence/residue_report.h"
#include "runtime/host/clock.h"
#include "runtime/host/files.h"
#include "runtime/host/networks.h"
#include "runtime/host/processes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace curfew::evidence {

// Where to look; tests give their own.
struct SearchedPlaces {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
  std::vector<std::string> directories = {"/tmp", "/var/tmp", "/run", "/dev/shm"};
};

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// The cookie alone is exact; the inode is what other programs print.
struct NetworkIdentity {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;
};

// What is known of the sandbox whose residue is sought.
struct ResidueQuery {
  std::string sandbox_id;
  std::string boot_id;  // the boot in which it was created and the identities below were taken
  std::int64_t created_boot_ms = 0;          // monotonic, in that boot
  std::optional<std::uint32_t> machine_uid;  // of its VM alone
  std::vector<host::ProcessIdentity> processes;
  std::vector<FileIdentity> disks;
  std::vector<NetworkIdentity> networks;
  std::vector<std::string> cgroups;      // full paths of its directories
  std::vector<std::string> directories;  // below which nothing may remain (its run directory)
  std::vector<std::string> key_files;
  // Its folder in the state directory, where only the names of `evidence_names` may stay.
  std::string state_directory;
  std::vector<std::string> evidence_names = {"records", "receipt.json", "superseded", "exports"};
  // Processes that rightly name the sandbox while this runs: the keeper, the command that waits.
  // The caller itself is always excused; nobody is excused from its cgroups or its VM's uid.
  std::vector<host::ProcessIdentity> excused;
  // The ids of its unrevoked tokens (Store::UnrevokedTokens).
  std::function<Result<std::vector<std::string>>()> unrevoked_tokens;
};

// Where nothing is left but what may be another search passing through a network namespace, it
// looks again for a second or so.
ResidueReport SearchResidue(host::Files& files, host::Networks& networks, const host::Clock& clock,
                            const ResidueQuery& query, const SearchedPlaces& places = {});

// The ids of all sandboxes that left a trace in a process's cgroup, a cgroup, a file name, a socket
// name, a link's alias or a packet table's name, sorted: what a sweep compares with the catalogue,
// also when the catalogue is lost.
Result<std::vector<std::string>> SandboxesSeen(host::Files& files, host::Networks& networks,
                                               const SearchedPlaces& places = {});

}  // namespace curfew::evidence
