#include "runtime/evidence/seal.h"

#include "runtime/evidence/heads.h"

namespace curfew::evidence {

Outcome SealReceipt(host::Files& files, const host::StateDirectory& state, const SigningKey& key,
                    ChainWriter& chain, Receipt& receipt) {
  CURFEW_CHECK(receipt.sandbox == chain.incarnation(),
               "a receipt and its chain are of one sandbox");
  // A head that is signed for records that a power cut could take would prove us wrong.
  CURFEW_TRY_VOID(chain.Sync());
  receipt.record_count = chain.count();
  receipt.record_head = chain.head();
  Abridge(receipt);
  CURFEW_TRY(const std::string statement, EncodeStatement(receipt));
  const std::string envelope = SealEnvelope(statement, key);
  if (envelope.size() > ReceiptBytesMax) {
    return Failure(FailureCode::TooLarge,
                   "the receipt is larger than any that can be read; its exports are too many");
  }
  CURFEW_TRY_VOID(AppendHead(files, state.Heads(), key,
                             {receipt.sandbox, chain.count(), chain.head(), receipt.closed_ms}));
  return files.WriteDurable(state.Receipt(receipt.sandbox.id), AsBytes(envelope), 0600);
}

}  // namespace curfew::evidence
