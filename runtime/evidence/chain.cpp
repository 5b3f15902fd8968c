#include "runtime/evidence/chain.h"

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

constexpr RecordKind Kinds[] = {RecordKind::Opened,   RecordKind::Decision, RecordKind::Step,
                                RecordKind::Command,  RecordKind::Process,  RecordKind::Export,
                                RecordKind::Reload,   RecordKind::Flow,     RecordKind::Note,
                                RecordKind::Reopened, RecordKind::Cut,      RecordKind::Closing,
                                RecordKind::Residue};
constexpr int LockWaitMs = 2000;

Json OpenedFacts(const Incarnation& incarnation) {
  return {{"sandbox", incarnation.id}, {"nonce", incarnation.nonce}};
}

Result<Record> DecodeRecord(const Frame& frame) {
  CURFEW_TRY(const JsonValue value, ParseCanonical(frame.body));
  ObjectReader reader(value, "record");
  Record record;
  record.sequence = frame.sequence;
  record.at_ms = reader.Integer("at_ms");
  if (reader.Integer("version") != FormatVersion) reader.Refuse("is of another version");
  const std::optional<RecordKind> kind = ParseRecordKind(reader.Text("kind"));
  if (!kind) reader.Refuse("is of an unknown kind");
  record.facts = JsonOf(reader.Object("facts"));
  CURFEW_TRY_VOID(reader.Finish());
  record.kind = *kind;
  return record;
}

Failure TamperedAt(std::uint64_t record, std::string_view why) {
  return {FailureCode::Tampered, fmt::format("record {}: {}", record, why)};
}

}  // namespace

std::string_view NameOf(RecordKind kind) {
  switch (kind) {
    case RecordKind::Opened:
      return "opened";
    case RecordKind::Decision:
      return "decision";
    case RecordKind::Step:
      return "step";
    case RecordKind::Command:
      return "command";
    case RecordKind::Process:
      return "process";
    case RecordKind::Export:
      return "export";
    case RecordKind::Reload:
      return "reload";
    case RecordKind::Flow:
      return "flow";
    case RecordKind::Note:
      return "note";
    case RecordKind::Reopened:
      return "reopened";
    case RecordKind::Cut:
      return "cut";
    case RecordKind::Closing:
      return "closing";
    case RecordKind::Residue:
      return "residue";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::optional<RecordKind> ParseRecordKind(std::string_view name) {
  for (const RecordKind kind : Kinds) {
    if (NameOf(kind) == name) return kind;
  }
  return std::nullopt;
}

ChainWriter::ChainWriter(const host::Clock& clock, Incarnation incarnation)
    : clock_(&clock), incarnation_(std::move(incarnation)), head_(GenesisOf(incarnation_)) {}

Result<ChainWriter> ChainWriter::Open(host::Files& files, const host::Clock& clock,
                                      const std::string& path, const Incarnation& incarnation) {
  ChainWriter writer(clock, incarnation);
  CURFEW_TRY(writer.lock_, files.Lock(path, LockWaitMs));
  CURFEW_TRY(writer.file_, files.OpenAppend(path, 0600));
  CURFEW_TRY_VOID(writer.Resume(files, path));
  return writer;
}

Outcome ChainWriter::Resume(host::Files& files, const std::string& path) {
  CURFEW_TRY(const Bytes bytes, files.ReadWhole(path, ChainBytesMax));
  const ChainScan scan = ScanChain(bytes, head_);
  if (scan.end == ChainScan::End::Broken) {
    return TamperedAt(scan.frames.size(), scan.why).In(Printable(path));
  }
  const std::uint64_t torn_bytes = bytes.size() - scan.good_bytes;
  if (torn_bytes > 0) CURFEW_TRY_VOID(file_->Truncate(scan.good_bytes));
  count_ = scan.frames.size();
  if (!scan.frames.empty()) head_ = scan.frames.back().hash;
  if (count_ == 0) {
    CURFEW_TRY_VOID(
        Append(RecordKind::Opened, OpenedFacts(incarnation_), Durability::SurvivesProcess));
  }
  if (torn_bytes == 0) return Ok();
  return Append(RecordKind::Cut, {{"bytes", torn_bytes}, {"why", scan.why}},
                Durability::SurvivesPower);
}

Outcome ChainWriter::Append(RecordKind kind, const Json& facts, Durability durability) {
  if (lost_) {
    return Failure(FailureCode::System,
                   "the records cannot be trusted to be on the disk; nothing more is recorded");
  }
  // Put together as text, since the facts of a flow would cost more to copy than to write.
  CURFEW_TRY(const std::string facts_text, Canonical(facts.is_null() ? Json::object() : facts, 2));
  const std::string text =
      fmt::format(R"({{"at_ms":{},"facts":{},"kind":"{}","version":{}}})", clock_->WallNowMs(),
                  facts_text, NameOf(kind), FormatVersion);
  CURFEW_TRY(const Bytes frame, EncodeFrame(count_, head_, text));
  const std::uint64_t limit = closing_ ? ChainBytesMax : ChainBytesMax - ChainClosingBytes;
  if (file_->size() + frame.size() > limit) {
    return Failure(FailureCode::OutOfSpace,
                   fmt::format("the records of sandbox {} are full at {} bytes; it can only be "
                               "closed",
                               incarnation_.id, file_->size()));
  }
  if (half_written_) {
    CURFEW_TRY_VOID(file_->Truncate(file_->size()));
    half_written_ = false;
  }
  Outcome appended = file_->Append(frame);
  if (!appended) {
    half_written_ = true;
    return appended.error().In("the records of sandbox " + incarnation_.id);
  }
  head_ = HashOfFrame(frame);
  ++count_;
  if (durability == Durability::SurvivesPower) return Sync();
  return Ok();
}

Outcome ChainWriter::Sync() {
  if (lost_) return Failure(FailureCode::System, "waiting for the disk failed before");
  Outcome synced = file_->Sync();
  lost_ = !synced.has_value();
  return synced;
}

Result<Chain> ReadChain(host::Files& files, const std::string& path,
                        const Incarnation& incarnation) {
  CURFEW_TRY(const Bytes bytes, files.ReadWhole(path, ChainBytesMax));
  const ChainScan scan = ScanChain(bytes, GenesisOf(incarnation));
  Chain chain;
  for (const Frame& frame : scan.frames) {
    Result<Record> record = DecodeRecord(frame);
    if (!record) return TamperedAt(frame.sequence, record.error().message);
    const bool is_opening = record->kind == RecordKind::Opened;
    if (is_opening != (frame.sequence == 0) ||
        (is_opening && record->facts != OpenedFacts(incarnation))) {
      return TamperedAt(frame.sequence, "the chain must begin, once, with its own sandbox");
    }
    chain.records.push_back(*std::move(record));
    chain.hashes.push_back(frame.hash);
  }
  if (scan.end != ChainScan::End::Whole) return TamperedAt(scan.frames.size(), scan.why);
  return chain;
}

}  // namespace curfew::evidence
