#include "runtime/identity/run_token.h"

#include "compiler/base/json.h"
#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <catch2/catch.hpp>

namespace curfew::identity {
namespace {

constexpr std::string_view Audience = "curfew:gateway";

struct Scene {
  fakes::TemporaryDirectory directory;
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeClock clock;
  fakes::FakeEntropy entropy;
  store::Store store = *store::Store::Open(directory.path() + "/db");
  evidence::SigningKey key = MakeKey("token");
  store::Sandbox sandbox;

  Scene() {
    sandbox.incarnation = *host::DrawIncarnation(entropy);
    sandbox.state = store::SandboxState::Running;
    REQUIRE(store.Create(sandbox));
  }
  evidence::SigningKey MakeKey(const std::string& name) {
    return *evidence::SigningKey::LoadOrCreate(*files, entropy, directory.path() + "/" + name,
                                               directory.path() + "/" + name + ".pub");
  }
  [[nodiscard]] std::int64_t NowS() const { return clock.wall_ms / 1000; }
  [[nodiscard]] Grant SampleGrant() const {
    return {sandbox.incarnation, "task-7", "team:infra", std::string(Audience), NowS() + 60};
  }
  RunToken MintSample() { return *Mint(SampleGrant(), key, store, clock, entropy); }
  Result<Claims> Check(std::string_view jws) {
    return CheckToken(jws, key.public_key(), Audience, NowS());
  }
  Result<Claims> Live(std::string_view jws) {
    return Authenticate(jws, key.public_key(), Audience, store, clock);
  }
  // A token with these exact parts, signed by the real key.
  [[nodiscard]] std::string Forge(std::string_view header, std::string_view payload) const {
    std::string jws = Base64Url(AsBytes(header)) + "." + Base64Url(AsBytes(payload));
    return jws + "." + Base64Url(key.Sign(AsBytes(jws)));
  }
};

constexpr std::string_view GoodHeader = R"({"alg":"EdDSA","typ":"JWT"})";

// The sample's payload with one member given another text (empty: taken away).
std::string Payload(const Scene& scene, const std::string& name = "",
                    const std::string& value = "") {
  const std::string now = std::to_string(scene.NowS());
  std::vector<std::pair<std::string, std::string>> members = {
      {"aud", "\"" + std::string(Audience) + "\""},
      {"exp", std::to_string(scene.NowS() + 60)},
      {"iat", now},
      {"iss", "\"curfew\""},
      {"jti", "\"00112233445566778899aabbccddeeff\""},
      {"nbf", now},
      {"owner", "\"team:infra\""},
      {"sub", "\"" + ToString(scene.sandbox.incarnation) + "\""},
      {"task", "\"task-7\""}};
  std::string text;
  for (const auto& [member, usual] : members) {
    const std::string& written = member == name ? value : usual;
    if (written.empty()) continue;
    text += (text.empty() ? "{\"" : ",\"") + member + "\":" + written;
  }
  return text + "}";
}

TEST_CASE("A minted token is accepted, and says what was granted") {
  Scene scene;
  const RunToken token = scene.MintSample();
  const Claims claims = *scene.Live(token.jws);
  CHECK(claims.sandbox == scene.sandbox.incarnation);
  CHECK(claims.task_id == "task-7");
  CHECK(claims.owner == "team:infra");
  CHECK(claims.jti == token.claims.jti);
  CHECK(scene.MintSample().claims.jti != token.claims.jti);
  CHECK(scene.Check(scene.Forge(GoodHeader, Payload(scene))));  // the twin of the refusals below
}

TEST_CASE("A grant that is empty, over, or too long is not minted") {
  Scene scene;
  const auto refused = [&](const std::function<void(Grant&)>& change) {
    Grant grant = scene.SampleGrant();
    change(grant);
    const auto token = Mint(grant, scene.key, scene.store, scene.clock, scene.entropy);
    return !token && token.error().code == FailureCode::Usage;
  };
  CHECK(refused([](Grant& grant) { grant.task_id.clear(); }));
  CHECK(refused([](Grant& grant) { grant.owner.clear(); }));
  CHECK(refused([](Grant& grant) { grant.audience.clear(); }));
  CHECK(refused([](Grant& grant) { grant.sandbox.nonce.clear(); }));
  // No value of the time means "for ever".
  for (const std::int64_t end : {std::int64_t{0}, std::int64_t{-1}, scene.NowS(),
                                 scene.NowS() + LifetimeMaxS + 1, INT64_MAX, INT64_MIN + 1}) {
    CHECK(refused([&](Grant& grant) { grant.expires_s = end; }));
  }
  CHECK_FALSE(refused([&](Grant& grant) { grant.expires_s = scene.NowS() + LifetimeMaxS; }));
  Grant stranger = scene.SampleGrant();
  stranger.sandbox.nonce = std::string(32, '0');
  CHECK_FALSE(Mint(stranger, scene.key, scene.store, scene.clock, scene.entropy));
  scene.entropy.fails = true;
  CHECK_FALSE(Mint(scene.SampleGrant(), scene.key, scene.store, scene.clock, scene.entropy));
}

TEST_CASE("The header chooses nothing") {
  Scene scene;
  for (const char* header :
       {R"({"alg":"none","typ":"JWT"})", R"({"alg":"None","typ":"JWT"})", R"({"alg":"HS256"})",
        R"({"alg":"RS256","typ":"JWT"})", R"({"alg":"EdDSA"})", R"({"typ":"JWT","alg":"EdDSA"})",
        R"({"alg":"EdDSA","typ":"JWT","kid":"../../../dev/null"})",
        R"({"alg":"EdDSA","kid":"' OR 1=1 --","typ":"JWT"})",
        R"({"alg":"EdDSA","jku":"https://evil.test/k","typ":"JWT"})",
        R"({"alg":"EdDSA","crit":["x"],"typ":"JWT"})", R"({"alg": "EdDSA","typ":"JWT"})",
        R"({"alg":"none","alg":"EdDSA","typ":"JWT"})", "", "{}"}) {
    INFO(header);
    CHECK_FALSE(scene.Check(scene.Forge(header, Payload(scene))));
  }
  // No signature at all, as `none` would have it.
  const std::string unsigned_token =
      Base64Url(AsBytes(R"({"alg":"none"})")) + "." + Base64Url(AsBytes(Payload(scene))) + ".";
  CHECK_FALSE(scene.Check(unsigned_token));
}

TEST_CASE("Another key's token is refused, and any flipped bit is seen") {
  Scene scene;
  const std::string jws = scene.MintSample().jws;
  const evidence::SigningKey receipt_key = scene.MakeKey("receipt");
  CHECK_FALSE(CheckToken(jws, receipt_key.public_key(), Audience, scene.NowS()));
  for (std::size_t byte = 0; byte < jws.size(); ++byte) {
    std::string flipped = jws;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
    CHECK_FALSE(scene.Check(flipped));
  }
  for (std::size_t keep = 0; keep < jws.size(); ++keep) {
    CHECK_FALSE(scene.Check(jws.substr(0, keep)));
  }
}

TEST_CASE("Lenient base64 is refused") {
  Scene scene;
  const std::string jws = scene.MintSample().jws;
  CHECK(scene.Check(jws));
  for (const std::string& other :
       {jws + "=", jws + "==", jws + "\n", " " + jws, jws + ".", jws + "." + jws, "." + jws}) {
    CHECK_FALSE(scene.Check(other));
  }
  // The unused bits of the last character: another spelling of the same signature.
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  int accepted = 0;
  for (const char last : alphabet) {
    std::string other = jws;
    other.back() = last;
    accepted += scene.Check(other) ? 1 : 0;
  }
  CHECK(accepted == 1);
  std::string standard = jws;
  std::replace(standard.begin(), standard.end(), '-', '+');
  std::replace(standard.begin(), standard.end(), '_', '/');
  CHECK((standard == jws || !scene.Check(standard)));
  CHECK_FALSE(scene.Check(std::string(TokenBytesMax + 1, 'a')));
}

TEST_CASE("Each claim is needed and typed, and no other is taken") {
  Scene scene;
  const auto accepted = [&](const std::string& payload) {
    return scene.Check(scene.Forge(GoodHeader, payload)).has_value();
  };
  for (const char* name : {"aud", "exp", "iat", "iss", "jti", "nbf", "owner", "sub", "task"}) {
    INFO(name);
    for (const char* value : {"", "null", "true", "[]", "{}", "\"\"", "1.5", "-1", "\"1770000000\"",
                              "9223372036854775807", "18446744073709551616", "1e9"}) {
      INFO(value);
      // Two texts are as good as any: the owner and the task may be what they like.
      const bool is_free = std::string(name) == "owner" || std::string(name) == "task";
      if (is_free && std::string(value) == "\"1770000000\"") continue;
      CHECK_FALSE(accepted(Payload(scene, name, value)));
    }
  }
  const std::string good = Payload(scene);
  CHECK_FALSE(accepted(good.substr(0, good.size() - 1) + ",\"admin\":true}"));
  CHECK_FALSE(accepted(good.substr(0, good.size() - 1) + ",\"task\":\"other\"}"));  // twice
  CHECK_FALSE(accepted(good + " x"));
  CHECK_FALSE(accepted(""));
  CHECK_FALSE(accepted("[]"));
  CHECK_FALSE(accepted(Payload(scene, "aud", R"(["curfew:gateway"])")));
  CHECK_FALSE(accepted(Payload(scene, "aud", R"("curfew:gateway2")")));
  CHECK_FALSE(accepted(Payload(scene, "iss", R"("Curfew")")));
  CHECK_FALSE(accepted(Payload(scene, "sub", "\"" + scene.sandbox.incarnation.id + "\"")));
  CHECK_FALSE(accepted(Payload(scene, "sub", "\"" + scene.sandbox.incarnation.id + "/x\"")));
  CHECK_FALSE(accepted(Payload(scene, "jti", R"("00112233445566778899AABBCCDDEEFF")")));
}

TEST_CASE("Times are kept to the second, without leeway") {
  Scene scene;
  const RunToken token = scene.MintSample();
  const auto at = [&](std::int64_t now_s) {
    return CheckToken(token.jws, scene.key.public_key(), Audience, now_s).has_value();
  };
  CHECK_FALSE(at(token.claims.not_before_s - 1));
  CHECK(at(token.claims.not_before_s));
  CHECK(at(token.claims.expires_s - 1));
  CHECK_FALSE(at(token.claims.expires_s));
  CHECK_FALSE(at(token.claims.expires_s + 1));
  const std::int64_t now = scene.NowS();
  const auto forged = [&](const char* name, std::int64_t value) {
    return scene.Check(scene.Forge(GoodHeader, Payload(scene, name, std::to_string(value))))
        .has_value();
  };
  CHECK_FALSE(forged("nbf", now + 1));
  CHECK_FALSE(forged("iat", now + 1));  // issued after it is valid
  CHECK(forged("iat", now - 1));
  CHECK_FALSE(forged("exp", now));
  CHECK(forged("exp", now + 1));
  CHECK(forged("exp", now + LifetimeMaxS));
  CHECK_FALSE(forged("exp", now + LifetimeMaxS + 1));
  CHECK_FALSE(forged("exp", 0));
}

TEST_CASE("An audience is asked for and is exactly that one") {
  Scene scene;
  const std::string jws = scene.MintSample().jws;
  const auto for_audience = [&](std::string_view audience) {
    return CheckToken(jws, scene.key.public_key(), audience, scene.NowS()).has_value();
  };
  CHECK(for_audience(Audience));
  CHECK_FALSE(for_audience(""));
  CHECK_FALSE(for_audience("curfew:gateway "));
  CHECK_FALSE(for_audience("CURFEW:GATEWAY"));
  CHECK_FALSE(for_audience("curfew"));
}

TEST_CASE("Authority ends with the sandbox") {
  Scene scene;
  const RunToken token = scene.MintSample();
  const Incarnation& who = scene.sandbox.incarnation;
  CHECK(scene.Live(token.jws));

  SECTION("by revocation, also for one who opens the store anew") {
    CHECK(*scene.store.RevokeTokens(who, scene.clock.wall_ms) == 1);
    const auto refused = scene.Live(token.jws);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == FailureCode::Denied);
    store::Store again = *store::Store::Open(scene.directory.path() + "/db");
    CHECK_FALSE(Authenticate(token.jws, scene.key.public_key(), Audience, again, scene.clock));
  }
  SECTION("by freezing, and it comes back with it") {
    REQUIRE(scene.store.SetState(who, store::SandboxState::Frozen));
    CHECK_FALSE(scene.Live(token.jws));
    REQUIRE(scene.store.SetState(who, store::SandboxState::Running));
    CHECK(scene.Live(token.jws));
  }
  SECTION("by closing, even if nobody revoked it") {
    REQUIRE(scene.store.SetState(who, store::SandboxState::Closing));
    CHECK_FALSE(scene.Live(token.jws));
    REQUIRE(scene.store.SetClosed(who, store::SandboxState::Closed, 1));
    CHECK_FALSE(scene.Live(token.jws));
  }
  SECTION("by time") {
    scene.clock.Advance(60'000);
    CHECK_FALSE(scene.Live(token.jws));
  }
  SECTION("and a well-signed token that nobody minted is none") {
    CHECK(scene.Check(scene.Forge(GoodHeader, Payload(scene))));
    CHECK_FALSE(scene.Live(scene.Forge(GoodHeader, Payload(scene))));
  }
  SECTION("nor is one that was minted for a sibling") {
    store::Sandbox sibling = scene.sandbox;
    sibling.incarnation = *host::DrawIncarnation(scene.entropy);
    REQUIRE(scene.store.Create(sibling));
    const std::string payload = Payload(scene, "jti", "\"" + token.claims.jti + "\"");
    CHECK(scene.Live(scene.Forge(GoodHeader, payload)));
    const std::string other = scene.Forge(GoodHeader, [&] {
      Scene& s = scene;
      std::string text = Payload(s, "jti", "\"" + token.claims.jti + "\"");
      const std::size_t at = text.find(who.id);
      return text.replace(at, ToString(who).size(), ToString(sibling.incarnation));
    }());
    CHECK(scene.Check(other));
    CHECK_FALSE(scene.Live(other));
  }
}

TEST_CASE("The identity document is JSON with a version, and holds the token") {
  Scene scene;
  const RunToken token = scene.MintSample();
  const JsonValue document = *ParseJson(IdentityDocument(token, "build"));
  CHECK(document.Find("version")->integer == 1);
  CHECK(document.Find("sandbox")->text == scene.sandbox.incarnation.id);
  CHECK(document.Find("task")->text == "task-7");
  CHECK(document.Find("owner")->text == "team:infra");
  CHECK(document.Find("class")->text == "build");
  CHECK(document.Find("audience")->text == Audience);
  CHECK(document.Find("token")->text == token.jws);
  CHECK(document.Find("expires_s")->integer == token.claims.expires_s);
  CHECK(document.members.size() == 9);
}

}  // namespace
}  // namespace curfew::identity
