#include "runtime/evidence/verify.h"

#include "compiler/base/check.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/chain.h"
#include "runtime/evidence/standing.h"

#include <map>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

// What ended a verification early.
struct Verdict {
  Standing standing;
  std::string where;
  std::string why;
};

// A part that is missing or cannot hold counts against the receipt; one that we may not read, or
// that the machine fails to give us, says nothing about it.
Verdict VerdictOf(const Failure& failure, std::string where) {
  switch (failure.code) {
    case FailureCode::Tampered:
    case FailureCode::Malformed:
    case FailureCode::TooLarge:
      return {Standing::Tampered, std::move(where), failure.message};
    case FailureCode::NotFound:
      return {Standing::Tampered, std::move(where), "missing: " + failure.message};
    case FailureCode::Usage:
    case FailureCode::AlreadyExists:
    case FailureCode::PermissionDenied:
    case FailureCode::Unsupported:
    case FailureCode::Denied:
    case FailureCode::InvalidPolicy:
    case FailureCode::Undecided:
    case FailureCode::Interrupted:
    case FailureCode::TimedOut:
    case FailureCode::PeerGone:
    case FailureCode::OutOfSpace:
    case FailureCode::Busy:
    case FailureCode::System:
      return {Standing::CouldNotRun, std::move(where), failure.message};
  }
  CURFEW_UNREACHABLE("the switch names every code");
}

Verdict Tampered(std::string where, std::string why) {
  return {Standing::Tampered, std::move(where), std::move(why)};
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// One receipt against its chain and its host's heads.
class Judging {
 public:
  Judging(host::Files& files, const VerifyRequest& request, Verification& verification)
      : files_(files), request_(request), verification_(verification) {}

  // `known_heads` may be missing: they are then read.
  Verdict Judge(const Result<HeadsLog>* known_heads) {
    const Result<std::string> envelope =
        host::ReadText(files_, request_.receipt_path, ReceiptBytesMax);
    if (!envelope && envelope.error().code == FailureCode::NotFound) {
      return {Standing::Absent, "receipt",
              fmt::format("there is no receipt at {}", Printable(request_.receipt_path))};
    }
    if (!envelope) return VerdictOf(envelope.error(), "receipt");

    const Result<Ed25519PublicKey> key = LoadPublicKey(files_, request_.key_path);
    if (!key) return {Standing::CouldNotRun, "key", key.error().message};
    verification_.key_id = KeyIdOf(*key);
    Result<Receipt> receipt = Open(*envelope, *key);
    if (!receipt) return VerdictOf(receipt.error(), "receipt");
    if (!request_.sandbox_id.empty() && receipt->sandbox.id != request_.sandbox_id) {
      return Tampered("receipt", fmt::format("it is the receipt of {}, not of {}",
                                             receipt->sandbox.id, Printable(request_.sandbox_id)));
    }
    receipt_ = *std::move(receipt);
    Result<Chain> chain = ReadChain(files_, request_.chain_path, receipt_.sandbox);
    if (!chain) return VerdictOf(chain.error(), "records");
    chain_ = *std::move(chain);
    if (auto verdict = ReadReopenings()) return *std::move(verdict);
    if (auto verdict = CheckChain(Sha256(AsBytes(*envelope)))) return *std::move(verdict);
    if (auto verdict = CheckSuperseded(*key)) return *std::move(verdict);

    std::optional<Result<HeadsLog>> read;
    if (known_heads == nullptr) read = ReadHeads(files_, request_.heads_path, *key);
    const Result<HeadsLog>& heads = known_heads != nullptr ? *known_heads : *read;
    if (!heads) return VerdictOf(heads.error(), "heads");
    if (auto verdict = CheckHeads(*heads)) return *std::move(verdict);
    if (heads->torn_bytes > 0) {
      verification_.notes.push_back(fmt::format(
          "the host's heads end in {} of an unfinished one ({}), as a crash leaves it; this "
          "receipt's own head is whole",
          Counted(heads->torn_bytes, "byte"), heads->torn_why));
    }
    verification_.receipt = receipt_;
    return {Standing::Valid, "", ""};
  }

 private:
  static Result<Receipt> Open(const std::string& envelope, const Ed25519PublicKey& key) {
    CURFEW_TRY(const std::string statement, OpenEnvelope(envelope, key));
    return DecodeStatement(statement);
  }

  std::optional<Verdict> ReadReopenings() {
    for (const Record& record : chain_.records) {
      if (record.kind != RecordKind::Reopened) continue;
      Result<Reopening> reopening = ReadReopening(record);
      if (!reopening) {
        return Tampered(fmt::format("records, record {}", record.sequence),
                        reopening.error().message);
      }
      reopenings_.emplace(record.sequence, *std::move(reopening));
    }
    return std::nullopt;
  }

  // The chain must be exactly what the receipt was signed over.
  std::optional<Verdict> CheckChain(const Digest& own_digest) {
    const std::uint64_t count = receipt_.record_count;
    const bool goes_on = chain_.hashes.size() > count && count > 0;
    if (goes_on && chain_.hashes[count - 1] == receipt_.record_head) {
      for (const auto& [sequence, reopening] : reopenings_) {
        if (sequence < count || !reopening.covered || reopening.covered->receipt != own_digest) {
          continue;
        }
        return Verdict{Standing::Superseded, "receipt",
                       fmt::format("the books of {} were taken up again after it ({}); the "
                                   "receipt that holds is the later one",
                                   receipt_.sandbox.id, Printable(reopening.why))};
      }
    }
    if (chain_.records.size() != count) {
      return Tampered(
          "records",
          fmt::format("the receipt was signed over {} and there {} {}", Counted(count, "record"),
                      chain_.records.size() == 1 ? "is" : "are", chain_.records.size()));
    }
    if (chain_.hashes.empty() || chain_.hashes.back() != receipt_.record_head) {
      return Tampered("records", "the last record is not the one that the receipt was signed over");
    }
    const Result<FlowSummary> flows = SummariseFlows(chain_.records);
    if (!flows) return VerdictOf(flows.error(), "records");
    if (*flows != receipt_.flows) {
      return Tampered("receipt",
                      "what it says was reached and refused does not follow from the records");
    }
    return std::nullopt;
  }

  // Every earlier receipt that the records tell of is there and covers what they say, and this one
  // names the last of them: of one incarnation there are never two that hold.
  std::optional<Verdict> CheckSuperseded(const Ed25519PublicKey& key) {
    std::optional<Digest> last;
    for (const auto& [sequence, reopening] : reopenings_) {
      if (!reopening.covered) continue;
      last = reopening.covered->receipt;
      if (auto verdict = CheckEarlier(sequence, *reopening.covered, key)) return verdict;
    }
    if (last == receipt_.supersedes) return std::nullopt;
    return Tampered("receipt",
                    last ? fmt::format("the records tell of an earlier receipt, {}, and this one "
                                       "does not say that it supersedes it",
                                       ToString(*last))
                         : std::string("it says that it supersedes another, of which the records "
                                       "tell nothing"));
  }

  std::optional<Verdict> CheckEarlier(std::uint64_t sequence, const Reopening::Covered& covered,
                                      const Ed25519PublicKey& key) {
    const std::string where = "superseded receipt of " + Counted(covered.records, "record");
    const std::string path =
        fmt::format("{}/superseded/{}.json", FolderOf(request_.chain_path), covered.records);
    const Result<std::string> envelope = host::ReadText(files_, path, ReceiptBytesMax);
    if (!envelope) return VerdictOf(envelope.error(), where);
    if (Sha256(AsBytes(*envelope)) != covered.receipt) {
      return Tampered(where, "it is not the one that the records name");
    }
    const Result<Receipt> earlier = Open(*envelope, key);
    if (!earlier) return VerdictOf(earlier.error(), where);
    const bool fits = earlier->sandbox == receipt_.sandbox && covered.records > 0 &&
                      covered.records <= sequence && earlier->record_count == covered.records &&
                      chain_.hashes[covered.records - 1] == earlier->record_head;
    if (!fits) return Tampered(where, "it does not cover the records before its end");
    return std::nullopt;
  }

  // Every head that the host signed for this sandbox must be a prefix of the chain, and the last
  // one must be the receipt's. After any other somebody must have taken the records up again.
  std::optional<Verdict> CheckHeads(const HeadsLog& log) const {
    const auto tampered = [](std::uint64_t record, std::string why) {
      return Tampered(fmt::format("heads, record {}", record), std::move(why));
    };
    const auto own = log.of_sandbox.find(receipt_.sandbox.id);
    if (own == log.of_sandbox.end()) {
      return Tampered("heads", fmt::format("the host's chain has no head for this sandbox{}",
                                           log.torn_bytes > 0 ? "; it is torn at its end" : ""));
    }
    for (const std::uint64_t i : own->second) {
      const Head& head = log.heads[i].head;
      if (head.sandbox != receipt_.sandbox) {
        return tampered(i, "the host knows another incarnation of this sandbox");
      }
      if (head.count == 0 || head.count > chain_.hashes.size()) {
        return tampered(
            i, fmt::format("the host saw {} and there {} {}", Counted(head.count, "record"),
                           chain_.hashes.size() == 1 ? "is" : "are", chain_.hashes.size()));
      }
      if (chain_.hashes[head.count - 1] != head.head) {
        return tampered(i, "the host saw another record there");
      }
      if (!IsTakenUpAt(head.count)) {
        return tampered(i, "records follow it, and none says that they were taken up again");
      }
    }
    const std::uint64_t last = own->second.back();
    if (log.heads[last].head.count != receipt_.record_count) {
      return tampered(last, "the host's last head is not the receipt's");
    }
    if (request_.witnessed &&
        (request_.witnessed->sequence >= log.heads.size() ||
         log.heads[request_.witnessed->sequence].hash != request_.witnessed->hash)) {
      return tampered(request_.witnessed->sequence,
                      "the host's chain is not the one that the witness saw");
    }
    return std::nullopt;
  }

  // Whether what follows `count` records, if anything, begins with a reopening. A crash may have
  // torn the first attempt at one.
  [[nodiscard]] bool IsTakenUpAt(std::uint64_t count) const {
    while (count < chain_.records.size() && chain_.records[count].kind == RecordKind::Cut) ++count;
    return count >= chain_.records.size() || reopenings_.contains(count);
  }

  host::Files& files_;
  const VerifyRequest& request_;
  Verification& verification_;
  Receipt receipt_;
  Chain chain_;
  std::map<std::uint64_t, Reopening> reopenings_;  // by their place in the chain
};

Verification VerifyWith(host::Files& files, const VerifyRequest& request,
                        const Result<HeadsLog>* heads) {
  Verification verification;
  verification.key_path = request.key_path;
  verification.key_pinned = request.key_pinned;
  Verdict verdict = Judging(files, request, verification).Judge(heads);
  verification.standing = verdict.standing;
  verification.where = std::move(verdict.where);
  verification.why = std::move(verdict.why);
  return verification;
}

}  // namespace

std::string_view NameOf(Standing standing) {
  switch (standing) {
    case Standing::Valid:
      return "valid";
    case Standing::Superseded:
      return "superseded";
    case Standing::Tampered:
      return "tampered";
    case Standing::Absent:
      return "absent";
    case Standing::CouldNotRun:
      return "could not run";
  }
  CURFEW_UNREACHABLE("the switch names every standing");
}

int ExitStatusOf(Standing standing) {
  switch (standing) {
    case Standing::Valid:
      return 0;
    case Standing::Superseded:
    case Standing::Tampered:
    case Standing::Absent:
      return 2;
    case Standing::CouldNotRun:
      return 1;
  }
  CURFEW_UNREACHABLE("the switch names every standing");
}

Verification Verify(host::Files& files, const VerifyRequest& request) {
  return VerifyWith(files, request, nullptr);
}

Verification Verify(host::Files& files, const VerifyRequest& request,
                    const Result<HeadsLog>& heads) {
  return VerifyWith(files, request, &heads);
}

std::string RenderVerification(const Verification& verification) {
  std::string text(NameOf(verification.standing));
  if (!verification.where.empty()) {
    text += fmt::format(": {}: {}", verification.where, verification.why);
  } else if (verification.receipt) {
    const Receipt& receipt = *verification.receipt;
    text += fmt::format(": {}, {}, residue {}{}", ToString(receipt.sandbox),
                        Counted(receipt.record_count, "record"), NameOf(receipt.verdict()),
                        receipt.is_late() ? ", ended late" : "");
    if (receipt.supersedes) {
      text += fmt::format("\nit supersedes the receipt {}", ToString(*receipt.supersedes));
    }
  }
  text.push_back('\n');
  for (const std::string& note : verification.notes) text += "note: " + note + "\n";
  if (!verification.key_id.empty()) {
    text += fmt::format("key {} ({}{})\n", verification.key_id, Printable(verification.key_path),
                        verification.key_pinned
                            ? ", named by --key"
                            : ", this host's own: whoever has root here can sign with it");
  }
  return text;
}

std::string RenderVerificationJson(const Verification& verification) {
  Json json = {{"version", 1},
               {"standing", NameOf(verification.standing)},
               {"where", verification.where},
               {"why", verification.why},
               {"key", verification.key_id},
               {"key_path", verification.key_path},
               {"key_pinned", verification.key_pinned},
               {"notes", verification.notes}};
  if (verification.receipt) {
    json["sandbox"] = verification.receipt->sandbox.id;
    json["nonce"] = verification.receipt->sandbox.nonce;
    json["records"] = verification.receipt->record_count;
    json["verdict"] = NameOf(verification.receipt->verdict());
    json["late"] = verification.receipt->is_late();
    if (verification.receipt->supersedes) {
      json["supersedes"] = ToString(*verification.receipt->supersedes);
    }
  }
  const Result<std::string> text = Canonical(json);
  CURFEW_CHECK(text.has_value(), "what is written here can be written");
  return *text + "\n";
}

}  // namespace curfew::evidence
