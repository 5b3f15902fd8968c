#include "runtime/evidence/heads.h"

#include "runtime/evidence/canonical_json.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

constexpr int LockWaitMs = 10'000;

Json HeadJson(const Head& head, const std::string& key_id) {
  return {{"version", FormatVersion},
          {"sandbox", head.sandbox.id},
          {"nonce", head.sandbox.nonce},
          {"count", head.count},
          {"head", ToString(head.head)},
          {"at_ms", head.at_ms},
          {"key", key_id}};
}

// The signature covers the place in the chain too, so that no head can be taken out or moved.
Bytes Signed(std::uint64_t sequence, const Digest& previous, const std::string& body) {
  const std::string text =
      fmt::format("curfew head v1\n{}\n{}\n{}", sequence, ToString(previous), body);
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

struct Tail {
  std::uint64_t count = 0;
  Digest head = HeadsGenesis();
};

// The end of the chain, read from the end of the file.
Result<std::optional<Tail>> ReadTail(host::AppendFile& file) {
  if (file.size() == 0) return std::optional<Tail>(Tail{});
  if (file.size() < HeaderBytes + TrailerBytes) return std::optional<Tail>();
  CURFEW_TRY(const Bytes trailer, file.ReadAt(file.size() - TrailerBytes, TrailerBytes));
  const std::uint64_t bytes = ReadU32(trailer);
  if (bytes > file.size() || bytes > FrameBytesMax || bytes < HeaderBytes) {
    return std::optional<Tail>();
  }
  CURFEW_TRY(const Bytes last, file.ReadAt(file.size() - bytes, bytes));
  const std::optional<Frame> frame = DecodeFrame(last);
  if (!frame) return std::optional<Tail>();
  return std::optional<Tail>(Tail{frame->sequence + 1, frame->hash});
}

// Cuts what a crash left; Tampered if it cannot have been one.
Result<Tail> Repair(host::Files& files, const std::string& path, host::AppendFile& file) {
  CURFEW_TRY(const Bytes bytes, files.ReadWhole(path, ChainBytesMax));
  const ChainScan scan = ScanChain(bytes, HeadsGenesis());
  if (scan.end == ChainScan::End::Broken) {
    return Failure(FailureCode::Tampered,
                   fmt::format("{}, record {}: {}", Printable(path), scan.frames.size(), scan.why));
  }
  CURFEW_TRY_VOID(file.Truncate(scan.good_bytes));
  if (scan.frames.empty()) return Tail{};
  return Tail{scan.frames.size(), scan.frames.back().hash};
}

Result<SignedHead> DecodeHead(const Frame& frame, const Ed25519PublicKey& key) {
  CURFEW_TRY(const JsonValue value, ParseCanonical(frame.body));
  ObjectReader reader(value, "head");
  SignedHead decoded;
  decoded.hash = frame.hash;
  if (reader.Integer("version") != FormatVersion) reader.Refuse("is of another version");
  decoded.head.sandbox = {reader.Text("sandbox"), reader.Text("nonce")};
  decoded.head.count = reader.Count("count");
  const std::optional<Digest> digest = ParseDigest(reader.Text("head"));
  if (!digest) reader.Refuse("has no digest in `head`");
  decoded.head.at_ms = reader.Integer("at_ms");
  decoded.key_id = reader.Text("key");
  const std::optional<Bytes> signature = FromBase64(reader.Text("signature"));
  CURFEW_TRY_VOID(reader.Finish());
  decoded.head.head = *digest;

  Ed25519Signature bytes{};
  CURFEW_TRY(const std::string body, Canonical(HeadJson(decoded.head, decoded.key_id)));
  const bool fits = signature && signature->size() == bytes.size();
  if (fits) std::copy(signature->begin(), signature->end(), bytes.begin());
  if (decoded.key_id != KeyIdOf(key)) {
    return Failure(FailureCode::Tampered,
                   "it is signed by another key, " + Printable(decoded.key_id));
  }
  if (!fits || !VerifyEd25519(key, Signed(frame.sequence, frame.previous, body), bytes)) {
    return Failure(FailureCode::Tampered, "its signature does not hold");
  }
  return decoded;
}

}  // namespace

Outcome AppendHead(host::Files& files, const std::string& path, const SigningKey& key,
                   const Head& head) {
  CURFEW_TRY(const std::unique_ptr<host::FileLock> lock, files.Lock(path, LockWaitMs));
  CURFEW_TRY(const std::unique_ptr<host::AppendFile> file, files.OpenAppend(path, 0600));
  CURFEW_TRY(std::optional<Tail> tail, ReadTail(*file));
  if (!tail) {
    CURFEW_TRY(tail, Repair(files, path, *file));
  }
  Json json = HeadJson(head, key.key_id());
  CURFEW_TRY(const std::string body, Canonical(json));
  json["signature"] = Base64(key.Sign(Signed(tail->count, tail->head, body)));
  CURFEW_TRY(const std::string text, Canonical(json));
  CURFEW_TRY(const Bytes frame, EncodeFrame(tail->count, tail->head, text));
  CURFEW_TRY_VOID(file->Append(frame));
  return file->Sync();
}

Result<HeadsLog> ReadHeads(host::Files& files, const std::string& path,
                           const Ed25519PublicKey& key) {
  CURFEW_TRY(const Bytes bytes, files.ReadWhole(path, ChainBytesMax));
  const ChainScan scan = ScanChain(bytes, HeadsGenesis());
  HeadsLog log;
  for (const Frame& frame : scan.frames) {
    Result<SignedHead> head = DecodeHead(frame, key);
    if (!head) {
      return Failure(FailureCode::Tampered,
                     fmt::format("record {}: {}", frame.sequence, head.error().message));
    }
    log.of_sandbox[head->head.sandbox.id].push_back(log.heads.size());
    log.heads.push_back(*std::move(head));
  }
  if (scan.end == ChainScan::End::Broken) {
    return Failure(FailureCode::Tampered,
                   fmt::format("record {}: {}", scan.frames.size(), scan.why));
  }
  log.torn_bytes = bytes.size() - scan.good_bytes;
  log.torn_why = scan.why;
  return log;
}

}  // namespace curfew::evidence
