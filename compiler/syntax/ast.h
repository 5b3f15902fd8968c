// The tree of one policy file: plain structs for every form of the language, each with its span,
// in the order in which the author wrote them. Nothing is resolved or typed here: names, units and
// places are judged by compiler/check. Texts are owned; strings are without quotes and escapes.
// A file with syntax errors yields the declarations that could be read (see parse.h).
#pragma once

#include "compiler/source/source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace curfew::syntax {

using source::FileId;
using source::Span;

// ---- Leaves ------------------------------------------------------------------------------------

// A single name, or a path of names with dots where the field's comment says so.
struct Name {
  std::string text;
  Span span;
};

// A string literal; `text` is its value. `\*` stays as those two characters: patterns give it its
// meaning.
struct String {
  std::string text;
  Span span;
};

// A number with its letters as written: `8080`, `1h30m`, `8GiB`, and also what will turn out to be
// wrong (`1.5h`). compiler/values reads it by the place that it stands in.
struct Quantity {
  std::string text;
  Span span;
};

// `2026-11-29T00:00:00Z` as written.
struct Time {
  std::string text;
  Span span;
};

// `sha256:…` as written.
struct DigestLiteral {
  std::string text;
  Span span;
};

// `##` lines directly above a declaration, without the marks and one leading blank.
struct Doc {
  std::vector<std::string> lines;
};

// ---- Expressions -------------------------------------------------------------------------------

enum class ExprKind {
  // Leaves: `text` holds the value.
  String,    // "…"
  Quantity,  // 8080, 2h, 8GiB
  Time,      // 2026-11-29T00:00:00Z
  Digest,    // sha256:…
  True,
  False,
  Name,  // a bare name: an enum value, an image, a secret, a list, or the variable of a quantifier
  Path,  // task.kind: an attribute
  // `text` holds a path.
  Has,  // has task.ticket (also of a bare name)
  // `operands` hold the parts.
  List,   // [a, b]: any number
  Count,  // count(set): one
  Not,    // one
  And,    // two or more; never mixed with Or without parentheses
  Or,     // two or more
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn,
  Matches,
  Starts,
  SubsetOf,
  Intersects,
  Plus,
  Minus,
  // Quantifiers: `text` is the variable, operands[0] the set, operands[1] the condition.
  Any,
  All,
  None,
};

struct Expr {
  ExprKind kind = ExprKind::True;
  Span span;  // with its parentheses, if any
  Span
      operator_span;  // of `==`, `in`, …; of the variable of a quantifier, path of `has`; else none
  std::string text;
  std::vector<Expr> operands;
  bool parenthesised = false;
};

// One field of a `{ … }` object in a test: a value, or nested fields.
struct Field {
  Name name;
  std::optional<Expr> value;
  std::vector<Field> fields;  // when there is no value
  Span span;
};

struct Object {
  std::vector<Field> fields;
  Span span;
};

// `X at most Y`, `X`, `at most Y`: at least one is there.
struct Bound {
  std::optional<Quantity> value;
  std::optional<Quantity> at_most;
  Span span;
};

// ---- Parts of rules ----------------------------------------------------------------------------

enum class Action {
  Create,
  Resume,
  Exec,
  Egress,
  Expose,
  Snapshot,
  Import,
  Export,
  Extend,
  Observe,
};

struct ActionName {
  Action action = Action::Create;
  Span span;
};

// `when EXPR because "…"`
struct Tail {
  std::optional<Expr> when;
  std::optional<String> because;
};

// `trial`, `trial until TIME`
struct Trial {
  std::optional<Time> until;
  Span span;
};

// Who: `task.owner`, `"group:sre"`, `any`.
struct Audience {
  enum class Kind { Attribute, Principal, Any };
  Kind kind = Kind::Attribute;
  std::string text;  // the path, or the principal
  Span span;
};

// Where a statement may say `none` instead of naming things, `none` holds the word's span.

// ---- Plane `image` -----------------------------------------------------------------------------

// `allow python312, node22` or `allow none`
struct AllowImages {
  std::vector<Name> images;
  std::optional<Span> none;
  Span span;
};

// `exec any | none | "/usr/bin/**", …`
struct ExecStatement {
  enum class Kind { Any, None, Patterns };
  Kind kind = Kind::None;
  std::vector<String> patterns;
  Span span;
};

struct SizeItem {
  Name what;  // cpu, memory, disk: judged by the checker
  Bound bound;
  Span span;
};

// `size cpu 2 at most 4, memory 2GiB`
struct SizeStatement {
  std::vector<SizeItem> items;
  Span span;
};

// `isolation kvm | any`
struct IsolationStatement {
  Name level;
  Span span;
};

// ---- Plane `identity` --------------------------------------------------------------------------

// `token audience "bridge" lives 1h`
struct TokenStatement {
  String audience;
  Quantity lives;
  Span span;
};

// `secrets github_token` or `secrets none`
struct SecretsStatement {
  std::vector<Name> secrets;
  std::optional<Span> none;
  Span span;
};

// `env "LANG", "TZ"` or `env none`
struct EnvStatement {
  std::vector<String> names;
  std::optional<Span> none;
  Span span;
};

// `access "group:sre", task.owner` or `access none`
struct AccessStatement {
  std::vector<Audience> audiences;
  std::optional<Span> none;
  Span span;
};

// ---- Plane `filesystem` ------------------------------------------------------------------------

// `scratch "/work" 8GiB`
struct ScratchStatement {
  String path;
  Quantity size;
  Span span;
};

// `[label:] export "/work/out/**" [each] at most 200MiB [when … because …]`, `import …`, or
// `import none`
struct TransferStatement {
  enum class Direction { Import, Export };
  Direction direction = Direction::Import;
  std::optional<Name> label;
  std::optional<Span> none;
  std::vector<String> patterns;
  bool each = false;
  std::optional<Quantity> at_most;  // absent only with `none`
  Tail tail;
  Span span;
};

// One line in the braces of `persist` or `snapshot`. Whether it may stand there, and twice, is
// judged by the checker.
struct KeepItem {
  enum class Kind {
    Reason,         // reason "…"             text
    Owner,          // owner "group:…"        text
    Expires,        // expires 24h at most 72h  bound
    Size,           // size at most 10GiB     bound
    Keep,           // keep 3                 bound.value
    Branches,       // branches at most 8     bound.at_most
    From,           // from coding, payments  classes
    Renews,         // renews
    SharedByClass,  // shared by class
  };
  Kind kind = Kind::Reason;
  std::optional<String> text;
  std::optional<Bound> bound;
  std::vector<Name> classes;
  Span span;
};

// `persist deps "/home/agent/.cache" 2GiB { … }` or `persist none`
struct PersistStatement {
  std::optional<Span> none;
  std::optional<Name> name;
  std::optional<String> path;
  std::optional<Quantity> size;
  std::vector<KeepItem> items;
  Span span;
};

// `snapshot disk { … }` or `snapshot none`
struct SnapshotStatement {
  std::optional<Span> none;
  std::optional<Name> kind;  // disk, memory: judged by the checker
  std::vector<KeepItem> items;
  Span span;
};

// ---- Plane `network` ---------------------------------------------------------------------------

// `tls inspect | names`
struct TlsStatement {
  Name mode;
  Span span;
};

// A URL or host pattern, a list's name, or the word `internet`.
struct Target {
  enum class Kind { Pattern, List, Internet };
  Kind kind = Kind::Pattern;
  std::string text;
  Span span;
};

// An address block, or a list's name.
struct Place {
  enum class Kind { Block, List };
  Kind kind = Kind::Block;
  std::string text;
  Span span;
};

// `8443` or `8000..8100`
struct PortRange {
  Quantity first;
  std::optional<Quantity> last;
  Span span;
};

// `query k == "v"`
struct QueryTerm {
  Name key;
  String value;
  Span span;
};

// What a network rule is about.
//   allow METHODS TARGETS | allow connect TARGETS | allow websocket TARGETS | allow none
//   deny [METHODS] [TARGETS | any] | deny connect … | deny websocket …
struct Traffic {
  enum class Stream { Http, Connect, Websocket };
  Stream stream = Stream::Http;
  std::vector<Name> methods;       // GET, HEAD; empty with `any_method`, or where none is written
  std::optional<Span> any_method;  // `any` in the place of the methods
  std::optional<Span> any_target;  // `any` in the place of the targets (deny only)
  std::vector<Target> targets;     // empty means, in a deny, every target
  std::vector<Place> at;           // at "10.20.0.0/16"
  std::vector<PortRange> ports;    // port 8443, ports 8000..8100
  std::vector<QueryTerm> query;    // query k == "v", …
};

// `[label:] allow …`
struct AllowTraffic {
  std::optional<Name> label;
  std::optional<Span> none;
  Traffic traffic;
  std::optional<Span> encoded_slash;  // with encoded slash
  std::optional<Name> secret;         // using SECRET
  Tail tail;
  Span span;
};

// `[label:] [trial …] deny …`
struct DenyTraffic {
  std::optional<Name> label;
  std::optional<Trial> trial;
  Traffic traffic;
  Tail tail;
  Span span;
};

struct LimitItem {
  enum class Kind {
    Requests,    // 100 requests per 1m   amount, per
    PerRequest,  // 50MiB per request     amount
    InAll,       // 2GiB in all           amount
  };
  Kind kind = Kind::Requests;
  Quantity amount;
  std::optional<Quantity> per;
  Span span;
};

struct LimitStatement {
  std::vector<LimitItem> items;
  Span span;
};

// `[label:] expose 8080 to task.owner for at most 30m` or `expose none`
struct ExposeStatement {
  std::optional<Name> label;
  std::optional<Span> none;
  std::optional<PortRange> ports;
  std::optional<Audience> to;
  std::optional<Bound> lasts;
  Tail tail;
  Span span;
};

// ---- Plane `lifetime` --------------------------------------------------------------------------

// `ttl 2h at most 8h`
struct TtlStatement {
  Bound bound;
  Span span;
};

// `idle 15m then freeze | close`
struct IdleStatement {
  Quantity after;
  Name then;  // freeze, close: judged by the checker
  Span span;
};

// `frozen at most 4h`
struct FrozenStatement {
  Quantity at_most;
  Span span;
};

// `renew at most 2 times by 1h`, `renew none`
struct RenewStatement {
  bool none = false;
  Quantity times;  // these two stand where `none` does not
  Quantity by;
  Span span;
};

// `grace 10s`
struct GraceStatement {
  Quantity duration;
  Span span;
};

// ---- Plane `evidence` --------------------------------------------------------------------------

// `record all` or `record all except egress allow, observe allow`
struct RecordStatement {
  std::vector<ActionName> except_allows_of;
  Span span;
};

// `redact header "x-api-key", …`
struct RedactStatement {
  Name what;  // header: judged by the checker
  std::vector<String> names;
  Span span;
};

// `retain 90d`
struct RetainStatement {
  Quantity duration;
  Span span;
};

// ---- Planes ------------------------------------------------------------------------------------

enum class PlaneKind { Image, Identity, Filesystem, Network, Lifetime, Evidence };

// Every statement of every plane; the parser lets each stand only in its own.
using Statement =
    std::variant<AllowImages, ExecStatement, SizeStatement, IsolationStatement, TokenStatement,
                 SecretsStatement, EnvStatement, AccessStatement, ScratchStatement,
                 TransferStatement, PersistStatement, SnapshotStatement, TlsStatement, AllowTraffic,
                 DenyTraffic, LimitStatement, ExposeStatement, TtlStatement, IdleStatement,
                 FrozenStatement, RenewStatement, GraceStatement, RecordStatement, RedactStatement,
                 RetainStatement>;

struct Plane {
  PlaneKind kind = PlaneKind::Image;
  Span keyword;
  Doc doc;
  std::vector<Statement> statements;
  Span span;
};

// ---- Rules of a class or of the set ------------------------------------------------------------

// `[label:] [trial …] deny ACTIONS [when …] [because …]`
// `[label:] [trial …] require ACTIONS [when …]: CONDITION [because …]`
// `[label:] never ACTIONS [when …] [because …]`
struct Rule {
  enum class Effect { Deny, Require, Never };
  Effect effect = Effect::Deny;
  Doc doc;
  std::optional<Name> label;
  std::optional<Trial> trial;
  std::vector<ActionName> actions;
  Tail tail;
  std::optional<Expr> condition;  // of `require`, always there
  Span span;
};

// ---- Tests -------------------------------------------------------------------------------------

// `given task { … }`, also `given task { … }, caller { … }`
struct Fixture {
  Name subject;  // task, caller, snapshot, sandbox, host, …
  Object facts;
  Span span;
};
struct Given {
  std::vector<Fixture> fixtures;
  Span span;
};

// `after 2h`
struct AfterStep {
  Quantity duration;
  Span span;
};

// `at 2026-11-29T00:00:00Z`
struct AtStep {
  Time time;
  Span span;
};

// `freeze`, `close`, `reload "file"`
struct EventStep {
  enum class Event { Freeze, Close, Reload };
  Event event = Event::Freeze;
  std::optional<String> file;  // of `reload`
  Span span;
};

// `image python312`, `ttl 2h` behind `create`
struct Wish {
  Name name;
  Expr value;
  Span span;
};

// What follows the arrow.
struct Answer {
  bool allow = false;
  bool only = false;
  std::vector<Name> ids;       // with dots
  std::optional<Object> plan;  // with { … }
  // `, trial deny IDS`
  struct TrialAnswer {
    bool allow = false;
    std::vector<Name> ids;  // with dots
    Span span;
  };
  std::optional<TrialAnswer> trial;
  Span span;
};

// A question and its expected answer. Which of the parts are there depends on the action:
//   create [WISHES] [OBJECT]            resume [snapshot [KIND]] [OBJECT]
//   exec "PROGRAM" [LIST] [OBJECT]      egress [METHOD | connect | websocket] "URL", … [OBJECT]
//   expose PORT [to "WHO"] [for D]      snapshot [KIND] [OBJECT]
//   import | export "PATH" [OBJECT]     observe WHAT [OBJECT]      extend [by D] [OBJECT]
struct Ask {
  ActionName action;
  std::vector<Wish> wishes;          // create
  std::optional<Span> snapshot;      // resume: the word `snapshot`
  std::optional<Name> kind;          // resume, snapshot: disk …; observe: logs …
  std::optional<Name> method;        // egress: GET …; or `connect`, `websocket`
  std::vector<String> subjects;      // exec: program; egress: URLs; import, export: path
  std::optional<Expr> args;          // exec: the list
  std::optional<Quantity> port;      // expose
  std::optional<String> to;          // expose
  std::optional<Quantity> duration;  // expose: for; extend: by
  std::optional<Object> facts;       // { … }
  Answer answer;
  Span span;
};

using TestItem = std::variant<Given, AfterStep, AtStep, EventStep, Ask>;

struct TestDecl {
  Doc doc;
  String name;
  std::vector<TestItem> items;
  Span span;
};

// ---- Other declarations ------------------------------------------------------------------------

struct LanguageHeader {
  Quantity version;
  Span span;
};

struct PackageHeader {
  Name name;  // with dots
  Span span;
};

struct UseHeader {
  String path;
  Span span;
};

// `string?`, `set of principal at most 100`, `low < medium < high`, `a | b`
struct TypeExpr {
  enum class Collection { None, Set, List };
  enum class Shape { Named, OrderedEnum, UnorderedEnum };
  Collection collection = Collection::None;
  Shape shape = Shape::Named;
  std::vector<Name> names;  // one for Named, else the enum's values in order
  bool optional = false;
  std::optional<Quantity> at_most;
  Span span;
};

struct AttributeDecl {
  Doc doc;
  Name name;
  TypeExpr type;
  std::optional<Span> restated;
  Span span;
};

// `attributes task { … }`
struct AttributesDecl {
  Doc doc;
  Name subject;
  std::vector<AttributeDecl> attributes;
  Span span;
};

// `image python312 { ref "…" digest sha256:… }`
struct ImageDecl {
  Doc doc;
  Name name;
  std::optional<String> ref;
  std::optional<DigestLiteral> digest;
  Span span;
};

// `from env "GITHUB_TOKEN"`
struct SecretSource {
  Name kind;
  String name;
  Span span;
};

// `send bearer to "api.github.com"`, `send header "x-api-key" to "…"`
struct SecretSend {
  Name form;
  std::optional<String> header;  // when the form is `header`
  std::vector<String> targets;
  Span span;
};

struct SecretDecl {
  Doc doc;
  Name name;
  std::optional<SecretSource> from;
  std::vector<SecretSend> sends;
  Span span;
};

// `hosts npm ["…"]`, `addresses lab from "lists/lab.txt"`
struct ListDecl {
  enum class Kind { Hosts, Addresses, Digests, Strings };
  Kind kind = Kind::Hosts;
  Doc doc;
  Name name;
  std::optional<String> from;
  std::vector<Expr> elements;  // when there is no `from`
  Span span;
};

using SandboxMember = std::variant<Plane, Rule>;

// `sandbox coding [narrows base] [by name] [when …] { … }` or `every sandbox { … }`
struct SandboxDecl {
  Doc doc;
  bool every = false;
  Name name;  // empty, at `sandbox`, for `every sandbox`
  std::optional<Name> narrows;
  std::optional<Span> by_name;
  std::optional<Expr> when;
  std::vector<SandboxMember> members;
  Span span;
};

using Declaration = std::variant<LanguageHeader, PackageHeader, UseHeader, AttributesDecl,
                                 ImageDecl, SecretDecl, ListDecl, SandboxDecl, Rule, TestDecl>;

// The blocks of the language, and where their statements begin: what the formatter lays out by.
enum class Block {
  File,
  Attributes,
  ImageDeclaration,
  Secret,
  Sandbox,
  Image,
  Identity,
  Filesystem,
  Network,
  Lifetime,
  Evidence,
  Keep,  // the braces of `persist` and `snapshot`
  Test,
};
struct StatementPlace {
  std::uint32_t begin = 0;  // byte of the first token
  Block block = Block::File;
};

// One file. Headers stand before all else, `language` and `package` at most once a file; a set's
// files need not agree here.
struct Ast {
  FileId file = Span::Nowhere;
  std::vector<Declaration> declarations;
  std::vector<StatementPlace> places;  // ascending; heads of blocks are statements too
};

// The words of the language, for messages and printers.
std::string_view NameOf(ExprKind kind);
std::string_view NameOf(Action action);
std::string_view NameOf(PlaneKind kind);
std::string_view NameOf(ListDecl::Kind kind);
std::string_view NameOf(KeepItem::Kind kind);

}  // namespace curfew::syntax
