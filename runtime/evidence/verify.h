// Does this receipt hold? Everything is computed again from the bytes: the envelope's signature,
// the statement, every record of the chain, and the host's signed heads.
#pragma once

#include "runtime/evidence/heads.h"
#include "runtime/evidence/receipt.h"
#include "runtime/host/files.h"

#include <optional>
#include <string>
#include <vector>

namespace curfew::evidence {

enum class Standing {
  Valid,
  Superseded,   // it fits, and a later receipt of the same incarnation took its place
  Tampered,     // something does not fit, or a part is missing
  Absent,       // there is no receipt: whatever ran has not been shown to be gone
  CouldNotRun,  // a file or key could not be read: nothing is said of the receipt
};
std::string_view NameOf(Standing standing);
// 0 for valid, 1 for what could not run, 2 for the rest.
int ExitStatusOf(Standing standing);

struct VerifyRequest {
  std::string receipt_path;
  std::string chain_path;  // beside it: `superseded`, with the receipts whose place this one took
  std::string heads_path;
  std::string key_path;  // the trusted public key, PEM
  bool key_pinned =
      false;  // the user named the key; else it is the host's own, and the answer says so
  std::string sandbox_id;  // if not empty, the receipt must be this one's
  // What a witness saw of the host's heads: the chain must hold a record with this sequence and
  // hash.
  struct Witnessed {
    std::uint64_t sequence = 0;
    Digest hash;
  };
  std::optional<Witnessed> witnessed;
};

struct Verification {
  Standing standing = Standing::CouldNotRun;
  std::string where;  // "receipt", "records, record 7", "heads, record 2", "key", …
  std::string why;
  std::string key_id;
  std::string key_path;
  bool key_pinned = false;
  std::optional<Receipt> receipt;  // when valid
  std::vector<std::string> notes;  // what is worth knowing of a valid one
};

Verification Verify(host::Files& files, const VerifyRequest& request);
// The same with the host's heads as ReadHeads has them, for many receipts of one host: all heads
// are read and their signatures checked once.
Verification Verify(host::Files& files, const VerifyRequest& request,
                    const Result<HeadsLog>& heads);

// One or two lines for a person: the answer, where and why, by which key.
std::string RenderVerification(const Verification& verification);
// One line of JSON, with a version.
std::string RenderVerificationJson(const Verification& verification);

}  // namespace curfew::evidence
