#include "compiler/syntax/block_form.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"

#include <algorithm>

namespace curfew::syntax {

namespace {

using Words = std::string_view;

constexpr Words FileWords[] = {"language", "package", "use",     "attributes", "image",   "secret",
                               "hosts",    "digests", "strings", "addresses",  "sandbox", "every",
                               "deny",     "require", "never",   "trial",      "test"};
constexpr Words ImageDeclarationWords[] = {"ref", "digest"};
constexpr Words SecretWords[] = {"from", "send"};
constexpr Words SandboxWords[] = {"image",    "identity", "filesystem", "network", "lifetime",
                                  "evidence", "deny",     "require",    "never",   "trial"};
constexpr Words ImageWords[] = {"allow", "exec", "size", "isolation"};
constexpr Words IdentityWords[] = {"token", "secrets", "env", "access"};
constexpr Words FilesystemWords[] = {"scratch", "import", "export", "persist", "snapshot"};
constexpr Words NetworkWords[] = {"tls", "allow", "deny", "trial", "limit", "expose"};
constexpr Words LifetimeWords[] = {"ttl", "idle", "frozen", "renew", "grace"};
constexpr Words EvidenceWords[] = {"record", "redact", "retain"};
constexpr Words KeepWords[] = {"reason",   "owner", "expires", "size",  "keep",
                               "branches", "from",  "renews",  "shared"};
constexpr Words TestWords[] = {"given",  "after",  "at",      "freeze", "close",  "reload",
                               "create", "resume", "exec",    "egress", "expose", "snapshot",
                               "import", "export", "observe", "extend"};
constexpr Words Inner[] = {
    "and",      "or",        "not",     "in",       "has",    "true",   "false",    "when",
    "because",  "where",     "any",     "all",      "none",   "allow",  "deny",     "internet",
    "connect",  "websocket", "narrows", "by",       "name",   "to",     "from",     "header",
    "restated", "audience",  "lives",   "each",     "at",     "most",   "class",    "port",
    "ports",    "query",     "with",    "encoded",  "slash",  "using",  "requests", "request",
    "per",      "for",       "then",    "times",    "except", "until",  "create",   "resume",
    "exec",     "egress",    "expose",  "snapshot", "import", "export", "extend",   "observe",
    "only",     "trial",     "count",   "matches",  "starts", "subset", "of",       "intersects",
    "set",      "list"};

constexpr Block Blocks[] = {Block::File,     Block::Attributes, Block::ImageDeclaration,
                            Block::Secret,   Block::Sandbox,    Block::Image,
                            Block::Identity, Block::Filesystem, Block::Network,
                            Block::Lifetime, Block::Evidence,   Block::Keep,
                            Block::Test};

}  // namespace

std::string_view NameOf(Block block) {
  switch (block) {
    case Block::File:
      return "a policy file";
    case Block::Attributes:
      return "`attributes`";
    case Block::ImageDeclaration:
      return "an image declaration";
    case Block::Secret:
      return "`secret`";
    case Block::Sandbox:
      return "`sandbox`";
    case Block::Image:
      return "`image`";
    case Block::Identity:
      return "`identity`";
    case Block::Filesystem:
      return "`filesystem`";
    case Block::Network:
      return "`network`";
    case Block::Lifetime:
      return "`lifetime`";
    case Block::Evidence:
      return "`evidence`";
    case Block::Keep:
      return "`persist` or `snapshot`";
    case Block::Test:
      return "`test`";
  }
  CURFEW_UNREACHABLE("the switch names every block");
}

std::span<const std::string_view> WordsOf(Block block) {
  switch (block) {
    case Block::File:
      return FileWords;
    case Block::Attributes:
      return {};
    case Block::ImageDeclaration:
      return ImageDeclarationWords;
    case Block::Secret:
      return SecretWords;
    case Block::Sandbox:
      return SandboxWords;
    case Block::Image:
      return ImageWords;
    case Block::Identity:
      return IdentityWords;
    case Block::Filesystem:
      return FilesystemWords;
    case Block::Network:
      return NetworkWords;
    case Block::Lifetime:
      return LifetimeWords;
    case Block::Evidence:
      return EvidenceWords;
    case Block::Keep:
      return KeepWords;
    case Block::Test:
      return TestWords;
  }
  CURFEW_UNREACHABLE("the switch names every block");
}

bool TakesLabels(Block block) {
  return block == Block::File || block == Block::Attributes || block == Block::Sandbox ||
         block == Block::Filesystem || block == Block::Network;
}

Block BlockOf(PlaneKind plane) {
  switch (plane) {
    case PlaneKind::Image:
      return Block::Image;
    case PlaneKind::Identity:
      return Block::Identity;
    case PlaneKind::Filesystem:
      return Block::Filesystem;
    case PlaneKind::Network:
      return Block::Network;
    case PlaneKind::Lifetime:
      return Block::Lifetime;
    case PlaneKind::Evidence:
      return Block::Evidence;
  }
  CURFEW_UNREACHABLE("the switch names every plane");
}

std::optional<std::string_view> HomeOf(std::string_view word) {
  const auto is_of = [&](Block block) {
    const auto words = WordsOf(block);
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // `image` is two things; a rule is one, and stands in either.
  if (is_of(Block::File) && is_of(Block::Sandbox) && word != "image") {
    return "`sandbox`, beside its planes, or in a policy file, beside its classes";
  }
  for (const Block block : Blocks) {
    if (is_of(block)) return NameOf(block);
  }
  return std::nullopt;
}

bool IsPlaneWord(std::string_view word) {
  for (const Block block : {Block::Sandbox, Block::Image, Block::Identity, Block::Filesystem,
                            Block::Network, Block::Lifetime, Block::Evidence}) {
    const auto words = WordsOf(block);
    if (std::find(words.begin(), words.end(), word) != words.end()) return true;
  }
  return false;
}

bool IsPlaneName(std::string_view word) {
  return word == "image" || word == "identity" || word == "filesystem" || word == "network" ||
         word == "lifetime" || word == "evidence";
}

std::optional<std::string_view> ReservedForm(Block block, std::string_view first,
                                             std::string_view second) {
  if (first == "approve" || first == "approval" || first == "approvals" ||
      (first == "require" && (second == "approval" || second == "approvals"))) {
    return "an approval";
  }
  if (block == Block::File && first == "network" && second != "{") {
    return "a shared rule group (`network NAME { … }`)";
  }
  if (block == Block::File && first == "data") return "`data`, a read-only input,";
  if (block == Block::Network && first == "include") return "`include`";
  if (block == Block::Network && first == "allow" && second == "mcp") return "`allow mcp`";
  if (block == Block::Filesystem && first == "read") return "`read`, a read-only input,";
  return std::nullopt;
}

std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> words) {
  // Short words are near to too many others.
  const std::size_t limit = word.size() <= 2 ? 0 : word.size() <= 4 ? 1 : 2;
  std::optional<std::string_view> nearest;
  std::size_t least = limit + 1;
  if (word.size() > 32) return nearest;
  for (const std::string_view candidate : words) {
    const std::size_t distance = EditDistance(word, candidate, limit);
    if (distance > 0 && distance < least && distance + 1 < candidate.size()) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::span<const std::string_view> InnerWords() { return Inner; }

}  // namespace curfew::syntax
