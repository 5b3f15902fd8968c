// The token of one run: a compact JWS that says which sandbox calls, for which task and owner, to
// whom, until when. Signed by this host's token key; alive only while the store says so.
#pragma once

#include "compiler/base/incarnation.h"
#include "compiler/base/limits.h"
#include "compiler/base/result.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"
#include "runtime/store/store.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace curfew::identity {

inline constexpr std::string_view Issuer = "curfew";
inline constexpr std::size_t TokenBytesMax = 8 * 1024;
inline constexpr std::int64_t LifetimeMaxS = limits::TokenLifeMsMax / 1000;

// What a token is to say. Times are whole seconds since 1970; expires_s is exclusive.
struct Grant {
  Incarnation sandbox;
  std::string task_id;
  std::string owner;
  std::string audience;
  std::int64_t expires_s = 0;
};

struct Claims {
  Incarnation sandbox;
  std::string task_id;
  std::string owner;
  std::string audience;
  std::string jti;
  std::int64_t issued_s = 0;
  std::int64_t not_before_s = 0;
  std::int64_t expires_s = 0;
};

struct RunToken {
  std::string jws;
  Claims claims;
};

// Mints a token and enters it in the store, in the store's transaction if one is open. Usage if the
// grant is empty somewhere, already over, or longer than LifetimeMaxS.
Result<RunToken> Mint(const Grant& grant, const evidence::SigningKey& key, store::Store& store,
                      const host::Clock& clock, host::Entropy& entropy);

// The signature, form, issuer, audience and times, by EdDSA and this one key whatever the header
// says. No leeway: it is the same clock. Denied with the reason. Says nothing of revocation.
Result<Claims> CheckToken(std::string_view jws, const Ed25519PublicKey& key,
                          std::string_view audience, std::int64_t now_s);

// CheckToken, and the live check: the store knows the token, nobody revoked it, and its sandbox is
// running.
Result<Claims> Authenticate(std::string_view jws, const Ed25519PublicKey& key,
                            std::string_view audience, store::Store& store,
                            const host::Clock& clock);

// What the guest finds at /run/curfew/identity.json: JSON, version 1.
std::string IdentityDocument(const RunToken& token, std::string_view sandbox_class);

}  // namespace curfew::identity
