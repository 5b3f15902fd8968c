#include "runtime/evidence/verify.h"

#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/chain.h"
#include "runtime/evidence/heads.h"

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
    default:
      return {Standing::CouldNotRun, std::move(where), failure.message};
  }
}

// The chain must be exactly what the receipt was signed over.
std::optional<Verdict> CheckChain(const Chain& chain, const Receipt& receipt) {
  if (chain.records.size() != receipt.record_count) {
    return Verdict{Standing::Tampered, "records",
                   fmt::format("the receipt was signed over {} records and there are {}",
                               receipt.record_count, chain.records.size())};
  }
  if (chain.hashes.empty() || chain.hashes.back() != receipt.record_head) {
    return Verdict{Standing::Tampered, "records",
                   "the last record is not the one that the receipt was signed over"};
  }
  const Result<FlowSummary> flows = SummariseFlows(chain.records);
  if (!flows) return VerdictOf(flows.error(), "records");
  if (*flows != receipt.flows) {
    return Verdict{Standing::Tampered, "receipt",
                   "what it says was reached and refused does not follow from the records"};
  }
  return std::nullopt;
}

// Every head that the host signed for this sandbox must be a prefix of the chain, and the last one
// must be the receipt's.
std::optional<Verdict> CheckHeads(const std::vector<SignedHead>& heads, const Chain& chain,
                                  const Receipt& receipt, const VerifyRequest& request) {
  const auto tampered = [](std::uint64_t record, std::string why) {
    return Verdict{Standing::Tampered, fmt::format("heads, record {}", record), std::move(why)};
  };
  std::optional<std::uint64_t> last;
  for (std::uint64_t i = 0; i < heads.size(); ++i) {
    const Head& head = heads[i].head;
    if (head.sandbox.id != receipt.sandbox.id) continue;
    if (head.sandbox != receipt.sandbox) {
      return tampered(i, "the host knows another incarnation of this sandbox");
    }
    if (head.count == 0 || head.count > chain.hashes.size()) {
      return tampered(i, fmt::format("the host saw {} records and there are {}", head.count,
                                     chain.hashes.size()));
    }
    if (chain.hashes[head.count - 1] != head.head) {
      return tampered(i, "the host saw another record there");
    }
    last = i;
  }
  if (!last) {
    return Verdict{Standing::Tampered, "heads", "the host's chain has no head for this sandbox"};
  }
  if (heads[*last].head.count != receipt.record_count) {
    return tampered(*last, "the host's last head is not the receipt's");
  }
  if (request.witnessed && (request.witnessed->sequence >= heads.size() ||
                            heads[request.witnessed->sequence].hash != request.witnessed->hash)) {
    return tampered(request.witnessed->sequence,
                    "the host's chain is not the one that the witness saw");
  }
  return std::nullopt;
}

Verdict Judge(host::Files& files, const VerifyRequest& request, Verification& verification) {
  const Result<std::string> envelope = host::ReadText(files, request.receipt_path, ReceiptBytesMax);
  if (!envelope && envelope.error().code == FailureCode::NotFound) {
    return {Standing::Absent, "receipt",
            fmt::format("there is no receipt at {}", Printable(request.receipt_path))};
  }
  if (!envelope) return VerdictOf(envelope.error(), "receipt");

  const Result<Ed25519PublicKey> key = LoadPublicKey(files, request.key_path);
  if (!key) return {Standing::CouldNotRun, "key", key.error().message};
  verification.key_id = KeyIdOf(*key);

  const Result<std::string> statement = OpenEnvelope(*envelope, *key);
  if (!statement) return VerdictOf(statement.error(), "receipt");
  const Result<Receipt> receipt = DecodeStatement(*statement);
  if (!receipt) return VerdictOf(receipt.error(), "receipt");
  if (!request.sandbox_id.empty() && receipt->sandbox.id != request.sandbox_id) {
    return {Standing::Tampered, "receipt",
            fmt::format("it is the receipt of {}, not of {}", receipt->sandbox.id,
                        Printable(request.sandbox_id))};
  }

  const Result<Chain> chain = ReadChain(files, request.chain_path, receipt->sandbox);
  if (!chain) return VerdictOf(chain.error(), "records");
  if (auto verdict = CheckChain(*chain, *receipt)) return *std::move(verdict);
  const Result<std::vector<SignedHead>> heads = ReadHeads(files, request.heads_path, *key);
  if (!heads) return VerdictOf(heads.error(), "heads");
  if (auto verdict = CheckHeads(*heads, *chain, *receipt, request)) return *std::move(verdict);

  verification.receipt = *receipt;
  return {Standing::Valid, "", ""};
}

}  // namespace

std::string_view NameOf(Standing standing) {
  switch (standing) {
    case Standing::Valid:
      return "valid";
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
    case Standing::Tampered:
    case Standing::Absent:
      return 2;
    case Standing::CouldNotRun:
      return 1;
  }
  CURFEW_UNREACHABLE("the switch names every standing");
}

Verification Verify(host::Files& files, const VerifyRequest& request) {
  Verification verification;
  verification.key_path = request.key_path;
  verification.key_pinned = request.key_pinned;
  Verdict verdict = Judge(files, request, verification);
  verification.standing = verdict.standing;
  verification.where = std::move(verdict.where);
  verification.why = std::move(verdict.why);
  return verification;
}

std::string RenderVerification(const Verification& verification) {
  std::string text(NameOf(verification.standing));
  if (!verification.where.empty()) {
    text += fmt::format(": {}: {}", verification.where, verification.why);
  } else if (verification.receipt) {
    text +=
        fmt::format(": {}, {} records, residue {}", ToString(verification.receipt->sandbox),
                    verification.receipt->record_count, NameOf(verification.receipt->verdict()));
  }
  text.push_back('\n');
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
               {"key_pinned", verification.key_pinned}};
  if (verification.receipt) {
    json["sandbox"] = verification.receipt->sandbox.id;
    json["nonce"] = verification.receipt->sandbox.nonce;
    json["records"] = verification.receipt->record_count;
    json["verdict"] = NameOf(verification.receipt->verdict());
  }
  const Result<std::string> text = Canonical(json);
  CURFEW_CHECK(text.has_value(), "what is written here can be written");
  return *text + "\n";
}

}  // namespace curfew::evidence
