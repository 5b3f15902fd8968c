#include "runtime/evidence/residue.h"

#include <algorithm>
#include <set>

namespace curfew::evidence {

namespace {

constexpr std::size_t ProcFileBytesMax = 16 * 1024 * 1024;
constexpr int CgroupDepthMax = 12;
constexpr int DirectoryLevels = 2;

// Adds every sandbox id that stands in `text`.
void AddIdsIn(std::string_view text, std::set<std::string>& ids) {
  for (std::size_t at = text.find(SandboxIdPrefix); at != std::string_view::npos;
       at = text.find(SandboxIdPrefix, at + 1)) {
    const std::string_view candidate = text.substr(at, SandboxIdBytes);
    if (IsSandboxId(candidate)) ids.emplace(candidate);
  }
}

// Names of everything below `directory`, down to `levels`; what has ended meanwhile is passed over.
Outcome AddNames(host::Files& files, const std::string& directory, int levels,
                 std::set<std::string>& ids) {
  const Result<std::vector<std::string>> names = files.List(directory);
  if (!names && names.error().code == FailureCode::NotFound) return Ok();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    AddIdsIn(name, ids);
    if (levels <= 1) continue;
    const std::string path = directory + "/" + name;
    const Result<host::FileStatus> status = files.Inspect(path, host::Follow::No);
    if (!status || status->kind != host::FileKind::Directory) continue;
    CURFEW_TRY_VOID(AddNames(files, path, levels - 1, ids));
  }
  return Ok();
}

// Of each namespace once; what cannot be entered or has ended is passed over.
void AddNetwork(host::Files& files, host::Networks& networks, const std::string& path,
                std::set<std::string>& seen, std::set<std::string>& ids) {
  const Result<std::string> name = files.ReadLink(path);
  if (!name || !seen.insert(*name).second) return;
  const Result<host::NetworkSeen> network = networks.Look(path);
  if (!network) return;
  for (const host::LinkSeen& link : network->links) AddIdsIn(link.alias, ids);
  for (const host::PacketTableSeen& table : network->tables) AddIdsIn(table.name, ids);
}

}  // namespace

Result<std::vector<std::string>> SandboxesSeen(host::Files& files, host::Networks& networks,
                                               const SearchedPlaces& places) {
  std::set<std::string> ids;
  CURFEW_TRY_VOID(AddNames(files, places.cgroups, CgroupDepthMax, ids));
  for (const std::string& directory : places.directories) {
    CURFEW_TRY_VOID(AddNames(files, directory, DirectoryLevels, ids));
  }
  std::set<std::string> networks_seen;
  CURFEW_TRY(const std::vector<std::string> names, files.List(places.proc));
  for (const std::string& name : names) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const char* file : {"/cgroup", "/net/unix"}) {
      const Result<std::string> text =
          host::ReadText(files, places.proc + "/" + name + file, ProcFileBytesMax);
      if (text) AddIdsIn(*text, ids);
    }
    AddNetwork(files, networks, places.proc + "/" + name + "/ns/net", networks_seen, ids);
  }
  return std::vector<std::string>(ids.begin(), ids.end());
}

}  // namespace curfew::evidence
