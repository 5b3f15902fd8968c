// PolicyModel: a policy set, resolved and typed. Plain data in vectors, linked by 32-bit ids; no
// text of the author is left to be judged. compiler/check makes it, compiler/lower turns it into
// decision code, compiler/testing runs its tests. It decides nothing.
//
// Order: everything is sorted by name or id, so that files, order and formatting leave no trace but
// spans. Print (print.h) shows all of it.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/model/expression.h"
#include "compiler/module/plan_template.h"
#include "compiler/schema/schema.h"
#include "compiler/source/source.h"
#include "compiler/values/url.h"

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace curfew::model {

enum class ClassId : std::uint32_t {};
// `every sandbox`: PolicyModel::floor.
inline constexpr ClassId FloorId{~std::uint32_t{0}};
enum class ImageId : std::uint32_t {};
enum class SecretId : std::uint32_t {};

// `ticket: string?` in `attributes task { … }`. The n-th of the set has the slot
// schema::DeclaredSlot(action, n).
struct DeclaredAttribute {
  std::string path;  // "task.ticket"
  Type type;
  bool restated = false;  // of `task` only: may be stated again on resume
  Span span;
};

struct Image {
  std::string name;
  std::string ref;  // empty where the declaration has none
  Digest digest;
  Span span;
};

// What a list holds, spelt once. Whoever names it has its elements already: it is here for the
// digest of the set.
struct List {
  std::string_view kind;  // hosts, addresses, digests, strings
  std::string name;
  std::vector<std::string> elements;  // sorted, each once
  Span span;
};

// A name and port that a secret may go to.
struct SecretHost {
  std::string name;
  std::uint16_t port = 443;
  friend auto operator<=>(const SecretHost&, const SecretHost&) = default;
};

// `secret token { from env "TOKEN"  send bearer to "api.example" }`
struct Secret {
  enum class From : std::uint8_t { Env, File };
  using Form = module::SecretForm;
  std::string name;
  From from = From::Env;
  std::string source;  // the variable, or the path of the file, on the host
  Form form = Form::Bearer;
  std::string header;             // that it goes in, lower case
  std::vector<SecretHost> hosts;  // sorted
  Span span;
};

// ---- Rules --------------------------------------------------------------------------------------

using ActionSet = std::bitset<schema::ActionCount>;

// `trial until TIME`: the rule is judged beside the decision and takes nothing away.
struct Trial {
  std::optional<std::int64_t> until_ms;  // from then on it says nothing
  Span span;
};

// `deny`, `require` and `never` of a class or of the whole set. A `require X` is here a deny whose
// condition is `not X`; a `never` denies like a deny, and is proven of the set.
struct Rule {
  std::string id;                   // language.md section 5.7
  std::optional<ClassId> of_class;  // without: of the whole set
  ActionSet actions;
  ExprId condition = NoExpr;  // holds without one
  std::string message;        // of `because`, may be empty
  bool never = false;
  std::optional<Trial> trial;
  Span span;
};

// ---- Planes -------------------------------------------------------------------------------------
// What a class writes, and only that: silence is an empty optional or vector, and the strictest
// meaning (section 5.4) is given to it by the lowering. Each written thing has the id that a
// verdict names it by.

// `X at most Y`, `X`, `at most Y`.
struct Bound {
  std::string id;
  module::Bound value;
  Span span;
};

struct ImageGrant {
  std::string id;
  ImageId image;
  Span span;
};

struct ExecGrant {
  enum class Reach : std::uint8_t { None, Any, Patterns };
  std::string id;
  Reach reach = Reach::None;
  std::vector<values::PathGlob> patterns;
  Span span;
};

struct ImagePlane {
  std::vector<ImageGrant> allow;   // by id
  std::optional<Span> allow_none;  // `allow none`
  std::optional<ExecGrant> exec;
  std::optional<Bound> cpu;
  std::optional<Bound> memory;
  std::optional<Bound> disk;
  std::optional<module::Isolation> isolation;
};

struct TokenGrant {
  std::string id;
  module::TokenGrant token;
  Span span;
};

// Who may ask beyond creator, owner and operators.
struct AccessGrant {
  std::string id;
  bool any = false;                     // everybody
  std::vector<std::string> principals;  // sorted; empty with `access none`
  Span span;
};

struct SecretGrant {
  std::string id;
  SecretId secret;
};
// `secrets a, b`; `secrets none` grants none.
struct SecretsGrant {
  std::vector<SecretGrant> secrets;  // by id
  Span span;
};

// `env "LANG"`; `env none` grants none.
struct EnvGrant {
  std::string id;
  std::vector<std::string> names;  // sorted
  Span span;
};

struct IdentityPlane {
  std::optional<TokenGrant> token;
  std::optional<SecretsGrant> secrets;
  std::optional<EnvGrant> env;
  std::optional<AccessGrant> access;
};

struct Scratch {
  std::string path;
  std::int64_t bytes = 0;
  Span span;
};

struct TransferRule {
  enum class Direction : std::uint8_t { Import, Export };
  Direction direction = Direction::Export;
  std::string id;
  std::vector<values::PathGlob> patterns;  // sorted
  bool each = false;                       // the bound is of each file, not of the sum
  Bound size;
  ExprId condition = NoExpr;
  std::string message;
  Span span;
};

// `persist deps "/cache" 2GiB { … }`.
struct Persist {
  std::string id;
  module::Volume volume;
  Span span;
};

// `snapshot disk { … }`. What is not written is nothing that bounds, but for `branches`: one.
struct SnapshotRule {
  std::string id;
  module::SnapshotKind kind = module::SnapshotKind::Disk;
  Bound expires;
  std::optional<Bound> size;
  std::optional<Bound> keep;
  std::optional<Bound> branches;
  std::vector<ClassId> from;  // sorted
  bool renews = false;
  Span span;
};

struct FilesystemPlane {
  std::vector<Scratch> scratch;         // by path
  std::vector<Persist> persists;        // by name
  std::optional<Span> persist_none;     // `persist none`
  std::vector<SnapshotRule> snapshots;  // by kind
  std::optional<Span> snapshot_none;    // `snapshot none`
  std::vector<TransferRule> imports;    // by id
  std::optional<Span> imports_none;     // `import none`
  std::vector<TransferRule> exports;    // by id
  std::optional<Span> exports_none;     // `export none`
};

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;  // included
  friend auto operator<=>(const PortRange&, const PortRange&) = default;
};

// What one target of a network rule covers: every given part must agree.
struct EgressTarget {
  bool http = false;
  bool https = false;
  bool tcp = false;
  bool internet = false;                 // every name, and no address
  std::optional<values::Place> place;    // without: every name and every address
  std::vector<PortRange> ports;          // empty: every port
  std::optional<values::PathGlob> path;  // without: every path
  friend auto operator<=>(const EgressTarget&, const EgressTarget&) = default;
};

// `query k == "v"`: a parameter, decoded and unique.
struct QueryTerm {
  std::string key;
  std::string value;
  friend auto operator<=>(const QueryTerm&, const QueryTerm&) = default;
};

// `allow` and `deny` of a network plane. The effect says how text is read: an allow compares paths
// exactly, a deny without regard to ASCII case, and judges every alias of the name.
struct EgressRule {
  enum class Effect : std::uint8_t { Allow, Deny };
  std::string id;
  Effect effect = Effect::Deny;
  // Sorted. Empty: every method, and what has none (a byte stream).
  std::vector<std::string> methods;
  std::vector<EgressTarget> targets;  // any of them; never empty
  // About requests that HTTP become a WebSocket; an allow of anything else is not about them.
  bool websocket = false;
  std::vector<QueryTerm> query;    // sorted; all of them
  std::optional<SecretId> secret;  // `using`: the gateway adds it. Allows only.
  bool encoded_slash = false;      // an escaped slash in a path is one letter of it. Allows only.
  // `at`: every resolved address must lie in one of them, and the bar on private addresses is
  // lifted for this rule alone. Allows only.
  std::vector<values::Cidr> pins;
  ExprId condition = NoExpr;
  std::string message;
  std::optional<Trial> trial;  // of a deny
  Span span;
};

// `limit 100 requests per 1m`.
struct RequestRate {
  std::string id;
  std::int64_t most = 0;
  std::int64_t per_ms = 0;
  Span span;
};

// Who: `any`, `task.owner`, or a principal.
struct Audience {
  enum class Kind : std::uint8_t { Any, TaskOwner, Principal };
  Kind kind = Kind::Any;
  std::string principal;
};

// `expose 8080 to task.owner for at most 30m`.
struct ExposeRule {
  std::string id;
  PortRange ports;
  Audience to;
  Bound lasts;
  ExprId condition = NoExpr;
  std::string message;
  Span span;
};

enum class Tls : std::uint8_t { Names, Inspect };

struct NetworkPlane {
  std::optional<Tls> tls;
  std::vector<EgressRule> rules;   // by id
  std::vector<EgressRule> trials;  // by id: denies on trial
  std::optional<Span> allow_none;  // `allow none`
  std::optional<RequestRate> request_rate;
  std::optional<Bound> request_bytes;
  std::optional<Bound> total_bytes;
  std::vector<ExposeRule> exposes;  // by id
  std::optional<Span> expose_none;  // `expose none`
};

// Whether what the rule says can be told of a request inside TLS only by who reads it.
bool ReadsInsideTls(const EgressRule& rule);

struct Idle {
  std::string id;
  std::int64_t after_ms = 0;
  module::IdleEnd then = module::IdleEnd::Close;
  Span span;
};

// `frozen at most 4h`.
struct Frozen {
  std::string id;
  std::int64_t most_ms = 0;
  Span span;
};

// `renew at most 2 times by 1h`.
struct Renewal {
  std::string id;
  module::Renewal renewal;
  Span span;
};

struct LifetimePlane {
  std::optional<Bound> ttl;  // in a model without errors every chain has one
  std::optional<Idle> idle;
  std::optional<Frozen> frozen;
  std::optional<Renewal> renewal;
  bool renew_none = false;
  std::optional<std::int64_t> grace_ms;
};

// `record all except egress allow`: what is allowed of these actions may stay off the record.
struct Record {
  ActionSet except_allows_of;
  Span span;
};

struct EvidencePlane {
  std::optional<Record> record;
  std::vector<std::string> redacted_headers;  // sorted
  std::optional<std::int64_t> retain_ms;
};

struct Class {
  std::string name;
  std::string doc;
  // What it narrows, base first, and itself; the floor, which stands below all, is not named. What
  // a class inherits is read along its chain: see chain.h.
  std::vector<ClassId> chain;
  bool by_name = false;
  ExprId when = NoExpr;  // its own condition
  ImagePlane image;
  IdentityPlane identity;
  FilesystemPlane filesystem;
  NetworkPlane network;
  LifetimePlane lifetime;
  EvidencePlane evidence;
  Span span;
};

// ---- Tests --------------------------------------------------------------------------------------

// A fact of a request, by its dotted path and of its attribute's type; without a value it is known
// to be absent.
struct Fact {
  std::string path;
  std::optional<Constant> value;
  Span span;
};

// `given task { … }`: holds for every later ask.
struct GivenStep {
  std::vector<Fact> facts;
};
struct AfterStep {
  std::int64_t duration_ms = 0;
};
struct AtStep {
  std::int64_t time_ms = 0;
};
struct CloseStep {};
struct FreezeStep {};

// From here on another policy set decides: the one in this file.
struct ReloadStep {
  std::string file;  // as the test names it
};

// A rule id that a test expects; before a reload it exists in the set.
struct ExpectedId {
  std::string id;
  Span span;
};

struct AskStep {
  schema::Action action = schema::Action::Create;
  std::vector<Fact> facts;  // what the ask itself states
  bool snapshot = false;    // `resume snapshot`: of a snapshot, not of what was frozen
  bool allow = false;
  bool only = false;  // exactly these reasons, not among others
  std::vector<ExpectedId> ids;
  // `, trial deny IDS`: each of them would have denied; `, trial allow IDS`: none of them.
  bool trial_allow = false;
  std::vector<ExpectedId> trial_ids;
  // What the plan must say: ttl, idle, frozen, grace: duration; cpu, renewals: int; memory, disk:
  // size; image: digest; isolation: enum.
  std::vector<Fact> plan;
};

struct TestStep {
  std::variant<GivenStep, AfterStep, AtStep, CloseStep, FreezeStep, ReloadStep, AskStep> what;
  Span span;
};

struct Test {
  std::string name;
  std::vector<TestStep> steps;  // in the order of the text
  Span span;
};

// ---- The set ------------------------------------------------------------------------------------

struct PolicyModel {
  // SHA-256 over the canonical declarations: formatting, comments, tests, order and files leave it.
  Digest digest;
  int language = 1;
  std::vector<std::string> packages;        // sorted, each once; provenance only
  std::vector<EnumType> enums;              // the schema's first, then declared ones
  std::vector<DeclaredAttribute> declared;  // by path
  std::vector<Image> images;                // by name
  std::vector<Secret> secrets;              // by name
  std::vector<List> lists;                  // by name
  std::vector<Class> classes;               // by name
  // All that `every sandbox` says, if the set has it: a class called `sandbox` that allows nothing.
  std::optional<Class> floor;
  std::vector<Rule> rules;   // by id
  std::vector<Rule> trials;  // by id: those on trial
  std::vector<Test> tests;   // by file and place
  Expressions expressions;
};

inline const Class& At(const PolicyModel& model, ClassId id) {
  return id == FloorId ? *model.floor : model.classes[static_cast<std::size_t>(id)];
}
inline const Secret& At(const PolicyModel& model, SecretId id) {
  return model.secrets[static_cast<std::size_t>(id)];
}
inline const Image& At(const PolicyModel& model, ImageId id) {
  return model.images[static_cast<std::size_t>(id)];
}

// ---- Ids that nobody writes -------------------------------------------------------------------

// The built-in reasons: `builtin.access`, `class.none`, `request.invalid` and so on.
std::span<const std::string_view> BuiltinIds();

// What a class denies by being silent: `coding.network.default` for egress, the keyword path for
// all else (`coding.image.exec`, `coding.image.allow`, `coding.filesystem.export`, …).
std::string DefaultIdOf(std::string_view class_name, schema::Action action);

// Every id that a verdict of the set can name, sorted.
std::vector<std::string> KnownIds(const PolicyModel& model);

// Where the rule, grant or class of this id is written; nowhere for what nobody wrote.
Span SpanOf(const PolicyModel& model, std::string_view id);

}  // namespace curfew::model
