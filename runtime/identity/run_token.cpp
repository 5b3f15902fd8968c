#include "runtime/identity/run_token.h"

#include "runtime/evidence/canonical_json.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::identity {

namespace {

using evidence::Json;
using evidence::ObjectReader;

// The only header that is written or taken: nothing in it chooses anything.
constexpr std::string_view Header = R"({"alg":"EdDSA","typ":"JWT"})";
constexpr std::size_t JtiBytes = 16;

Failure Refused(std::string_view why) {
  return {FailureCode::Denied, fmt::format("the token is refused: {}", why)};
}

std::string SubjectOf(const Incarnation& sandbox) { return ToString(sandbox); }

std::optional<Incarnation> ParseSubject(std::string_view subject) {
  if (subject.size() <= SandboxIdBytes || subject[SandboxIdBytes] != '/') return std::nullopt;
  Incarnation sandbox{std::string(subject.substr(0, SandboxIdBytes)),
                      std::string(subject.substr(SandboxIdBytes + 1))};
  if (!IsSandboxId(sandbox.id) || !IsNonce(sandbox.nonce)) return std::nullopt;
  return sandbox;
}

Json ClaimsJson(const Claims& claims) {
  return {{"iss", Issuer},
          {"aud", claims.audience},
          {"sub", SubjectOf(claims.sandbox)},
          {"task", claims.task_id},
          {"owner", claims.owner},
          {"iat", claims.issued_s},
          {"nbf", claims.not_before_s},
          {"exp", claims.expires_s},
          {"jti", claims.jti}};
}

bool IsJti(std::string_view text) {
  const std::optional<Bytes> bytes = FromHex(text);
  return bytes && bytes->size() == JtiBytes;
}

// The claims of a payload whose signature holds. Each one is needed and typed, and no other taken.
Result<Claims> DecodeClaims(std::string_view payload) {
  const Result<JsonValue> value = ParseJson(payload);
  if (!value) return Refused(value.error().message);
  ObjectReader reader(*value, "token");
  Claims claims;
  if (reader.Text("iss") != Issuer) reader.Refuse("is of another issuer");
  claims.audience = reader.Text("aud");
  const std::optional<Incarnation> sandbox = ParseSubject(reader.Text("sub"));
  if (!sandbox) reader.Refuse("names no sandbox in `sub`");
  claims.task_id = reader.Text("task");
  claims.owner = reader.Text("owner");
  claims.issued_s = reader.Integer("iat");
  claims.not_before_s = reader.Integer("nbf");
  claims.expires_s = reader.Integer("exp");
  claims.jti = reader.Text("jti");
  if (!IsJti(claims.jti)) reader.Refuse("has no id in `jti`");
  for (const std::string* text : {&claims.audience, &claims.task_id, &claims.owner}) {
    if (text->empty()) reader.Refuse("has an empty claim");
  }
  const Outcome whole = reader.Finish();
  if (!whole) return Refused(whole.error().message);
  claims.sandbox = *sandbox;
  return claims;
}

Outcome CheckTimes(const Claims& claims, std::int64_t now_s) {
  if (claims.issued_s < 0 || claims.not_before_s < claims.issued_s ||
      claims.expires_s <= claims.not_before_s ||
      claims.expires_s - claims.issued_s > LifetimeMaxS) {
    return Refused("its times make no sense");
  }
  if (now_s < claims.not_before_s) return Refused("it is not valid yet");
  if (now_s >= claims.expires_s) return Refused("its time is over");
  return Ok();
}

}  // namespace

Result<RunToken> Mint(const Grant& grant, const evidence::SigningKey& key, store::Store& store,
                      const host::Clock& clock, host::Entropy& entropy) {
  const std::int64_t now_s = clock.WallNowMs() / 1000;
  if (grant.task_id.empty() || grant.owner.empty() || grant.audience.empty() ||
      !IsSandboxId(grant.sandbox.id) || !IsNonce(grant.sandbox.nonce)) {
    return Failure(FailureCode::Usage, "a token needs a sandbox, a task, an owner, an audience");
  }
  if (grant.expires_s <= now_s || grant.expires_s - now_s > LifetimeMaxS) {
    return Failure(FailureCode::Usage,
                   fmt::format("a token ends after now and within {} s", LifetimeMaxS));
  }
  CURFEW_TRY(const Bytes random, entropy.Draw(JtiBytes));
  RunToken token;
  token.claims = {grant.sandbox, grant.task_id, grant.owner, grant.audience,
                  Hex(random),   now_s,         now_s,       grant.expires_s};
  CURFEW_TRY(const std::string payload, evidence::Canonical(ClaimsJson(token.claims)));
  token.jws = Base64Url(AsBytes(Header)) + "." + Base64Url(AsBytes(payload));
  const Ed25519Signature signature = key.Sign(AsBytes(token.jws));
  token.jws += "." + Base64Url(signature);
  if (token.jws.size() > TokenBytesMax) {
    return Failure(FailureCode::TooLarge, "the task's id or owner is too long for a token");
  }
  CURFEW_TRY_VOID(store.AddToken(
      {token.claims.jti, grant.sandbox, grant.audience, grant.expires_s * 1000, std::nullopt}));
  return token;
}

Result<Claims> CheckToken(std::string_view jws, const Ed25519PublicKey& key,
                          std::string_view audience, std::int64_t now_s) {
  if (jws.size() > TokenBytesMax) return Refused("it is too long");
  const std::size_t first = jws.find('.');
  const std::size_t second = first == jws.npos ? jws.npos : jws.find('.', first + 1);
  if (second == jws.npos) return Refused("it has not three parts");
  const std::optional<Bytes> header = FromBase64Url(jws.substr(0, first));
  const std::optional<Bytes> payload = FromBase64Url(jws.substr(first + 1, second - first - 1));
  const std::optional<Bytes> signature = FromBase64Url(jws.substr(second + 1));
  if (!header || !payload || !signature) return Refused("it is not in base64url");
  if (AsText(*header) != Header) return Refused("its header is not the one that is written here");
  Ed25519Signature bytes{};
  if (signature->size() != bytes.size()) return Refused("its signature has another length");
  std::copy(signature->begin(), signature->end(), bytes.begin());
  if (!VerifyEd25519(key, AsBytes(jws.substr(0, second)), bytes)) {
    return Refused("its signature does not hold");
  }
  CURFEW_TRY(Claims claims, DecodeClaims(AsText(*payload)));
  if (audience.empty() || claims.audience != audience) return Refused("it is for another audience");
  CURFEW_TRY_VOID(CheckTimes(claims, now_s));
  return claims;
}

Result<Claims> Authenticate(std::string_view jws, const Ed25519PublicKey& key,
                            std::string_view audience, store::Store& store,
                            const host::Clock& clock) {
  CURFEW_TRY(Claims claims, CheckToken(jws, key, audience, clock.WallNowMs() / 1000));
  const Result<store::Token> token = store.FindToken(claims.jti);
  if (!token && token.error().code == FailureCode::NotFound) return Refused("nobody minted it");
  if (!token) return token.error();
  if (token->revoked_ms) return Refused("it was revoked");
  if (token->sandbox != claims.sandbox || token->audience != claims.audience ||
      token->expires_ms != claims.expires_s * 1000) {
    return Refused("it says something else than was minted");
  }
  const Result<store::Sandbox> sandbox = store.Find(claims.sandbox);
  if (!sandbox) return Refused(sandbox.error().message);
  if (sandbox->state != store::SandboxState::Running) {
    return Refused(fmt::format("its sandbox is {}", store::NameOf(sandbox->state)));
  }
  return claims;
}

std::string IdentityDocument(const RunToken& token, std::string_view sandbox_class) {
  const Json document = {{"version", 1},
                         {"sandbox", token.claims.sandbox.id},
                         {"task", token.claims.task_id},
                         {"owner", token.claims.owner},
                         {"class", sandbox_class},
                         {"issuer", Issuer},
                         {"audience", token.claims.audience},
                         {"token", token.jws},
                         {"expires_s", token.claims.expires_s}};
  const Result<std::string> text = evidence::Canonical(document);
  CURFEW_CHECK(text.has_value(), "texts and whole numbers can be written");
  return *text + "\n";
}

}  // namespace curfew::identity
