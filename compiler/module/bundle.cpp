#include "compiler/module/bundle.h"

#include "compiler/base/json.h"
#include "compiler/base/limits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace curfew::module {
namespace {

static_assert(std::endian::native == std::endian::little, "a bundle's numbers are little-endian");

constexpr std::array<char, BundleBeginBytes> Magic = {'C', 'U', 'R', 'F', 'E', 'W', 'B', '\n'};
constexpr std::uint32_t Version = 1;
constexpr std::string_view SignedFor = "curfew bundle 1\n";
constexpr std::size_t Alignment = 16;

struct Header {
  std::array<char, BundleBeginBytes> magic = Magic;
  std::uint32_t version = Version;
  std::uint32_t is_signed = 0;
  std::uint64_t payload_bytes = 0;
  std::array<std::uint8_t, 32> payload{};
  Ed25519PublicKey key{};
  Ed25519Signature signature{};
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) == 160 && sizeof(Header) % Alignment == 0);
static_assert(limits::ModuleBytesMax + limits::SetBytesMax + limits::JsonBytesMax < BundleBytesMax);

Bytes SignedPart(const Header& header) {
  Bytes message(SignedFor.begin(), SignedFor.end());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&header);
  message.insert(message.end(), bytes, bytes + offsetof(Header, signature));
  return message;
}

std::string Sized(std::size_t bytes, const Digest& digest) {
  return fmt::format(R"("bytes": {}, "digest": "{}")", bytes, ToString(digest));
}

std::string ManifestOf(const BundleContent& content) {
  std::string packages;
  for (const std::string& package : content.packages) {
    packages.append(packages.empty() ? "" : ", ").append(JsonQuoted(package));
  }
  std::string files;
  for (const BundleFile& file : content.files) {
    files +=
        fmt::format("{}\n  {{\"name\": {}, {}}}", files.empty() ? "" : ",", JsonQuoted(file.name),
                    Sized(file.text.size(), Sha256(AsBytes(file.text))));
  }
  return fmt::format(
      "{{\"version\": {}, \"language\": {}, \"compiler\": {}, \"packages\": [{}],\n"
      " \"policy\": \"{}\",\n \"module\": {{{}}},\n \"files\": [{}]}}\n",
      Version, content.language, JsonQuoted(content.compiler), packages, ToString(content.policy),
      Sized(content.module.size(), Sha256(content.module)), files);
}

Failure Bad(std::string_view what) {
  return Failure(FailureCode::Malformed,
                 fmt::format("not a policy bundle: {}; make it again with `curfew compile`", what));
}

// ---- Reading ------------------------------------------------------------------------------------

// Proves what stands before the payload. Nothing behind the header is looked at but by its digest.
Result<Header> ReadHeader(ByteView bytes, std::span<const Ed25519PublicKey> trusted) {
  Header header;
  if (bytes.size() > BundleBytesMax) {
    return Failure(FailureCode::TooLarge,
                   fmt::format("a policy bundle has at most {} bytes", BundleBytesMax));
  }
  if (!BeginsBundle(bytes)) return Bad("it does not begin as one");
  if (bytes.size() < sizeof header) return Bad("too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != Version) {
    return Bad(
        fmt::format("version {}, and this program reads version {}", header.version, Version));
  }
  if (header.is_signed > 1 || header.reserved != 0) return Bad("header");
  const ByteView payload = bytes.subspan(sizeof header);
  if (header.payload_bytes != payload.size()) return Bad("its length is not what its header says");
  if (Sha256(payload).bytes != header.payload) {
    return Failure(FailureCode::Tampered,
                   "the policy bundle's bytes are not those that were written; fetch it again");
  }
  if (header.is_signed == 0) {
    if (header.key != Ed25519PublicKey{} || header.signature != Ed25519Signature{}) {
      return Bad("header");
    }
    if (trusted.empty()) return header;
    return Failure(FailureCode::Denied,
                   "nobody signed the policy bundle, and only trusted signers are taken; make it "
                   "again with `curfew compile --sign KEY`");
  }
  if (!VerifyEd25519(header.key, SignedPart(header), header.signature)) {
    return Failure(FailureCode::Tampered, "the policy bundle's signature does not hold");
  }
  if (!trusted.empty() && std::find(trusted.begin(), trusted.end(), header.key) == trusted.end()) {
    return Failure(FailureCode::Denied,
                   fmt::format("the policy bundle is signed by {}, who is not trusted here",
                               ToString(Sha256(header.key))));
  }
  return header;
}

// A piece of the payload, as the manifest speaks of it.
struct Piece {
  std::size_t bytes = 0;
  Digest digest;
};

std::optional<Piece> PieceOf(const JsonValue& value) {
  const JsonValue* bytes = value.Find("bytes");
  const JsonValue* digest = value.Find("digest");
  if (bytes == nullptr || !bytes->is(JsonValue::Kind::Integer) || bytes->integer < 0 ||
      digest == nullptr || !digest->is(JsonValue::Kind::String)) {
    return std::nullopt;
  }
  const std::optional<Digest> parsed = ParseDigest(digest->text);
  if (!parsed) return std::nullopt;
  return Piece{.bytes = static_cast<std::size_t>(bytes->integer), .digest = *parsed};
}

std::optional<std::string> TextOf(const JsonValue& value, std::string_view name) {
  const JsonValue* member = value.Find(name);
  if (member == nullptr || !member->is(JsonValue::Kind::String)) return std::nullopt;
  return member->text;
}

// Takes the manifest's pieces off `rest`, one after the other.
class PayloadReader {
 public:
  explicit PayloadReader(ByteView rest) : rest_(rest) {}

  Result<BundleContent> Read() {
    CURFEW_TRY(const ByteView manifest_bytes, Manifest());
    CURFEW_TRY(const JsonValue manifest, ParseJson(AsText(manifest_bytes)));
    BundleContent content;
    const JsonValue* language = manifest.Find("language");
    const JsonValue* packages = manifest.Find("packages");
    const JsonValue* module = manifest.Find("module");
    const JsonValue* files = manifest.Find("files");
    const auto compiler = TextOf(manifest, "compiler");
    const auto policy = ParseDigest(TextOf(manifest, "policy").value_or(""));
    if (language == nullptr || !language->is(JsonValue::Kind::Integer) || language->integer < 0 ||
        language->integer > UINT32_MAX || packages == nullptr || module == nullptr ||
        files == nullptr || !files->is(JsonValue::Kind::Array) || !compiler || !policy) {
      return Bad("its manifest lacks something");
    }
    content.language = static_cast<std::uint32_t>(language->integer);
    content.compiler = *compiler;
    content.policy = *policy;
    for (const JsonValue& package : packages->items) content.packages.push_back(package.text);
    CURFEW_TRY(const ByteView module_bytes, Take(PieceOf(*module)));
    content.module.assign(module_bytes.begin(), module_bytes.end());
    for (const JsonValue& file : files->items) {
      CURFEW_TRY(const ByteView text, Take(PieceOf(file)));
      std::string name = TextOf(file, "name").value_or("");
      if (!content.files.empty() && content.files.back().name >= name) {
        return Bad("its files are not in order");
      }
      content.files.push_back({.name = std::move(name), .text = std::string(AsText(text))});
    }
    if (!rest_.empty()) return Bad("bytes behind its last file");
    // One form: what the manifest says beyond this, or in another way, nobody has looked at.
    if (ManifestOf(content) != AsText(manifest_bytes))
      return Bad("its manifest is not in its form");
    return content;
  }

 private:
  Result<ByteView> Manifest() {
    std::array<std::uint32_t, 2> begin{};
    if (rest_.size() < sizeof begin) return Bad("too short");
    std::memcpy(begin.data(), rest_.data(), sizeof begin);
    const std::size_t end = sizeof begin + begin[0];
    const std::size_t padded = (end + Alignment - 1) / Alignment * Alignment;
    if (begin[1] != 0 || begin[0] > limits::JsonBytesMax || rest_.size() < padded) {
      return Bad("no room for its manifest");
    }
    const ByteView padding = rest_.subspan(end, padded - end);
    if (std::any_of(padding.begin(), padding.end(), [](std::uint8_t byte) { return byte != 0; })) {
      return Bad("bytes behind its manifest");
    }
    const ByteView manifest = rest_.subspan(sizeof begin, begin[0]);
    rest_ = rest_.subspan(padded);
    return manifest;
  }

  Result<ByteView> Take(const std::optional<Piece>& piece) {
    if (!piece || piece->bytes > rest_.size()) return Bad("a piece that is not there");
    const ByteView bytes = rest_.first(piece->bytes);
    if (Sha256(bytes) != piece->digest) return Bad("a piece that is not what its digest says");
    rest_ = rest_.subspan(piece->bytes);
    return bytes;
  }

  ByteView rest_;
};

}  // namespace

bool BeginsBundle(ByteView bytes) {
  return bytes.size() >= Magic.size() && std::equal(Magic.begin(), Magic.end(), bytes.begin());
}

Bytes WriteBundle(BundleContent content, const std::optional<BundleSigner>& signer) {
  std::sort(content.files.begin(), content.files.end(),
            [](const BundleFile& a, const BundleFile& b) { return a.name < b.name; });
  const std::string manifest = ManifestOf(content);
  Bytes bundle(sizeof(Header));
  const std::array<std::uint32_t, 2> begin = {static_cast<std::uint32_t>(manifest.size()), 0};
  const auto* begin_bytes = reinterpret_cast<const std::uint8_t*>(begin.data());
  bundle.insert(bundle.end(), begin_bytes, begin_bytes + sizeof begin);
  bundle.insert(bundle.end(), manifest.begin(), manifest.end());
  bundle.resize((bundle.size() + Alignment - 1) / Alignment * Alignment);
  bundle.insert(bundle.end(), content.module.begin(), content.module.end());
  for (const BundleFile& file : content.files) {
    bundle.insert(bundle.end(), file.text.begin(), file.text.end());
  }
  Header header;
  const ByteView payload = ByteView(bundle).subspan(sizeof header);
  header.payload_bytes = payload.size();
  header.payload = Sha256(payload).bytes;
  if (signer) {
    header.is_signed = 1;
    header.key = signer->key;
    header.signature = signer->sign(SignedPart(header));
  }
  std::memcpy(bundle.data(), &header, sizeof header);
  return bundle;
}

Result<Bundle> ReadBundle(ByteView bytes, std::span<const Ed25519PublicKey> trusted) {
  CURFEW_TRY(const Header header, ReadHeader(bytes, trusted));
  Bundle bundle;
  CURFEW_TRY(bundle.content, PayloadReader(bytes.subspan(sizeof header)).Read());
  if (header.is_signed == 1) bundle.signer = header.key;
  return bundle;
}

}  // namespace curfew::module
