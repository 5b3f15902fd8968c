// The host's chain of signed heads: for each sandbox, how many records its chain had and what the
// last one's hash was. It stands outside the sandbox's folder, so that a chain cut together with
// its receipt is still missed here.
#pragma once

#include "runtime/evidence/format.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/files.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace curfew::evidence {

struct Head {
  Incarnation sandbox;
  std::uint64_t count = 0;
  Digest head;
  std::int64_t at_ms = 0;  // wall
};

// Appends durably, under a lock that all processes of this host share. Busy when another holds it
// too long; a torn end, left by a crash, is cut first.
Outcome AppendHead(host::Files& files, const std::string& path, const SigningKey& key,
                   const Head& head);

struct SignedHead {
  Head head;
  std::string key_id;
  Digest hash;  // of its record: what a witness outside keeps
};
// The host's heads, read once for as many receipts as are verified.
struct HeadsLog {
  std::vector<SignedHead> heads;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> of_sandbox;  // places in `heads`
  // What follows the last whole head, if anything: an append that goes on or that a crash cut. The
  // sandbox that it was for misses its head.
  std::uint64_t torn_bytes = 0;
  std::string torn_why;
};
// All heads, each with its place in the chain and its signature by `key` checked. NotFound;
// Tampered.
Result<HeadsLog> ReadHeads(host::Files& files, const std::string& path,
                           const Ed25519PublicKey& key);

}  // namespace curfew::evidence
