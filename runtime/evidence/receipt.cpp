#include "runtime/evidence/receipt.h"

#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/format.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::evidence {

namespace {

constexpr Isolation Isolations[] = {Isolation::Kvm, Isolation::Emulated, Isolation::None};

std::string_view StatementOf(Isolation isolation) {
  switch (isolation) {
    case Isolation::Kvm:
      return "hardware virtualisation";
    case Isolation::Emulated:
      return "emulation is no security boundary";
    case Isolation::None:
      return "no machine was started";
  }
  CURFEW_UNREACHABLE("the switch names every isolation");
}

std::string SubjectOf(const Incarnation& incarnation) { return "sandbox/" + ToString(incarnation); }

// in-toto wants a string: any byte outside the unreserved ones of a URI path is percent-encoded.
std::string SubjectOf(const ExportedFile& file) {
  std::string name = "export/";
  for (const char c : file.name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      name.push_back(c);
    } else {
      name += fmt::format("%{:02X}", static_cast<std::uint8_t>(c));
    }
  }
  return name;
}

Json SubjectsOf(const Receipt& receipt) {
  const auto subject = [](const std::string& name, const Digest& digest) {
    return Json{{"name", name}, {"digest", {{"sha256", Hex(digest.bytes)}}}};
  };
  Json subjects = Json::array();
  const std::string incarnation = SubjectOf(receipt.sandbox);
  subjects.push_back(subject(incarnation, Sha256(AsBytes(incarnation))));
  for (const ExportedFile& file : receipt.exports) {
    subjects.push_back(subject(SubjectOf(file), file.digest));
  }
  return subjects;
}

template <typename Item, typename Encode>
Json ArrayOf(const std::vector<Item>& items, Encode encode) {
  Json array = Json::array();
  for (const Item& item : items) array.push_back(encode(item));
  return array;
}

void PutOptional(Json& object, const char* name, const auto& value) {
  if (value) object[name] = *value;
}

Json EncodeCommand(const CommandResult& command) {
  Json json = {{"argv", command.argv},
               {"started", command.started},
               {"reason", command.reason},
               {"timed_out", command.timed_out}};
  PutOptional(json, "allowed", command.allowed);
  PutOptional(json, "exit_status", command.exit_status);
  PutOptional(json, "signal", command.signal);
  return json;
}

Json EncodeResidue(const ResidueReport& report) {
  return {{"classes", ArrayOf(report.classes,
                              [](const ResidueCount& count) {
                                return Json{{"class", NameOf(count.residue_class)},
                                            {"looked_at", count.looked_at},
                                            {"destroyed", count.destroyed},
                                            {"kept", count.kept},
                                            {"unknown", count.unknown},
                                            {"passed_over", count.passed_over}};
                              })},
          {"findings", ArrayOf(report.findings,
                               [](const ResidueFinding& finding) {
                                 return Json{{"class", NameOf(finding.residue_class)},
                                             {"fate", NameOf(finding.fate)},
                                             {"identity", finding.identity},
                                             {"why", finding.why}};
                               })},
          {"verdict", NameOf(report.verdict())}};
}

Json EncodePredicate(const Receipt& receipt) {
  Json times = {{"requested_ms", receipt.requested_ms},
                {"closing_ms", receipt.closing_ms},
                {"closed_ms", receipt.closed_ms}};
  PutOptional(times, "ready_ms", receipt.ready_ms);
  PutOptional(times, "deadline_ms", receipt.deadline_ms);
  if (receipt.deadline_ms) times["grace_ms"] = receipt.grace_ms;
  PutOptional(times, "ended_ms", receipt.ended_ms);
  PutOptional(times, "overrun_ms", receipt.overrun_ms());
  Json predicate = {
      {"version", FormatVersion},
      {"sandbox", {{"id", receipt.sandbox.id}, {"nonce", receipt.sandbox.nonce}}},
      {"task", receipt.task_id},
      {"owner", receipt.owner},
      {"creator", receipt.creator},
      {"class", receipt.sandbox_class},
      {"policy", {{"digest", receipt.policy_digest}, {"generation", receipt.policy_generation}}},
      {"reloads", ArrayOf(receipt.reloads,
                          [](const PolicyChange& change) {
                            return Json{{"at_ms", change.at_ms},
                                        {"digest", change.digest},
                                        {"generation", change.generation}};
                          })},
      {"reloads_omitted", receipt.reloads_omitted},
      {"image", receipt.image_digest},
      {"isolation",
       {{"kind", NameOf(receipt.isolation)}, {"statement", StatementOf(receipt.isolation)}}},
      {"times", times},
      {"late", receipt.is_late()},
      {"close_reason", receipt.close_reason},
      {"keeper_note", receipt.keeper_note},
      {"decisions", {{"allowed", receipt.decisions.allowed}, {"denied", receipt.decisions.denied}}},
      {"commands", ArrayOf(receipt.commands, EncodeCommand)},
      {"commands_omitted", receipt.commands_omitted},
      {"processes",
       ArrayOf(receipt.processes,
               [](const EndedProcess& process) {
                 return Json{{"pid", process.pid}, {"argv", process.argv}, {"how", process.how}};
               })},
      {"processes_omitted", receipt.processes_omitted},
      {"resources", ArrayOf(receipt.resources,
                            [](const ResourceOutcome& resource) {
                              return Json{{"class", resource.resource_class},
                                          {"identity", resource.identity},
                                          {"fate", NameOf(resource.fate)},
                                          {"detail", resource.detail}};
                            })},
      {"exports", ArrayOf(receipt.exports,
                          [](const ExportedFile& file) {
                            return Json{{"name", file.name},
                                        {"bytes", file.bytes},
                                        {"digest", ToString(file.digest)}};
                          })},
      {"flows", EncodeFlowSummary(receipt.flows)},
      {"residue", EncodeResidue(receipt.residue)},
      {"records", {{"count", receipt.record_count}, {"head", ToString(receipt.record_head)}}},
      {"verdict", NameOf(receipt.verdict())}};
  if (receipt.supersedes) predicate["supersedes"] = ToString(*receipt.supersedes);
  return predicate;
}

Digest DigestIn(ObjectReader& reader, std::string_view name) {
  const std::optional<Digest> digest = ParseDigest(reader.Text(name));
  if (!digest) reader.Refuse(fmt::format("has no digest in `{}`", name));
  return digest.value_or(Digest{});
}

Fate FateIn(ObjectReader& reader) {
  const std::optional<Fate> fate = ParseFate(reader.Text("fate"));
  if (!fate) reader.Refuse("has an unknown fate");
  return fate.value_or(Fate::Unknown);
}

ResidueClass ClassIn(ObjectReader& reader) {
  const std::optional<ResidueClass> one = ParseResidueClass(reader.Text("class"));
  if (!one) reader.Refuse("has an unknown class");
  return one.value_or(ResidueClass::Process);
}

// Decodes each item of an array by a function that reads an ObjectReader.
template <typename Item, typename Decode>
Outcome DecodeArray(const JsonValue& array, const char* what, std::vector<Item>& into,
                    Decode decode) {
  for (const JsonValue& value : array.items) {
    ObjectReader reader(value, what);
    Item item;
    decode(reader, item);
    CURFEW_TRY_VOID(reader.Finish());
    into.push_back(std::move(item));
  }
  return Ok();
}

void DecodeCommand(ObjectReader& reader, CommandResult& command) {
  command.argv = reader.Texts("argv");
  command.allowed = reader.OptionalFlag("allowed");
  command.started = reader.Flag("started");
  command.reason = reader.Text("reason");
  command.timed_out = reader.Flag("timed_out");
  if (const auto status = reader.OptionalInteger("exit_status")) {
    command.exit_status = static_cast<int>(*status);
  }
  if (const auto signal = reader.OptionalInteger("signal")) {
    command.signal = static_cast<int>(*signal);
  }
}

Outcome DecodeResidue(const JsonValue& value, ResidueReport& report) {
  ObjectReader reader(value, "residue");
  CURFEW_TRY_VOID(DecodeArray(reader.Array("classes"), "class of residue", report.classes,
                              [](ObjectReader& item, ResidueCount& count) {
                                count.residue_class = ClassIn(item);
                                count.looked_at = item.Count("looked_at");
                                count.destroyed = item.Count("destroyed");
                                count.kept = item.Count("kept");
                                count.unknown = item.Count("unknown");
                                count.passed_over = item.Count("passed_over");
                              }));
  CURFEW_TRY_VOID(DecodeArray(reader.Array("findings"), "finding", report.findings,
                              [](ObjectReader& item, ResidueFinding& finding) {
                                finding.residue_class = ClassIn(item);
                                finding.fate = FateIn(item);
                                finding.identity = item.Text("identity");
                                finding.why = item.Text("why");
                              }));
  static_cast<void>(reader.Text("verdict"));  // derived; the caller compares the whole spelling
  return reader.Finish();
}

Outcome DecodeLists(ObjectReader& reader, Receipt& receipt) {
  CURFEW_TRY_VOID(
      DecodeArray(reader.Array("commands"), "command", receipt.commands, DecodeCommand));
  CURFEW_TRY_VOID(DecodeArray(reader.Array("processes"), "process", receipt.processes,
                              [](ObjectReader& item, EndedProcess& process) {
                                process.pid = item.Integer("pid");
                                process.argv = item.Texts("argv");
                                process.how = item.Text("how");
                              }));
  CURFEW_TRY_VOID(DecodeArray(reader.Array("resources"), "resource", receipt.resources,
                              [](ObjectReader& item, ResourceOutcome& resource) {
                                resource.resource_class = item.Text("class");
                                resource.identity = item.Text("identity");
                                resource.fate = FateIn(item);
                                resource.detail = item.Text("detail");
                              }));
  CURFEW_TRY_VOID(DecodeArray(reader.Array("exports"), "export", receipt.exports,
                              [](ObjectReader& item, ExportedFile& file) {
                                file.name = item.Text("name");
                                file.bytes = item.Count("bytes");
                                file.digest = DigestIn(item, "digest");
                              }));
  CURFEW_TRY_VOID(DecodeArray(reader.Array("reloads"), "reload", receipt.reloads,
                              [](ObjectReader& item, PolicyChange& change) {
                                change.at_ms = item.Integer("at_ms");
                                change.digest = item.Text("digest");
                                change.generation = item.Count("generation");
                              }));
  CURFEW_TRY(receipt.flows, DecodeFlowSummary(reader.Object("flows")));
  return DecodeResidue(reader.Object("residue"), receipt.residue);
}

// An object inside the predicate, read by a function.
template <typename Decode>
Outcome DecodeObject(ObjectReader& reader, const char* name, Decode decode) {
  ObjectReader inner(reader.Object(name), name);
  decode(inner);
  return inner.Finish();
}

Outcome DecodePredicate(const JsonValue& value, Receipt& receipt) {
  ObjectReader reader(value, "receipt");
  if (reader.Integer("version") != FormatVersion) reader.Refuse("is of another version");
  CURFEW_TRY_VOID(DecodeObject(reader, "sandbox", [&](ObjectReader& inner) {
    receipt.sandbox = {inner.Text("id"), inner.Text("nonce")};
    if (!IsSandboxId(receipt.sandbox.id) || !IsNonce(receipt.sandbox.nonce)) {
      inner.Refuse("is no incarnation");
    }
  }));
  receipt.task_id = reader.Text("task");
  receipt.owner = reader.Text("owner");
  receipt.creator = reader.Text("creator");
  receipt.sandbox_class = reader.Text("class");
  CURFEW_TRY_VOID(DecodeObject(reader, "policy", [&](ObjectReader& inner) {
    receipt.policy_digest = inner.Text("digest");
    receipt.policy_generation = inner.Count("generation");
  }));
  receipt.image_digest = reader.Text("image");
  CURFEW_TRY_VOID(DecodeObject(reader, "isolation", [&](ObjectReader& inner) {
    const std::string kind = inner.Text("kind");
    const auto found = std::find_if(std::begin(Isolations), std::end(Isolations),
                                    [&](Isolation one) { return NameOf(one) == kind; });
    if (found == std::end(Isolations)) return inner.Refuse("is of an unknown kind");
    receipt.isolation = *found;
    static_cast<void>(inner.Text("statement"));
  }));
  CURFEW_TRY_VOID(DecodeObject(reader, "times", [&](ObjectReader& inner) {
    receipt.requested_ms = inner.Integer("requested_ms");
    receipt.ready_ms = inner.OptionalInteger("ready_ms");
    receipt.deadline_ms = inner.OptionalInteger("deadline_ms");
    if (receipt.deadline_ms) receipt.grace_ms = inner.Integer("grace_ms");
    receipt.ended_ms = inner.OptionalInteger("ended_ms");
    static_cast<void>(inner.OptionalInteger("overrun_ms"));  // derived, as `late` is
    receipt.closing_ms = inner.Integer("closing_ms");
    receipt.closed_ms = inner.Integer("closed_ms");
  }));
  static_cast<void>(reader.Flag("late"));
  receipt.close_reason = reader.Text("close_reason");
  receipt.keeper_note = reader.Text("keeper_note");
  CURFEW_TRY_VOID(DecodeObject(reader, "decisions", [&](ObjectReader& inner) {
    receipt.decisions = {inner.Count("allowed"), inner.Count("denied")};
  }));
  receipt.commands_omitted = reader.Count("commands_omitted");
  receipt.processes_omitted = reader.Count("processes_omitted");
  receipt.reloads_omitted = reader.Count("reloads_omitted");
  CURFEW_TRY_VOID(DecodeLists(reader, receipt));
  CURFEW_TRY_VOID(DecodeObject(reader, "records", [&](ObjectReader& inner) {
    receipt.record_count = inner.Count("count");
    receipt.record_head = DigestIn(inner, "head");
  }));
  if (const std::optional<std::string> earlier = reader.OptionalText("supersedes")) {
    receipt.supersedes = ParseDigest(*earlier);
    if (!receipt.supersedes) reader.Refuse("has no digest in `supersedes`");
  }
  static_cast<void>(reader.Text("verdict"));
  return reader.Finish();
}

// At most `bytes` of arguments, the cut marked.
void ShortenArguments(std::vector<std::string>& argv, std::size_t bytes) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (argv[i].size() < bytes) {
      bytes -= argv[i].size() + 1;
      continue;
    }
    argv[i] = argv[i].substr(0, bytes) + "…";
    argv.resize(i + 1);
  }
}

template <typename Item>
void Shorten(std::vector<Item>& items, std::uint64_t& omitted, std::size_t count,
             std::size_t argument_bytes) {
  if (items.size() > count) {
    omitted += items.size() - count;
    items.resize(count);
  }
  for (Item& item : items) ShortenArguments(item.argv, argument_bytes);
}

}  // namespace

std::string_view NameOf(Isolation isolation) {
  switch (isolation) {
    case Isolation::Kvm:
      return "kvm";
    case Isolation::Emulated:
      return "emulated";
    case Isolation::None:
      return "none";
  }
  CURFEW_UNREACHABLE("the switch names every isolation");
}

Cleanness Receipt::verdict() const {
  const Cleanness searched = residue.verdict();
  const bool unsure = std::any_of(resources.begin(), resources.end(), [](const auto& resource) {
    return resource.fate == Fate::Unknown;
  });
  return searched == Cleanness::Clean && unsure ? Cleanness::Unknown : searched;
}

std::optional<std::int64_t> Receipt::overrun_ms() const {
  if (!deadline_ms || !ended_ms) return std::nullopt;
  std::int64_t overrun = 0;
  if (__builtin_sub_overflow(*ended_ms, *deadline_ms, &overrun) ||
      __builtin_sub_overflow(overrun, grace_ms, &overrun)) {
    return std::nullopt;  // no times of this world; such a receipt contradicts itself
  }
  return std::max<std::int64_t>(overrun, 0);
}

bool Receipt::is_late() const { return overrun_ms().value_or(0) > OverrunMaxMs; }

void Abridge(Receipt& receipt) {
  // The envelope's base64 is a third longer; the rest of the receipt has its own bounds.
  constexpr std::size_t StatementBytesMax = ReceiptBytesMax * 3 / 4 - 4096;
  std::size_t count = 4096;
  for (std::size_t argument_bytes = 4096; argument_bytes >= 16; argument_bytes /= 2, count /= 2) {
    Shorten(receipt.commands, receipt.commands_omitted, count, argument_bytes);
    Shorten(receipt.processes, receipt.processes_omitted, count, argument_bytes);
    const Result<std::string> statement = EncodeStatement(receipt);
    if (!statement || statement->size() <= StatementBytesMax) return;
  }
}

Result<std::string> EncodeStatement(const Receipt& receipt) {
  return Canonical({{"_type", StatementType},
                    {"subject", SubjectsOf(receipt)},
                    {"predicateType", PredicateType},
                    {"predicate", EncodePredicate(receipt)}});
}

Result<Receipt> DecodeStatement(std::string_view statement) {
  CURFEW_TRY(const JsonValue value, ParseCanonical(statement));
  ObjectReader reader(value, "statement");
  if (reader.Text("_type") != StatementType) reader.Refuse("is no in-toto Statement v1");
  if (reader.Text("predicateType") != PredicateType) reader.Refuse("is no receipt");
  static_cast<void>(reader.Array("subject"));
  const JsonValue& predicate = reader.Object("predicate");
  CURFEW_TRY_VOID(reader.Finish());
  Receipt receipt;
  CURFEW_TRY_VOID(DecodePredicate(predicate, receipt));
  // What is derived (subjects, verdicts, the isolation's statement) must be what we would write.
  CURFEW_TRY(const std::string again, EncodeStatement(receipt));
  if (again != statement) {
    return Failure(FailureCode::Malformed,
                   "the statement contradicts itself: its subjects or "
                   "verdicts do not follow from its predicate");
  }
  return receipt;
}

Bytes PreAuthentication(std::string_view payload_type, std::string_view payload) {
  const std::string text =
      fmt::format("DSSEv1 {} {} {} {}", payload_type.size(), payload_type, payload.size(), payload);
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

std::string SealEnvelope(std::string_view statement, const SigningKey& key) {
  const Ed25519Signature signature = key.Sign(PreAuthentication(PayloadType, statement));
  const Json envelope = {{"payload", Base64(AsBytes(statement))},
                         {"payloadType", PayloadType},
                         {"signatures", {{{"keyid", key.key_id()}, {"sig", Base64(signature)}}}}};
  return envelope.dump() + "\n";
}

Result<std::string> OpenEnvelope(std::string_view envelope, const Ed25519PublicKey& key) {
  const auto tampered = [](std::string_view why) {
    return Failure(FailureCode::Tampered, std::string(why));
  };
  if (!envelope.ends_with('\n')) return tampered("the envelope ends too early");
  envelope.remove_suffix(1);
  const Result<JsonValue> value = ParseCanonical(envelope);
  if (!value) return tampered(value.error().message);
  ObjectReader reader(*value, "envelope");
  const std::optional<Bytes> payload = FromBase64(reader.Text("payload"));
  if (!payload) reader.Refuse("has no base64 in `payload`");
  if (reader.Text("payloadType") != PayloadType) reader.Refuse("holds another type of payload");
  const JsonValue& signatures = reader.Array("signatures");
  if (signatures.items.size() != 1) reader.Refuse("must have exactly one signature");
  const Outcome outer = reader.Finish();
  if (!outer) return tampered(outer.error().message);

  ObjectReader inner(signatures.items.front(), "signature");
  const std::string key_id = inner.Text("keyid");
  const std::optional<Bytes> bytes = FromBase64(inner.Text("sig"));
  Ed25519Signature signature{};
  if (!bytes || bytes->size() != signature.size()) inner.Refuse("has no signature in `sig`");
  const Outcome whole = inner.Finish();
  if (!whole) return tampered(whole.error().message);
  if (key_id != KeyIdOf(key)) {
    return tampered(fmt::format("signed by another key, {}; the trusted one is {}",
                                Printable(key_id, 80), KeyIdOf(key)));
  }
  std::copy(bytes->begin(), bytes->end(), signature.begin());
  if (!VerifyEd25519(key, PreAuthentication(PayloadType, AsText(*payload)), signature)) {
    return tampered("the signature does not hold");
  }
  return std::string(AsText(*payload));
}

}  // namespace curfew::evidence
