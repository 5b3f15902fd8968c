// curfew.h from outside, through the library as it is shipped: what it decides, what it refuses,
// and that nothing given to it makes it allow or end.
#include "compiler/embed/curfew.h"
#include "compiler/module/bundle.h"
#include "compiler/record/record_reader.h"
#include "tests/properties/compiled_set.h"

#include <array>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew {
namespace {

constexpr const char* kPolicy = R"(language 1
attributes task { ticket: string?  risk: low < high }
image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
sandbox work when task.kind == "work" {
  image    { allow base  isolation any  exec "/usr/bin/**" }
  lifetime { ttl 1h at most 2h }
  network  { tls inspect  npm: allow GET "https://npm.example/**"  limit 5MiB per request }
}
tickets: deny exec when task.risk == high and not has task.ticket because "high risk needs a ticket"
trial deny exec when exec.user == "root" because "soon"
)";

Bytes BundleOf(const std::string& text) {
  diagnostics::Sink sink;
  const auto compiled = properties::CompileSet({text}, sink);
  REQUIRE(compiled != nullptr);
  module::BundleContent content;
  content.language = 1;
  content.compiler = "test";
  content.policy = compiled->engine->module().manifest().policy;
  content.module = compiled->bytes;
  content.files = {{"p.curfew", text}};
  return module::WriteBundle(std::move(content));
}

struct Policy {
  explicit Policy(curfew_engine engine = CURFEW_ENGINE_INTERPRETER, std::uint64_t generation = 7) {
    const Bytes bundle = BundleOf(kPolicy);
    curfew_options options{};
    options.size = sizeof options;
    options.engine = engine;
    options.generation = generation;
    curfew_error error{};
    const curfew_status status =
        curfew_policy_open(bundle.data(), bundle.size(), &options, &handle, &error);
    INFO(error.message);
    REQUIRE(status == CURFEW_OK);
  }
  ~Policy() { curfew_policy_free(handle); }
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;

  [[nodiscard]] std::int32_t Fact(curfew_action action, const char* path) const {
    const std::int32_t fact = curfew_policy_fact(handle, action, path);
    INFO(path);
    REQUIRE(fact >= 0);
    return fact;
  }

  curfew_policy* handle = nullptr;
};

struct Request {
  Request(const Policy& of, curfew_action action_of) : policy(of), action(action_of) {
    REQUIRE(curfew_request_new(of.handle, action, CURFEW_STAGE_REQUEST, &handle, nullptr) ==
            CURFEW_OK);
  }
  ~Request() { curfew_request_free(handle); }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  curfew_status Text(const char* path, std::string_view text, curfew_error* error = nullptr) {
    return curfew_request_set_text(handle, policy.Fact(action, path), text.data(), text.size(),
                                   error);
  }
  curfew_status Integer(const char* path, std::int64_t value, curfew_error* error = nullptr) {
    return curfew_request_set_integer(handle, policy.Fact(action, path), value, error);
  }
  curfew_status Items(const char* path, std::vector<curfew_text> items) {
    return curfew_request_set_items(handle, policy.Fact(action, path), items.data(), items.size(),
                                    nullptr);
  }

  const Policy& policy;
  curfew_action action;
  curfew_request* handle = nullptr;
};

// What every action asks of who asks, and of the sandbox.
void SetShared(Request& request) {
  CHECK(request.Text("caller.id", "user:ana") == CURFEW_OK);
  CHECK(request.Text("caller.kind", "human") == CURFEW_OK);
  CHECK(request.Items("caller.groups", {}) == CURFEW_OK);
  CHECK(request.Integer("caller.operator", 0) == CURFEW_OK);
  CHECK(request.Text("task.owner", "user:ana") == CURFEW_OK);
  CHECK(request.Text("task.kind", "work") == CURFEW_OK);
  CHECK(request.Text("task.risk", "low") == CURFEW_OK);
  CHECK(request.Text("sandbox.class", "work") == CURFEW_OK);
  CHECK(request.Text("sandbox.creator", "user:ana") == CURFEW_OK);
  CHECK(request.Integer("sandbox.ttl_left", 60'000) == CURFEW_OK);
  CHECK(request.Integer("sandbox.idle", 0) == CURFEW_OK);
  CHECK(request.Integer("sandbox.frozen", 0) == CURFEW_OK);
  CHECK(request.Integer("sandbox.age", 1'000) == CURFEW_OK);
}
void SetExec(Request& request) {
  SetShared(request);
  CHECK(request.Text("exec.program", "/usr/bin/python3") == CURFEW_OK);
  CHECK(request.Items("exec.args", {{"-m", 2}, {"pip", 3}}) == CURFEW_OK);
  CHECK(request.Text("exec.user", "agent") == CURFEW_OK);
  CHECK(request.Text("exec.cwd", "/work") == CURFEW_OK);
  CHECK(request.Integer("exec.terminal", 0) == CURFEW_OK);
  CHECK(request.Integer("exec.background", 0) == CURFEW_OK);
}

struct Verdict {
  Verdict() { REQUIRE(curfew_verdict_new(&handle, nullptr) == CURFEW_OK); }
  ~Verdict() { curfew_verdict_free(handle); }
  Verdict(const Verdict&) = delete;
  Verdict& operator=(const Verdict&) = delete;

  bool Decide(const Request& request) {
    REQUIRE(curfew_decide(request.policy.handle, request.handle, handle) == CURFEW_OK);
    return curfew_verdict_allows(handle) == 1;
  }
  [[nodiscard]] std::vector<std::string> Ids(curfew_reason_kind kind) const {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < curfew_verdict_reason_count(handle, kind); ++i) {
      curfew_reason reason{};
      REQUIRE(curfew_verdict_reason(handle, kind, i, &reason) == CURFEW_OK);
      ids.emplace_back(reason.id.data, reason.id.size);
    }
    return ids;
  }
  [[nodiscard]] std::string Missing() const {
    const curfew_text path = curfew_verdict_missing_fact(handle);
    return {path.data, path.size};
  }

  curfew_verdict* handle = nullptr;
};

using Ids = std::vector<std::string>;

TEST_CASE("embed: a decision, its reasons and its generation, by both engines") {
  for (const curfew_engine engine : {CURFEW_ENGINE_INTERPRETER, CURFEW_ENGINE_NATIVE}) {
    const Policy policy(engine);
    CHECK(std::string(curfew_policy_engine(policy.handle)) ==
          (engine == CURFEW_ENGINE_NATIVE ? "native" : "interpreter"));
    CHECK(std::string(curfew_policy_why_not_native(policy.handle)).empty());
    CHECK(std::string(curfew_policy_digest(policy.handle)).starts_with("sha256:"));
    Request request(policy, CURFEW_EXEC);
    SetExec(request);
    curfew_request_leave_out_the_rest(request.handle);
    Verdict verdict;
    CHECK(verdict.Decide(request));
    CHECK(verdict.Ids(CURFEW_ALLOWS) == Ids{"builtin.access", "work.image.exec"});
    CHECK(verdict.Ids(CURFEW_DENIALS).empty());
    CHECK(curfew_verdict_generation(verdict.handle) == 7);
    const curfew_text name = curfew_verdict_class(verdict.handle);
    CHECK(std::string(name.data, name.size) == "work");

    CHECK(request.Text("task.risk", "high") == CURFEW_OK);
    CHECK(request.Text("exec.user", "root") == CURFEW_OK);
    CHECK_FALSE(verdict.Decide(request));
    CHECK(verdict.Ids(CURFEW_DENIALS) == Ids{"set.tickets"});
    CHECK(verdict.Ids(CURFEW_TRIALS).size() == 1);
    curfew_reason reason{};
    REQUIRE(curfew_verdict_reason(verdict.handle, CURFEW_DENIALS, 0, &reason) == CURFEW_OK);
    CHECK(std::string(reason.message.data, reason.message.size) == "high risk needs a ticket");
    CHECK(reason.line == 9);
    CHECK(request.Text("task.ticket", "T-1") == CURFEW_OK);
    CHECK(verdict.Decide(request));
  }
}

TEST_CASE("embed: what is not set is unknown, denies, and is named") {
  const Policy policy;
  Request request(policy, CURFEW_EXEC);
  Verdict verdict;
  CHECK_FALSE(verdict.Decide(request));
  SetExec(request);
  CHECK(request.Text("task.risk", "high") == CURFEW_OK);
  CHECK_FALSE(verdict.Decide(request));
  CHECK(curfew_verdict_is_undecided(verdict.handle) == 1);
  CHECK(verdict.Missing() == "task.ticket");
  curfew_request_leave_out_the_rest(request.handle);
  CHECK_FALSE(verdict.Decide(request));
  CHECK(curfew_verdict_is_undecided(verdict.handle) == 0);
  CHECK(verdict.Missing().empty());
  CHECK(request.Text("task.risk", "low") == CURFEW_OK);
  CHECK(verdict.Decide(request));
  REQUIRE(curfew_request_set_unknown(request.handle, policy.Fact(CURFEW_EXEC, "exec.program"),
                                     nullptr) == CURFEW_OK);
  CHECK_FALSE(verdict.Decide(request));
  CHECK(curfew_verdict_is_undecided(verdict.handle) == 1);
  CHECK(verdict.Missing() == "exec.program");
  curfew_request_clear(request.handle);
  CHECK_FALSE(verdict.Decide(request));
}

TEST_CASE("embed: a value that its fact cannot have is refused and changes nothing") {
  const Policy policy;
  Request request(policy, CURFEW_EXEC);
  SetExec(request);
  curfew_request_leave_out_the_rest(request.handle);
  Verdict verdict;
  REQUIRE(verdict.Decide(request));
  curfew_error error{};
  CHECK(request.Text("exec.program", "/usr/bin/../sbin/x", &error) == CURFEW_INVALID_VALUE);
  CHECK(std::string(error.message).starts_with("exec.program: "));
  CHECK(request.Text("caller.id", "ana") == CURFEW_INVALID_VALUE);
  CHECK(request.Text("task.risk", "medium") == CURFEW_INVALID_VALUE);
  CHECK(request.Integer("task.risk", 2) == CURFEW_INVALID_VALUE);
  CHECK(request.Integer("task.risk", -1) == CURFEW_INVALID_VALUE);
  CHECK(request.Integer("caller.operator", 2) == CURFEW_INVALID_VALUE);
  CHECK(request.Integer("caller.id", 1) == CURFEW_INVALID_VALUE);
  CHECK(request.Text("exec.args", "x") == CURFEW_INVALID_VALUE);
  CHECK(request.Items("caller.groups", {{"group:a", 7}, {"group:a", 7}}) == CURFEW_INVALID_VALUE);
  CHECK(curfew_policy_fact(policy.handle, CURFEW_EXEC, "now.weekday") >= 0);
  CHECK(request.Integer("now.weekday", 1) == CURFEW_INVALID_ARGUMENT);  // follows from `now`
  CHECK(curfew_policy_fact(policy.handle, CURFEW_EXEC, "egress.host") == -1);
  CHECK(curfew_policy_fact(policy.handle, CURFEW_EXEC, "task.tickets") == -1);
  for (const std::int32_t fact : {-1, 127, 128, 1'000'000, INT32_MIN, INT32_MAX}) {
    CHECK(curfew_request_set_integer(request.handle, fact, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  }
  CHECK(verdict.Decide(request));
}

TEST_CASE("embed: a request document is read as `curfew eval` reads it") {
  const Policy policy;
  const std::string text = R"({"version": 1, "action": "egress",
    "caller": {"id": "user:ana"}, "task": {"owner": "user:ana", "kind": "work"},
    "sandbox": {"class": "work", "creator": "user:ana", "ttl_left": "1h", "age": "5m", "idle": "0s", "frozen": false},
    "egress": {"scheme": "https", "host": "npm.example", "ip": "93.184.216.34", "port": 443,
               "method": "GET", "path": "/x", "bytes": "0B", "requests": 1, "total": "0B"}})";
  curfew_request* request = nullptr;
  curfew_error error{};
  REQUIRE(curfew_request_read(policy.handle, text.data(), text.size(), &request, &error) ==
          CURFEW_OK);
  Verdict verdict;
  CHECK(curfew_decide(policy.handle, request, verdict.handle) == CURFEW_OK);
  INFO(verdict.Ids(CURFEW_DENIALS).size());
  CHECK(curfew_verdict_allows(verdict.handle) == 1);
  CHECK(verdict.Ids(CURFEW_ALLOWS) == Ids{"work.network.npm"});
  curfew_request_free(request);
  for (const char* bad :
       {"", "{", "[]", "{\"version\": 1}", "{\"version\": 1, \"action\": \"exec\"}"}) {
    curfew_request* none = nullptr;
    CHECK(curfew_request_read(policy.handle, bad, std::string(bad).size(), &none, &error) !=
          CURFEW_OK);
    CHECK(none == nullptr);
  }
}

TEST_CASE("embed: bytes that are no bundle, or not as they were signed, are not opened") {
  const Bytes bundle = BundleOf(kPolicy);
  curfew_policy* policy = nullptr;
  curfew_error error{};
  for (std::size_t size = 0; size < bundle.size(); size += 101) {
    CHECK(curfew_policy_open(bundle.data(), size, nullptr, &policy, &error) != CURFEW_OK);
    CHECK(policy == nullptr);
  }
  for (std::size_t at = 0; at < bundle.size(); at += 53) {
    Bytes changed = bundle;
    changed[at] ^= 1;
    const curfew_status status =
        curfew_policy_open(changed.data(), changed.size(), nullptr, &policy, &error);
    CHECK((status == CURFEW_MALFORMED || status == CURFEW_TAMPERED || status == CURFEW_TOO_LARGE));
    CHECK(policy == nullptr);
  }
  const std::array<std::uint8_t, 64> keys{};
  curfew_options options{};
  options.size = sizeof options;
  options.trusted_keys = keys.data();
  options.trusted_key_count = 2;
  CHECK(curfew_policy_open(bundle.data(), bundle.size(), &options, &policy, &error) ==
        CURFEW_DENIED);
  options.trusted_keys = nullptr;
  CHECK(curfew_policy_open(bundle.data(), bundle.size(), &options, &policy, &error) ==
        CURFEW_INVALID_ARGUMENT);
  options = {};
  options.size = sizeof options;
  options.engine = CURFEW_ENGINE_NATIVE;
  options.jit_library = "/nowhere/libcurfew_jit.so";
  CHECK(curfew_policy_open(bundle.data(), bundle.size(), &options, &policy, &error) ==
        CURFEW_UNSUPPORTED);
  options.engine = CURFEW_ENGINE_AUTO;
  REQUIRE(curfew_policy_open(bundle.data(), bundle.size(), &options, &policy, &error) == CURFEW_OK);
  CHECK(std::string(curfew_policy_engine(policy)) == "interpreter");
  CHECK(std::string(curfew_policy_why_not_native(policy)).find("/nowhere") != std::string::npos);
  curfew_policy_free(policy);
}

TEST_CASE("embed: no call ends the program or allows for want of an argument") {
  curfew_policy_free(nullptr);
  curfew_request_free(nullptr);
  curfew_verdict_free(nullptr);
  curfew_request_clear(nullptr);
  curfew_request_leave_out_the_rest(nullptr);
  curfew_request_set_now(nullptr, 0);
  curfew_recorder_free(nullptr);
  curfew_recorder_close(nullptr);
  CHECK(curfew_policy_open(nullptr, 0, nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_new(nullptr, CURFEW_EXEC, CURFEW_STAGE_REQUEST, nullptr, nullptr) ==
        CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_set_text(nullptr, 0, "", 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_set_integer(nullptr, 0, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_set_items(nullptr, 0, nullptr, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_set_absent(nullptr, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_request_set_unknown(nullptr, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_decide(nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_recorder_new(nullptr, 0, CURFEW_RECORD_COUNT, nullptr, nullptr) ==
        CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_recorder_use(nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_decide_recorded(nullptr, nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_recorder_read(nullptr, nullptr, 0, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_verdict_allows(nullptr) == 0);
  Verdict verdict;
  CHECK(curfew_verdict_allows(verdict.handle) == 0);
  CHECK(curfew_verdict_reason_count(verdict.handle, CURFEW_DENIALS) == 0);

  const Policy policy;
  Request request(policy, CURFEW_EXEC);
  SetExec(request);
  curfew_request_leave_out_the_rest(request.handle);
  REQUIRE(verdict.Decide(request));
  // A request of another policy, though of the same set, is not decided; and the verdict is closed.
  const Policy other;
  CHECK(curfew_decide(other.handle, request.handle, verdict.handle) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_verdict_allows(verdict.handle) == 0);
  CHECK(curfew_verdict_reason_count(verdict.handle, CURFEW_ALLOWS) == 0);
}

struct Recorder {
  Recorder(const Policy& policy, curfew_record_when_full when_full) {
    REQUIRE(curfew_recorder_new(policy.handle, 1, when_full, &handle, nullptr) == CURFEW_OK);
  }
  ~Recorder() { curfew_recorder_free(handle); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What is there, as far as `room` goes.
  Bytes Read(std::size_t room, std::uint64_t& dropped) {
    Bytes buffer(room);
    std::size_t written = 0;
    CHECK(curfew_recorder_read(handle, buffer.data(), buffer.size(), &written, &dropped) ==
          CURFEW_OK);
    buffer.resize(written);
    return buffer;
  }

  curfew_recorder* handle = nullptr;
};

TEST_CASE("embed: decisions are on record, and what was dropped is told") {
  const Policy policy;
  Request request(policy, CURFEW_EXEC);
  SetExec(request);
  curfew_request_set_now(request.handle, 1'780'000'000'123);
  curfew_request_leave_out_the_rest(request.handle);
  Verdict verdict;
  Recorder recorder(policy, CURFEW_RECORD_COUNT);
  const auto decide = [&] {
    return curfew_decide_recorded(recorder.handle, policy.handle, request.handle, verdict.handle);
  };
  REQUIRE(decide() == CURFEW_OK);
  CHECK(curfew_verdict_allows(verdict.handle) == 1);
  CHECK(request.Text("exec.program", "/bin/sh") == CURFEW_OK);
  REQUIRE(decide() == CURFEW_OK);
  CHECK(curfew_verdict_allows(verdict.handle) == 0);

  std::uint64_t dropped = 1;
  Bytes bytes = recorder.Read(CURFEW_RECORD_BYTES_MAX, dropped);
  CHECK(dropped == 0);
  ByteView rest(bytes);
  record::RecordReader reader;
  const auto allowed = reader.Read(rest);
  REQUIRE(allowed);
  CHECK(allowed->effect == module::Effect::Allow);
  CHECK(allowed->generation == 7);
  CHECK(ToString(allowed->policy) == curfew_policy_digest(policy.handle));
  CHECK(allowed->time_ms() == 1'780'000'000'123);
  CHECK(allowed->request.value(schema::slot::ExecProgram).text() == "/usr/bin/python3");
  const auto denied = reader.Read(rest);
  REQUIRE(denied);
  CHECK(denied->effect == module::Effect::Deny);
  CHECK(rest.empty());

  // One record at a time, where there is room for no more.
  REQUIRE(decide() == CURFEW_OK);
  REQUIRE(decide() == CURFEW_OK);
  std::array<std::uint8_t, 64> little{};
  std::size_t written = 1;
  CHECK(curfew_recorder_read(recorder.handle, little.data(), little.size(), &written, nullptr) ==
        CURFEW_TOO_LARGE);
  CHECK(written == 0);
  bytes = recorder.Read(bytes.size() / 2 + 64, dropped);
  rest = bytes;
  CHECK(reader.Read(rest));
  CHECK(rest.empty());
  bytes = recorder.Read(CURFEW_RECORD_BYTES_MAX, dropped);
  rest = bytes;
  CHECK(reader.Read(rest));

  for (int i = 0; i < 2000; ++i) CHECK(decide() == CURFEW_OK);
  bytes = recorder.Read(std::size_t{1} << 20, dropped);
  CHECK(dropped > 0);
  CHECK(decide() == CURFEW_OK);
  std::uint64_t lost = 0;
  rest = bytes;
  while (!rest.empty()) lost += reader.Read(rest)->lost;
  CHECK(lost == 0);
  bytes = recorder.Read(CURFEW_RECORD_BYTES_MAX, dropped);
  rest = bytes;
  CHECK(reader.Read(rest)->lost == dropped);

  // Of another policy nothing is decided until the recorder is told.
  const Policy other;
  Request of_other(other, CURFEW_EXEC);
  SetExec(of_other);
  const auto decide_other = [&] {
    return curfew_decide_recorded(recorder.handle, other.handle, of_other.handle, verdict.handle);
  };
  CHECK(decide_other() == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_verdict_allows(verdict.handle) == 0);
  REQUIRE(curfew_recorder_use(recorder.handle, other.handle, nullptr) == CURFEW_OK);
  CHECK(decide_other() == CURFEW_OK);
  CHECK(curfew_verdict_allows(verdict.handle) == 1);
  CHECK(decide() == CURFEW_INVALID_ARGUMENT);
}

TEST_CASE("embed: where a recorder blocks, every decision of the thread beside is on record") {
  const Policy policy(CURFEW_ENGINE_NATIVE);
  Request request(policy, CURFEW_EXEC);
  SetExec(request);
  Recorder recorder(policy, CURFEW_RECORD_BLOCK);
  Verdict verdict;
  constexpr std::size_t kDecisions = 5000;
  int wrong = 0;
  std::thread decides([&] {  // without Catch, which is of one thread
    for (std::size_t i = 0; i < kDecisions; ++i) {
      const bool done = curfew_decide_recorded(recorder.handle, policy.handle, request.handle,
                                               verdict.handle) == CURFEW_OK;
      if (!done || curfew_verdict_allows(verdict.handle) != 1) ++wrong;
    }
  });
  record::RecordReader reader;
  std::size_t read = 0;
  std::uint64_t dropped = 0;
  while (read < kDecisions) {
    const Bytes bytes = recorder.Read(CURFEW_RECORD_BYTES_MAX, dropped);
    ByteView rest = bytes;
    for (; !rest.empty(); ++read) REQUIRE(reader.Read(rest)->lost == 0);
  }
  decides.join();
  CHECK(wrong == 0);
  CHECK(dropped == 0);

  // And where nobody reads any more it goes on.
  curfew_recorder_close(recorder.handle);
  for (int i = 0; i < 1000; ++i) {
    CHECK(curfew_decide_recorded(recorder.handle, policy.handle, request.handle, verdict.handle) ==
          CURFEW_OK);
  }
  recorder.Read(CURFEW_RECORD_BYTES_MAX, dropped);
  CHECK(dropped > 0);
}

TEST_CASE("embed: a prepared request is answered as any, until a fact that lasts is set again") {
  for (const curfew_engine engine : {CURFEW_ENGINE_INTERPRETER, CURFEW_ENGINE_NATIVE}) {
    const Policy policy(engine);
    Request plain(policy, CURFEW_EXEC);
    Request prepared(policy, CURFEW_EXEC);
    SetExec(plain);
    SetShared(prepared);
    CHECK(curfew_request_prepare(nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
    REQUIRE(curfew_request_prepare(prepared.handle, nullptr) == CURFEW_OK);
    SetExec(prepared);  // what lasts too, which undoes it
    REQUIRE(curfew_request_prepare(prepared.handle, nullptr) == CURFEW_OK);
    Verdict one;
    Verdict other;
    CHECK(one.Decide(plain));
    CHECK(other.Decide(prepared));
    CHECK(one.Ids(CURFEW_ALLOWS) == other.Ids(CURFEW_ALLOWS));
    for (Request* request : {&plain, &prepared}) {
      CHECK(request->Text("exec.program", "/bin/sh") == CURFEW_OK);
    }
    CHECK_FALSE(other.Decide(prepared));
    CHECK_FALSE(one.Decide(plain));
    CHECK(one.Ids(CURFEW_DENIALS) == other.Ids(CURFEW_DENIALS));
    for (Request* request : {&plain, &prepared}) {
      CHECK(request->Text("exec.program", "/usr/bin/python3") == CURFEW_OK);
      CHECK(request->Text("task.risk", "high") == CURFEW_OK);
      CHECK(curfew_request_set_absent(request->handle, policy.Fact(CURFEW_EXEC, "task.ticket"),
                                      nullptr) == CURFEW_OK);
    }
    CHECK_FALSE(other.Decide(prepared));
    CHECK_FALSE(one.Decide(plain));
    CHECK(other.Ids(CURFEW_DENIALS) == Ids{"set.tickets"});
    curfew_request_clear(prepared.handle);
    CHECK_FALSE(other.Decide(prepared));
  }
}

TEST_CASE("embed: several threads decide by one policy, one by one and many at once") {
  const Policy policy(CURFEW_ENGINE_NATIVE);
  struct Pair {
    explicit Pair(const Policy& policy) : open(policy, CURFEW_EXEC), closed(policy, CURFEW_EXEC) {
      SetExec(open);
    }
    Request open;
    Request closed;
    Verdict first;
    Verdict second;
  };
  std::array<std::unique_ptr<Pair>, 4> pairs;
  for (auto& pair : pairs) pair = std::make_unique<Pair>(policy);
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    threads.emplace_back([&, t] {  // without Catch, which is of one thread
      const Pair& pair = *pairs[t];
      const std::array<const curfew_request*, 2> requests = {pair.open.handle, pair.closed.handle};
      const std::array<curfew_verdict*, 2> verdicts = {pair.first.handle, pair.second.handle};
      for (int i = 0; i < 2000; ++i) {
        const bool done =
            curfew_decide_many(policy.handle, requests.data(), verdicts.data(), 2) == CURFEW_OK;
        if (!done || curfew_verdict_allows(verdicts[0]) != 1 ||
            curfew_verdict_allows(verdicts[1]) != 0) {
          ++wrong[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<int, 4>{});
}

// The policy of generation N: `/bin/sh` may run in the even ones.
Bytes BundleOfGeneration(std::uint64_t generation) {
  std::string text = kPolicy;
  if (generation % 2 == 0) {
    const std::string one = "\"/usr/bin/**\"";
    text.replace(text.find(one), one.size(), "\"/usr/bin/**\", \"/bin/sh\"");
  }
  return BundleOf(text + "# generation " + std::to_string(generation) + "\n");
}

struct Live {
  explicit Live(curfew_engine engine) {
    const Bytes bundle = BundleOfGeneration(1);
    curfew_options options{};
    options.size = sizeof options;
    options.engine = engine;
    options.generation = 1;
    curfew_error error{};
    const curfew_status status =
        curfew_live_open(bundle.data(), bundle.size(), &options, &handle, &error);
    INFO(error.message);
    REQUIRE(status == CURFEW_OK);
  }
  ~Live() { curfew_live_free(handle); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  [[nodiscard]] curfew_status Reload(const Bytes& bundle, std::uint64_t generation,
                                     curfew_error* error = nullptr) const {
    return curfew_live_reload(handle, bundle.data(), bundle.size(), generation, error);
  }

  curfew_live* handle = nullptr;
};

// A thread that asks for `/bin/sh`, by whatever is in force. Without Catch, which is of one thread.
class Asker {
 public:
  explicit Asker(const Live& live) {
    is_whole_ = curfew_reader_new(live.handle, &reader_, nullptr) == CURFEW_OK &&
                curfew_verdict_new(&verdict_, nullptr) == CURFEW_OK;
  }
  ~Asker() {
    curfew_request_free(request_);
    curfew_verdict_free(verdict_);
    curfew_reader_free(reader_);
  }
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // Whether the answer is that of the generation which it names; of what it asked by is kept.
  bool Ask() {
    const curfew_policy* policy = curfew_reader_hold(reader_);
    if (policy == nullptr || !is_whole_) return false;
    if (policy != mine_ && !MakeRequest(policy)) return false;
    const bool done = curfew_decide(policy, request_, verdict_) == CURFEW_OK;
    const std::uint64_t now = curfew_verdict_generation(verdict_);
    const bool is_right =
        done && now >= generation_ && (curfew_verdict_allows(verdict_) == 1) == (now % 2 == 0);
    generation_ = now;
    curfew_reader_release(reader_);
    return is_right;
  }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] curfew_reader* reader() const { return reader_; }
  [[nodiscard]] const curfew_request* request() const { return request_; }

 private:
  bool MakeRequest(const curfew_policy* policy) {
    curfew_request* next = nullptr;
    bool done =
        curfew_request_new(policy, CURFEW_EXEC, CURFEW_STAGE_REQUEST, &next, nullptr) == CURFEW_OK;
    const auto text = [&](const char* path, std::string_view value) {
      done = done && curfew_request_set_text(next, curfew_policy_fact(policy, CURFEW_EXEC, path),
                                             value.data(), value.size(), nullptr) == CURFEW_OK;
    };
    for (const auto& [path, value] :
         std::initializer_list<std::pair<const char*, const char*>>{{"caller.id", "user:ana"},
                                                                    {"task.owner", "user:ana"},
                                                                    {"task.kind", "work"},
                                                                    {"task.risk", "low"},
                                                                    {"sandbox.class", "work"},
                                                                    {"sandbox.creator", "user:ana"},
                                                                    {"sandbox.ttl_left", "1h"},
                                                                    {"sandbox.idle", "0s"},
                                                                    {"exec.program", "/bin/sh"},
                                                                    {"exec.user", "agent"}}) {
      text(path, value);
    }
    curfew_request_leave_out_the_rest(next);
    curfew_request_free(request_);
    request_ = next;
    mine_ = policy;
    return done;
  }

  bool is_whole_ = false;
  curfew_reader* reader_ = nullptr;
  curfew_request* request_ = nullptr;
  curfew_verdict* verdict_ = nullptr;
  const curfew_policy* mine_ = nullptr;
  std::uint64_t generation_ = 0;
};

TEST_CASE("embed: a reload is decided by at once, and a broken one leaves the old policy") {
  for (const curfew_engine engine :
       {CURFEW_ENGINE_INTERPRETER, CURFEW_ENGINE_AUTO, CURFEW_ENGINE_NATIVE}) {
    const Live live(engine);
    Asker asker(live);
    CHECK(asker.Ask());
    CHECK(asker.generation() == 1);
    REQUIRE(live.Reload(BundleOfGeneration(2), 2) == CURFEW_OK);
    CHECK(curfew_live_generation(live.handle) == 2);
    CHECK(asker.Ask());
    CHECK(asker.generation() == 2);

    curfew_error error{};
    CHECK(live.Reload(BundleOfGeneration(3), 2, &error) == CURFEW_INVALID_ARGUMENT);
    CHECK(std::string(error.message).find("generation 2 is in force") == 0);
    Bytes broken = BundleOfGeneration(3);
    broken[broken.size() / 2] ^= 1;
    CHECK(live.Reload(broken, 3, &error) != CURFEW_OK);
    CHECK(live.Reload({}, 3, &error) != CURFEW_OK);
    CHECK(asker.Ask());
    CHECK(asker.generation() == 2);

    // Of what is held nothing changes, but which engine decides.
    const curfew_policy* held = curfew_reader_hold(asker.reader());
    REQUIRE(held != nullptr);
    CHECK(curfew_reader_hold(asker.reader()) == nullptr);
    CHECK(curfew_live_settle(live.handle, 60'000) == 1);
    CHECK(std::string(curfew_policy_engine(held)) ==
          (engine == CURFEW_ENGINE_INTERPRETER ? "interpreter" : "native"));
    REQUIRE(live.Reload(BundleOfGeneration(3), 3) == CURFEW_OK);
    CHECK(curfew_live_waiting(live.handle) >= 1);
    Verdict verdict;
    CHECK(curfew_decide(held, asker.request(), verdict.handle) == CURFEW_OK);
    CHECK(curfew_verdict_generation(verdict.handle) == 2);
    curfew_reader_release(asker.reader());
    const curfew_policy* next = curfew_reader_hold(asker.reader());
    CHECK(curfew_decide(next, asker.request(), verdict.handle) == CURFEW_INVALID_ARGUMENT);
    CHECK(curfew_verdict_allows(verdict.handle) == 0);
    curfew_reader_release(asker.reader());
    CHECK(asker.Ask());
    CHECK(asker.generation() == 3);
  }
}

TEST_CASE("embed: threads that decide while it is reloaded get no answer of another generation") {
  auto live = std::make_unique<Live>(CURFEW_ENGINE_AUTO);
  std::atomic<bool> ends = false;
  std::array<std::size_t, 3> wrong{};
  std::array<std::size_t, 3> answers{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      Asker asker(*live);
      while (!ends) {
        wrong[t] += asker.Ask() ? 0 : 1;
        ++answers[t];
      }
    });
  }
  const std::array<Bytes, 2> bundles = {BundleOfGeneration(2), BundleOfGeneration(3)};
  for (std::uint64_t generation = 2; generation < 60; ++generation) {
    CHECK(live->Reload(bundles[generation % 2], generation) == CURFEW_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::array<std::size_t, 3>{});
  for (const std::size_t count : answers) CHECK(count > 0);
}

TEST_CASE("embed: a reader that is freed too late, or holding, harms nothing") {
  curfew_live_free(nullptr);
  curfew_reader_free(nullptr);
  curfew_reader_release(nullptr);
  CHECK(curfew_reader_hold(nullptr) == nullptr);
  CHECK(curfew_live_open(nullptr, 0, nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_live_reload(nullptr, nullptr, 0, 0, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_reader_new(nullptr, nullptr, nullptr) == CURFEW_INVALID_ARGUMENT);
  CHECK(curfew_live_generation(nullptr) == 0);
  curfew_reader* reader = nullptr;
  curfew_verdict* verdict = nullptr;
  REQUIRE(curfew_verdict_new(&verdict, nullptr) == CURFEW_OK);
  {
    const Live live(CURFEW_ENGINE_INTERPRETER);
    REQUIRE(curfew_reader_new(live.handle, &reader, nullptr) == CURFEW_OK);
    Asker asker(live);
    CHECK(asker.Ask());
  }
  const curfew_policy* policy = curfew_reader_hold(reader);
  REQUIRE(policy != nullptr);
  CHECK(std::string(curfew_policy_digest(policy)).starts_with("sha256:"));
  curfew_reader_free(reader);
  curfew_verdict_free(verdict);
}

}  // namespace
}  // namespace curfew
