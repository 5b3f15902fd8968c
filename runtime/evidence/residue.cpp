#include "runtime/evidence/residue.h"

#include "runtime/evidence/residue_networks.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <set>
#include <sys/sysmacros.h>
#include <thread>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

using host::FileKind;
using host::FileStatus;
using host::Follow;
using host::ProcessIdentity;

constexpr std::size_t ProcFileBytesMax = 16 * 1024 * 1024;
constexpr int CgroupDepthMax = 12;
constexpr int DirectoryLevels = 2;
constexpr std::string_view TunDevice = "/dev/net/tun";

std::optional<std::uint64_t> Number(std::string_view text, int base = 10) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Calls `each` with every line of `text`.
template <typename Each>
void Lines(std::string_view text, Each each) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    each(line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

// The words of a line, at most `count` of them; the last one is the rest.
std::vector<std::string_view> Words(std::string_view line, std::size_t count) {
  std::vector<std::string_view> words;
  while (words.size() + 1 < count) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.empty()) words.push_back(line);
  return words;
}

bool IsBelow(std::string_view path, std::string_view directory) {
  return !directory.empty() && path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

bool IsGone(const Failure& failure) { return failure.code == FailureCode::NotFound; }

class Search {
 public:
  Search(host::Files& files, host::Networks& networks, const host::Clock& clock,
         const ResidueQuery& query, const SearchedPlaces& places)
      : files_(files),
        query_(query),
        places_(places),
        same_boot_(query.boot_id == clock.BootId()),
        networks_(networks, query, same_boot_,
                  {.looked_at = [this](ResidueClass one) { LookedAt(one); },
                   .destroyed = [this](ResidueClass one) { Destroyed(one); },
                   .found = [this](ResidueClass one, Fate fate, const std::string& identity,
                                   const std::string& why) { Found(one, fate, identity, why); }}) {
    for (const ResidueClass one : ResidueClasses) report_.classes.push_back({one, 0, 0, 0, 0, 0});
  }

  ResidueReport Run() {
    JournalledProcesses();
    AllProcesses();
    Disks();
    networks_.Conclude(CountOf(ResidueClass::Process).unknown > 0);
    for (const std::string& directory : places_.directories) NamesIn(directory, 1);
    OwnDirectories();
    Cgroups(places_.cgroups, 0);
    for (const std::string& path : query_.cgroups) MustBeGone(ResidueClass::Cgroup, path);
    Keys();
    Tokens();
    return std::move(report_);
  }

 private:
  ResidueCount& CountOf(ResidueClass one) { return report_.classes[static_cast<std::size_t>(one)]; }
  void LookedAt(ResidueClass one) { ++CountOf(one).looked_at; }
  void Destroyed(ResidueClass one) { ++CountOf(one).destroyed; }
  // Counts a thing once, however many ways lead to it.
  void Found(ResidueClass one, Fate fate, const std::string& identity, const std::string& why) {
    if (!found_.insert({one, identity}).second) return;
    ++(fate == Fate::Kept ? CountOf(one).kept : CountOf(one).unknown);
    if (report_.findings.size() < FindingsMax) {
      report_.findings.push_back({one, fate, identity, why});
    }
  }
  void Kept(ResidueClass one, const std::string& identity, const std::string& why) {
    Found(one, Fate::Kept, identity, why);
  }
  void Unknown(ResidueClass one, const std::string& identity, const std::string& why) {
    Found(one, Fate::Unknown, identity, why);
  }
  [[nodiscard]] bool Mentions(std::string_view text) const {
    return text.find(query_.sandbox_id) != std::string_view::npos;
  }

  // --- processes -----------------------------------------------------------------------------

  [[nodiscard]] std::string ProcPath(pid_t pid, std::string_view name) const {
    return fmt::format("{}/{}{}{}", places_.proc, pid, name.empty() ? "" : "/", name);
  }

  Result<host::ProcessStat> StatOf(pid_t pid) {
    CURFEW_TRY(const std::string text, host::ReadText(files_, ProcPath(pid, "stat"), 4096));
    std::optional<host::ProcessStat> stat = host::ParseProcessStat(text);
    if (!stat) return Failure(FailureCode::Malformed, "its stat line cannot be read");
    return *std::move(stat);
  }

  static std::string NameOf(const ProcessIdentity& identity) {
    return fmt::format("pid {} start {}", identity.pid, identity.start_ticks);
  }

  void JournalledProcesses() {
    for (const ProcessIdentity& identity : query_.processes) {
      LookedAt(ResidueClass::Process);
      if (!same_boot_) {
        Destroyed(ResidueClass::Process);
        continue;
      }
      const Result<host::ProcessStat> stat = StatOf(identity.pid);
      if (stat && stat->identity == identity && !stat->is_dead()) {
        Kept(ResidueClass::Process, NameOf(identity), "journalled, and still there");
      } else if (stat || IsGone(stat.error())) {
        Destroyed(ResidueClass::Process);
      } else {
        Unknown(ResidueClass::Process, NameOf(identity), stat.error().message);
      }
    }
  }

  void AllProcesses() {
    const Result<std::string> self = files_.ReadLink(places_.proc + "/self");
    const Result<std::vector<std::string>> names = files_.List(places_.proc);
    if (!names) {
      for (const ResidueClass one :
           {ResidueClass::Process, ResidueClass::Mount, ResidueClass::DeletedFile,
            ResidueClass::Socket, ResidueClass::NetworkNamespace, ResidueClass::Tap,
            ResidueClass::PacketTable}) {
        Unknown(one, places_.proc, names.error().message);
      }
      return;
    }
    if (!std::binary_search(names->begin(), names->end(), "1")) {
      Unknown(ResidueClass::Process, places_.proc,
              "it hides other users' processes; mount it without hidepid, or run as root");
    }
    for (const std::string& name : *names) {
      const std::optional<std::uint64_t> pid = Number(name);
      if (pid) OneProcess(static_cast<pid_t>(*pid), self && *self == name);
    }
  }

  void OneProcess(pid_t pid, bool is_self) {
    const Result<host::ProcessStat> stat = StatOf(pid);
    if (!stat && IsGone(stat.error())) return;
    LookedAt(ResidueClass::Process);
    if (!stat) {
      Unknown(ResidueClass::Process, fmt::format("pid {}", pid), stat.error().message);
      return;
    }
    const std::string identity = NameOf(stat->identity);
    const bool is_excused = is_self || std::find(query_.excused.begin(), query_.excused.end(),
                                                 stat->identity) != query_.excused.end();
    if (stat->is_dead()) return;  // it has no memory and no descriptors left, and runs nothing
    Membership(pid, identity);
    const std::optional<pid_t> thread = LivingThread(*stat);
    if (!thread) return;
    if (!is_excused) CommandLine(*thread, identity);
    const bool may_be_passed_over = CannotBeItsOwn(stat->identity);
    const bool read = NetworksOf(*thread, identity, may_be_passed_over) &&
                      Descriptors(*thread, identity, is_excused, may_be_passed_over) &&
                      Mappings(*thread, identity, is_excused, may_be_passed_over);
    if (!read) ++CountOf(ResidueClass::Process).passed_over;
    Namespace(*thread, "mnt", "mountinfo", ResidueClass::Mount, mount_namespaces_,
              [&](std::string_view line) { Mount(*thread, line); });
    Namespace(*thread, "net", "net/unix", ResidueClass::Socket, network_namespaces_,
              [&](std::string_view line) { Socket(line); });
  }

  // By which of its threads a process can be read: the first, unless that one ended alone. Nothing
  // when all have ended meanwhile.
  std::optional<pid_t> LivingThread(const host::ProcessStat& stat) {
    if (stat.state != 'Z') return stat.identity.pid;
    const auto names = files_.List(ProcPath(stat.identity.pid, "task"));
    if (!names) return std::nullopt;
    for (const std::string& name : *names) {
      const std::optional<std::uint64_t> thread = Number(name);
      if (thread && static_cast<pid_t>(*thread) != stat.identity.pid) {
        return static_cast<pid_t>(*thread);
      }
    }
    return std::nullopt;
  }

  // It is older than the sandbox, or the sandbox ended with another boot.
  [[nodiscard]] bool CannotBeItsOwn(const ProcessIdentity& identity) const {
    const auto last_start_ms = (static_cast<std::int64_t>(identity.start_ticks) + 1) * host::TickMs;
    return !same_boot_ || last_start_ms <= query_.created_boot_ms;
  }

  // The text of a process's file; nothing when the process is gone or the file cannot be read,
  // which is noted.
  std::optional<std::string> ProcText(pid_t pid, std::string_view name, ResidueClass one,
                                      const std::string& identity) {
    Result<std::string> text = host::ReadText(files_, ProcPath(pid, name), ProcFileBytesMax);
    if (text) return *std::move(text);
    NoteUnreadable(pid, one, identity, text.error());
    return std::nullopt;
  }

  // A process that ended meanwhile hides nothing.
  void NoteUnreadable(pid_t pid, ResidueClass one, const std::string& identity,
                      const Failure& failure) {
    if (IsGone(failure)) return;
    const Result<host::ProcessStat> now = StatOf(pid);
    if ((!now && IsGone(now.error())) || (now && (now->state == 'Z' || now->state == 'X'))) return;
    Unknown(one, identity, failure.message);
  }

  // Nobody is excused from the sandbox's cgroups and the uid of its VM.
  void Membership(pid_t pid, const std::string& identity) {
    if (const auto text = ProcText(pid, "cgroup", ResidueClass::Process, identity)) {
      Lines(*text, [&](std::string_view line) {
        // number:controllers:/path
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
        const std::string_view path = second == line.npos ? "" : line.substr(second + 1);
        const bool journalled =
            path.size() > 1 && std::any_of(query_.cgroups.begin(), query_.cgroups.end(),
                                           [&](const auto& one) { return one.ends_with(path); });
        if (journalled || Mentions(path)) {
          Kept(ResidueClass::Process, identity, fmt::format("in the cgroup {}", path));
        }
      });
    }
    if (!query_.machine_uid) return;
    if (const auto text = ProcText(pid, "status", ResidueClass::Process, identity)) {
      Lines(*text, [&](std::string_view line) {
        if (!line.starts_with("Uid:")) return;
        std::string spaced(line.substr(4));
        std::replace(spaced.begin(), spaced.end(), '\t', ' ');
        for (const std::string_view uid : Words(spaced, 5)) {
          if (Number(uid) == *query_.machine_uid) {
            Kept(ResidueClass::Process, identity,
                 fmt::format("runs as uid {}, its machine's", *query_.machine_uid));
          }
        }
      });
    }
  }

  void CommandLine(pid_t pid, const std::string& identity) {
    const auto text = ProcText(pid, "cmdline", ResidueClass::Process, identity);
    if (text && Mentions(*text)) {
      Kept(ResidueClass::Process, identity, "its arguments name the sandbox");
    }
  }

  // A path that names the sandbox, other than its evidence, which anybody may read.
  [[nodiscard]] bool IsTrace(std::string_view path) const {
    if (!Mentions(path)) return false;
    for (const std::string& name : query_.evidence_names) {
      if (IsBelow(path, query_.state_directory + "/" + name)) return false;
    }
    return true;
  }

  // A disk never has a name and can be given none (O_TMPFILE with O_EXCL), but its inode's number
  // may be another file's by now.
  [[nodiscard]] bool MayBeDisk(std::string_view target) const {
    return !query_.disks.empty() && target.starts_with('/') && IsDeleted(target);
  }
  [[nodiscard]] bool IsDisk(std::uint64_t device, std::uint64_t inode) const {
    return same_boot_ && std::find(query_.disks.begin(), query_.disks.end(),
                                   FileIdentity{device, inode}) != query_.disks.end();
  }

  // As /proc names what has no name any more.
  static bool IsDeleted(std::string_view target) { return target.ends_with(" (deleted)"); }

  void HeldFile(const std::string& identity, std::string_view path, const std::string& how) {
    if (IsDeleted(path)) {
      Kept(ResidueClass::DeletedFile, std::string(path), fmt::format("{} of {}", how, identity));
    } else {
      Kept(ResidueClass::Process, identity, fmt::format("{} is {}", how, path));
    }
  }

  void HeldDisk(std::uint64_t device, std::uint64_t inode, const std::string& identity,
                const std::string& how) {
    held_disks_.insert({device, inode});
    Kept(ResidueClass::DeletedFile, fmt::format("device {} inode {}", device, inode),
         fmt::format("a disk of the sandbox, {} of {}", how, identity));
  }

  // The two below say false, and note nothing, when what they need may not be read and that may be
  // passed over.
  bool Descriptors(pid_t pid, const std::string& identity, bool is_excused,
                   bool may_be_passed_over) {
    const auto unreadable = [&](const Failure& failure) {
      if (may_be_passed_over && failure.code == FailureCode::PermissionDenied) return false;
      NoteUnreadable(pid, ResidueClass::Process, identity, failure);
      return true;
    };
    const std::string directory = ProcPath(pid, "fd");
    const Result<std::vector<std::string>> numbers = files_.List(directory);
    if (!numbers) return unreadable(numbers.error());
    for (const std::string& number : *numbers) {
      const std::string path = directory + "/" + number;
      const Result<std::string> target = files_.ReadLink(path);
      if (!target) {
        if (!unreadable(target.error())) return false;
        continue;
      }
      const std::string how = "descriptor " + number;
      if (NetworkResidue::IsNetwork(*target))
        networks_.LookInto(path, *target, fmt::format("{} of {}", how, identity));
      if (*target == TunDevice) {
        const auto info = ProcText(pid, "fdinfo/" + number, ResidueClass::Tap, identity);
        if (info) networks_.HeldTap(*info, fmt::format("{} of {}", how, identity));
      }
      if (!is_excused && IsTrace(*target)) HeldFile(identity, *target, how);
      if (!MayBeDisk(*target)) continue;
      const Result<FileStatus> status = files_.Inspect(path, Follow::Yes);
      if (!status) {
        if (!unreadable(status.error())) return false;
      } else if (IsDisk(status->device, status->inode)) {
        HeldDisk(status->device, status->inode, identity, how);
      }
    }
    return true;
  }

  bool Mappings(pid_t pid, const std::string& identity, bool is_excused, bool may_be_passed_over) {
    const Result<std::string> text =
        host::ReadText(files_, ProcPath(pid, "maps"), ProcFileBytesMax);
    if (!text) {
      if (may_be_passed_over && text.error().code == FailureCode::PermissionDenied) return false;
      NoteUnreadable(pid, ResidueClass::Process, identity, text.error());
      return true;
    }
    Lines(*text, [&](std::string_view line) { Mapping(line, identity, is_excused); });
    return true;
  }

  void Mapping(std::string_view line, const std::string& identity, bool is_excused) {
    // addresses permissions offset major:minor inode path
    const std::vector<std::string_view> words = Words(line, 6);
    if (words.size() < 6) return;
    if (!is_excused && IsTrace(words[5])) HeldFile(identity, words[5], "a mapping");
    const std::size_t colon = words[3].find(':');
    if (!MayBeDisk(words[5]) || colon == std::string_view::npos) return;
    const auto major = Number(words[3].substr(0, colon), 16);
    const auto minor = Number(words[3].substr(colon + 1), 16);
    const auto inode = Number(words[4]);
    if (!major || !minor || !inode) return;
    const std::uint64_t device =
        makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
    if (IsDisk(device, *inode)) HeldDisk(device, *inode, identity, "a mapping");
  }

  // Reads `file` once for each namespace that any process is in.
  template <typename Each>
  void Namespace(pid_t pid, std::string_view kind, std::string_view file, ResidueClass one,
                 std::set<std::string>& seen, Each each) {
    // The name of a namespace only saves work: where it may not be read, the file still may.
    const Result<std::string> link = files_.ReadLink(ProcPath(pid, fmt::format("ns/{}", kind)));
    if (link && seen.contains(*link)) return;
    const Result<std::string> text = host::ReadText(files_, ProcPath(pid, file), ProcFileBytesMax);
    if (!text) {
      if (!HasLeft(pid, kind)) NoteUnreadable(pid, one, fmt::format("pid {}", pid), text.error());
      return;
    }
    if (link) seen.insert(*link);
    Lines(*text, each);
  }

  // A process that ends leaves its namespaces before it is dead, and what it shows of them can then
  // be read no more.
  bool HasLeft(pid_t pid, std::string_view kind) {
    const Result<std::string> link = files_.ReadLink(ProcPath(pid, fmt::format("ns/{}", kind)));
    return !link && IsGone(link.error());
  }

  void Mount(pid_t pid, std::string_view line) {
    LookedAt(ResidueClass::Mount);
    MountedNetwork(pid, line);
    const bool in_own_place =
        std::any_of(query_.directories.begin(), query_.directories.end(),
                    [&](const auto& one) { return line.find(one) != std::string_view::npos; });
    if (!in_own_place && !Mentions(line)) return;
    // id parent major:minor root place …
    const std::vector<std::string_view> words = Words(line, 6);
    Kept(ResidueClass::Mount, words.size() > 4 ? std::string(words[4]) : std::string(line),
         fmt::format("mounted: {}", line));
  }

  void Socket(std::string_view line) {
    // address references protocol flags type state inode path
    const std::vector<std::string_view> words = Words(line, 8);
    if (words.size() < 8) return;
    LookedAt(ResidueClass::Socket);
    const bool in_own_place = std::any_of(query_.directories.begin(), query_.directories.end(),
                                          [&](const auto& one) { return IsBelow(words[7], one); });
    if (in_own_place || Mentions(words[7])) {
      Kept(ResidueClass::Socket, std::string(words[7]), "a bound unix socket");
    }
  }

  // --- networks ------------------------------------------------------------------------------

  // A thread may be where its process is not. False, and nothing noted, as below.
  bool NetworksOf(pid_t pid, const std::string& identity, bool may_be_passed_over) {
    const Result<std::vector<std::string>> threads = files_.List(ProcPath(pid, "task"));
    const auto unreadable = [&](const Failure& failure) {
      if (may_be_passed_over && failure.code == FailureCode::PermissionDenied) return false;
      NoteUnreadable(pid, ResidueClass::NetworkNamespace, identity, failure);
      return true;
    };
    if (!threads) return unreadable(threads.error());
    for (const std::string& thread : *threads) {
      const std::string path = ProcPath(pid, fmt::format("task/{}/ns/net", thread));
      const Result<std::string> target = files_.ReadLink(path);
      if (target) {
        networks_.LookInto(path, *target, identity);
      } else if (!unreadable(target.error())) {
        return false;
      }
    }
    return true;
  }

  // id parent major:minor net:[inode] place …
  void MountedNetwork(pid_t pid, std::string_view line) {
    const std::vector<std::string_view> words = Words(line, 6);
    if (words.size() < 6 || !NetworkResidue::IsNetwork(words[3])) return;
    networks_.LookInto(ProcPath(pid, "root") + std::string(words[4]), std::string(words[3]),
                       fmt::format("the mount {}", words[4]));
  }

  void Disks() {
    for (const FileIdentity& disk : query_.disks) {
      LookedAt(ResidueClass::DeletedFile);
      if (held_disks_.contains({disk.device, disk.inode})) continue;
      const std::string identity = fmt::format("device {} inode {}", disk.device, disk.inode);
      if (CountOf(ResidueClass::Process).unknown > 0) {
        Unknown(ResidueClass::DeletedFile, identity, "a process that cannot be read may hold it");
      } else {
        Destroyed(ResidueClass::DeletedFile);
      }
    }
  }

  // --- names ---------------------------------------------------------------------------------

  void MustBeGone(ResidueClass one, const std::string& path) {
    LookedAt(one);
    const Result<FileStatus> status = files_.Inspect(path, Follow::No);
    if (status) {
      Kept(one, path, "journalled, and still there");
    } else if (IsGone(status.error())) {
      Destroyed(one);
    } else {
      Unknown(one, path, status.error().message);
    }
  }

  void NamesIn(const std::string& directory, int level) {
    const Result<std::vector<std::string>> names = files_.List(directory);
    if (!names) {
      if (!IsGone(names.error())) {
        Unknown(ResidueClass::File, directory, names.error().message);
      }
      return;
    }
    for (const std::string& name : *names) {
      const std::string path = directory + "/" + name;
      if (path == query_.state_directory) continue;
      const Result<FileStatus> status = files_.Inspect(path, Follow::No);
      if (!status) {
        if (!IsGone(status.error())) Unknown(ResidueClass::File, path, status.error().message);
        continue;
      }
      const ResidueClass one =
          status->kind == FileKind::Socket ? ResidueClass::Socket : ResidueClass::File;
      LookedAt(one);
      if (Mentions(name)) {
        Kept(one, path, "its name is the sandbox's");
      } else if (query_.machine_uid && status->uid == *query_.machine_uid) {
        Kept(one, path, fmt::format("belongs to uid {}, its machine's", status->uid));
      } else if (status->kind == FileKind::Directory && level < DirectoryLevels) {
        NamesIn(path, level + 1);
      }
    }
  }

  void OwnDirectories() {
    for (const std::string& path : query_.directories) MustBeGone(ResidueClass::File, path);
    if (query_.state_directory.empty()) return;
    const Result<std::vector<std::string>> names = files_.List(query_.state_directory);
    if (!names) {
      if (!IsGone(names.error())) {
        Unknown(ResidueClass::File, query_.state_directory, names.error().message);
      }
      return;
    }
    for (const std::string& name : *names) {
      LookedAt(ResidueClass::File);
      const auto& evidence = query_.evidence_names;
      if (std::find(evidence.begin(), evidence.end(), name) == evidence.end()) {
        Kept(ResidueClass::File, query_.state_directory + "/" + name,
             "in the sandbox's folder, and no evidence");
      }
    }
  }

  void Cgroups(const std::string& directory, int depth) {
    const Result<std::vector<std::string>> names = files_.List(directory);
    if (!names) {
      if (!IsGone(names.error())) {
        Unknown(ResidueClass::Cgroup, directory, names.error().message);
      }
      return;
    }
    for (const std::string& name : *names) {
      const std::string path = directory + "/" + name;
      const Result<FileStatus> status = files_.Inspect(path, Follow::No);
      if (!status || status->kind != FileKind::Directory) {
        if (!status && !IsGone(status.error())) {
          Unknown(ResidueClass::Cgroup, path, status.error().message);
        }
        continue;
      }
      LookedAt(ResidueClass::Cgroup);
      if (Mentions(name)) {
        Kept(ResidueClass::Cgroup, path, "its name is the sandbox's");
      } else if (depth < CgroupDepthMax) {
        Cgroups(path, depth + 1);
      } else {
        Unknown(ResidueClass::Cgroup, path, "cgroups nested too deep to search");
      }
    }
  }

  // --- keys and tokens -----------------------------------------------------------------------

  void Keys() {
    for (const std::string& path : query_.key_files) MustBeGone(ResidueClass::Key, path);
    const std::string path = places_.proc + "/keys";
    const Result<std::string> keys = host::ReadText(files_, path, ProcFileBytesMax);
    if (!keys) {
      // A kernel without keyrings has no such file.
      if (!IsGone(keys.error())) Unknown(ResidueClass::Key, path, keys.error().message);
      return;
    }
    Lines(*keys, [&](std::string_view line) {
      LookedAt(ResidueClass::Key);
      if (Mentions(line)) {
        Kept(ResidueClass::Key, fmt::format("kernel key {}", line.substr(0, line.find(' '))),
             fmt::format("its description names the sandbox: {}", line));
      }
    });
  }

  void Tokens() {
    if (!query_.unrevoked_tokens) {
      Unknown(ResidueClass::Token, "all", "nobody said which tokens it has");
      return;
    }
    const Result<std::vector<std::string>> ids = query_.unrevoked_tokens();
    if (!ids) {
      Unknown(ResidueClass::Token, "all", ids.error().message);
      return;
    }
    for (const std::string& id : *ids) {
      LookedAt(ResidueClass::Token);
      Kept(ResidueClass::Token, id, "not revoked");
    }
  }

  host::Files& files_;
  const ResidueQuery& query_;
  const SearchedPlaces& places_;
  bool same_boot_;
  NetworkResidue networks_;
  ResidueReport report_;
  std::set<std::pair<ResidueClass, std::string>> found_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> held_disks_;
  std::set<std::string> mount_namespaces_;
  std::set<std::string> network_namespaces_;  // whose sockets were read
};

}  // namespace

namespace {

// Somebody else's search is inside of every namespace for a moment, and keeps it for as long. What
// is still there after these pauses (1.3 s together) is residue.
constexpr std::chrono::milliseconds FirstPause{10};
constexpr std::chrono::milliseconds LastPause{640};

}  // namespace

ResidueReport SearchResidue(host::Files& files, host::Networks& networks, const host::Clock& clock,
                            const ResidueQuery& query, const SearchedPlaces& places) {
  CURFEW_CHECK(IsSandboxId(query.sandbox_id), "a search has a sandbox whose names it knows");
  ResidueReport report = Search(files, networks, clock, query, places).Run();
  for (auto pause = FirstPause; pause <= LastPause && report.keeps_only_networks(); pause *= 2) {
    std::this_thread::sleep_for(pause);
    report = Search(files, networks, clock, query, places).Run();
  }
  return report;
}

}  // namespace curfew::evidence
