#include "runtime/evidence/standing.h"

#include <fmt/format.h>

namespace curfew::evidence {

Result<std::optional<StandingReceipt>> FindStandingReceipt(host::Files& files,
                                                           const host::StateDirectory& state,
                                                           const SigningKey& key,
                                                           const Incarnation& sandbox) {
  const std::string path = state.Receipt(sandbox.id);
  const auto strange = [&path](const std::string& why) {
    return Failure(FailureCode::Tampered,
                   fmt::format("{} is no receipt of this sandbox: {}; look into it, and move it "
                               "away to let the sandbox be closed",
                               Printable(path), why));
  };
  Result<std::string> envelope = host::ReadText(files, path, ReceiptBytesMax);
  if (!envelope && envelope.error().code == FailureCode::NotFound) {
    return std::optional<StandingReceipt>();
  }
  if (!envelope) return std::move(envelope).error();
  const Result<std::string> statement = OpenEnvelope(*envelope, key.public_key());
  if (!statement) return strange(statement.error().message);
  Result<Receipt> receipt = DecodeStatement(*statement);
  if (!receipt) return strange(receipt.error().message);
  if (receipt->sandbox != sandbox) return strange("it is that of " + ToString(receipt->sandbox));
  const Digest digest = Sha256(AsBytes(*envelope));
  return std::optional(StandingReceipt{
      .envelope = *std::move(envelope), .digest = digest, .receipt = *std::move(receipt)});
}

Json ReopenedFacts(const Reopening& reopening) {
  Json facts = {{"why", reopening.why}};
  if (reopening.covered) {
    facts["receipt"] = ToString(reopening.covered->receipt);
    facts["records"] = reopening.covered->records;
  }
  return facts;
}

Result<Reopening> ReadReopening(const Record& record) {
  CURFEW_TRY(const std::string text, Canonical(record.facts));
  CURFEW_TRY(const JsonValue facts, ParseCanonical(text));
  ObjectReader reader(facts, "the reopening on record");
  Reopening reopening{.why = reader.Text("why"), .covered = std::nullopt};
  if (const std::optional<std::string> receipt = reader.OptionalText("receipt")) {
    const std::optional<Digest> digest = ParseDigest(*receipt);
    if (!digest) reader.Refuse("has no digest in `receipt`");
    reopening.covered = {.receipt = digest.value_or(Digest{}), .records = reader.Count("records")};
  }
  CURFEW_TRY_VOID(reader.Finish());
  return reopening;
}

Outcome KeepSuperseded(host::Files& files, const host::StateDirectory& state,
                       const StandingReceipt& standing) {
  const std::string& id = standing.receipt.sandbox.id;
  CURFEW_TRY_VOID(files.MakeDirectory(state.Superseded(id), 0700));
  CURFEW_TRY_VOID(files.SyncDirectory(state.Sandbox(id)));
  return files.WriteDurable(state.SupersededReceipt(id, standing.receipt.record_count),
                            AsBytes(standing.envelope), 0600);
}

}  // namespace curfew::evidence
