// One sandbox's chain of records: what was decided and what was done, in order, each bound to all
// before it. One process writes it; anybody may read it.
#pragma once

#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/format.h"
#include "runtime/host/clock.h"
#include "runtime/host/files.h"

#include <memory>
#include <optional>

namespace curfew::evidence {

enum class RecordKind {
  Opened,    // the first: which incarnation
  Decision,  // a request, its verdict, the rules that decided
  Step,      // a step of a plan: intent, done, undone
  Command,   // a command of the task: started, ended
  Process,   // processes found and ended
  Export,    // an artefact, with its digest
  Reload,    // another policy set came into force
  Flow,      // a request that left or was kept from leaving (flows.h)
  Note,      // anything else worth knowing
  Reopened,  // whoever comes after the keeper goes on here (standing.h)
  Cut,       // written by the chain itself: a torn end was found and removed
  Closing,   // why and when the end began
  Residue,   // what the search found
};
std::string_view NameOf(RecordKind kind);
std::optional<RecordKind> ParseRecordKind(std::string_view name);

struct Record {
  std::uint64_t sequence = 0;
  RecordKind kind = RecordKind::Note;
  std::int64_t at_ms = 0;  // wall
  Json facts;              // an object
};

// What an appended record has survived when the append returns: the death of this process, or a
// power cut.
enum class Durability { SurvivesProcess, SurvivesPower };

class ChainWriter {
 public:
  // Opens the chain of `incarnation` at `path`, or begins it with an `opened` record. The writer
  // holds a lock: Busy while another process writes. A torn end is cut off and the cut recorded;
  // Tampered when what is there is not this incarnation's chain.
  static Result<ChainWriter> Open(host::Files& files, const host::Clock& clock,
                                  const std::string& path, const Incarnation& incarnation);

  // OutOfSpace, System…: then the record is not there, and what it records must not happen. After a
  // failed wait for the disk every later append fails too.
  Outcome Append(RecordKind kind, const Json& facts, Durability durability);
  // From now on records may use the space that is kept for the end.
  void BeginClosing() { closing_ = true; }
  // Everything appended so far is on the disk when this returns.
  Outcome Sync();

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const Digest& head() const { return head_; }
  [[nodiscard]] const Incarnation& incarnation() const { return incarnation_; }

 private:
  ChainWriter(const host::Clock& clock, Incarnation incarnation);
  Outcome Resume(host::Files& files, const std::string& path);

  const host::Clock* clock_;
  Incarnation incarnation_;
  std::unique_ptr<host::FileLock> lock_;
  std::unique_ptr<host::AppendFile> file_;
  Digest head_;
  std::uint64_t count_ = 0;
  bool closing_ = false;
  bool half_written_ = false;  // an append failed: what it left is cut off before the next
  bool lost_ = false;          // waiting for the disk failed
};

// The records of a chain, each checked. NotFound; Tampered with the place; a torn end is Tampered
// too (whoever may repair it opens a ChainWriter).
struct Chain {
  std::vector<Record> records;
  std::vector<Digest> hashes;  // one a record
};
Result<Chain> ReadChain(host::Files& files, const std::string& path,
                        const Incarnation& incarnation);

}  // namespace curfew::evidence
