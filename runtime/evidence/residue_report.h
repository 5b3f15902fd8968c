// What a search for residue found: plain data, part of a receipt. The search is residue.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::evidence {

enum class ResidueClass {
  Process,
  Mount,
  File,
  DeletedFile,  // without a name, kept alive by a descriptor or a mapping
  Socket,
  Cgroup,
  Key,
  Token,
  NetworkNamespace,
  Tap,
  PacketTable,  // of nf_tables, in whatever namespace
};
inline constexpr ResidueClass ResidueClasses[] = {
    ResidueClass::Process,     ResidueClass::Mount,      ResidueClass::File,
    ResidueClass::DeletedFile, ResidueClass::Socket,     ResidueClass::Cgroup,
    ResidueClass::Key,         ResidueClass::Token,      ResidueClass::NetworkNamespace,
    ResidueClass::Tap,         ResidueClass::PacketTable};

// How a resource ended. Unknown is never clean.
enum class Fate { Destroyed, Kept, Unknown };
enum class Cleanness { Clean, Dirty, Unknown };

std::string_view NameOf(ResidueClass residue_class);
std::string_view NameOf(Fate fate);
std::string_view NameOf(Cleanness verdict);
std::optional<ResidueClass> ParseResidueClass(std::string_view name);
std::optional<Fate> ParseFate(std::string_view name);

// `looked_at` things were examined. Of them, and of what the journal named: so many are gone, still
// there, or could not be judged.
struct ResidueCount {
  ResidueClass residue_class = ResidueClass::Process;
  std::uint64_t looked_at = 0;
  std::uint64_t destroyed = 0;
  std::uint64_t kept = 0;
  std::uint64_t unknown = 0;
  // Processes whose descriptors may not be read (the host's first one under some hypervisors), but
  // which are older than the sandbox and so none of its own.
  std::uint64_t passed_over = 0;
};

// One thing that is still there (Kept) or could not be judged (Unknown).
struct ResidueFinding {
  ResidueClass residue_class = ResidueClass::Process;
  Fate fate = Fate::Kept;
  std::string identity;  // "pid 4711 start 8812", a path, …
  std::string why;       // how it was recognised, or why it could not be read
};

struct ResidueReport {
  std::vector<ResidueCount> classes;     // every class, in the order of ResidueClasses
  std::vector<ResidueFinding> findings;  // at most FindingsMax; the counts are whole

  // Dirty if anything is kept, else unknown if anything is, else clean. A report without all
  // classes is unknown.
  [[nodiscard]] Cleanness verdict() const;
  // Something is kept, and all of it has to do with network namespaces.
  [[nodiscard]] bool keeps_only_networks() const;
};

inline constexpr std::size_t FindingsMax = 256;

}  // namespace curfew::evidence
