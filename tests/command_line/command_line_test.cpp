#include "compiler/base/json.h"
#include "tests/command_line/program.h"

#include <chrono>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

constexpr std::string_view kImage =
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

constexpr std::string_view kPolicy = R"(language 1
package acme.command_line

image python311 {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}

sandbox coding when task.kind == "coding" {

  image {
    allow     python311
    exec      "/usr/bin/python3*"
    size      cpu 1 at most 2, memory 512MiB at most 1GiB
    isolation any
  }

  filesystem {
    scratch "/work" 256MiB
    export  "/work/out/**" at most 8MiB
  }

  lifetime {
    ttl   10m at most 30m
    idle  2m then close
    grace 20s
  }
}

deny create when task.team == "none"
  because "a team pays for it"
)";

constexpr std::string_view kTests = R"(
test "a task" {
  given task   { kind: "coding", team: "research", owner: "user:ana" }
  given caller { id: "user:ana" }

  create image python311                  -> allow coding with { ttl: 10m }
  exec "/usr/bin/python3.11" ["-"]        -> allow coding.image.exec
  exec "/bin/sh" ["-c", "id"]             -> deny only coding.image.exec
  egress GET "https://packages.example/"  -> deny only coding.network.default
}
)";

// What an XML parser reads of a JUnit document.
constexpr std::string_view kReadJunit = R"(import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
print(root.tag, root.get("tests"), root.get("failures"))
for suite in root:
    print(suite.tag, ascii(suite.get("name")), suite.get("tests"), suite.get("failures"))
    for case in suite:
        print(case.tag, ascii(case.get("name")), ascii(case.get("file")), case.get("line"))
        for failure in case:
            print(failure.tag, failure.get("message"))
            print(*[line.strip() for line in failure.text.splitlines()[2:4]], sep="\n")
)";

void WritePolicy(const Workplace& place, std::string_view more = "") {
  place.Write("p.curfew", std::string(kPolicy) + std::string(more));
}

std::string Create(std::string_view team = "research", std::string_view wishes = "") {
  return fmt::format(
      R"({{"version": 1, "action": "create", "now": "2026-11-29T00:00:00Z",
         "caller": {{"id": "user:ana", "kind": "human", "groups": [], "operator": false}},
         "task": {{"id": "t1", "owner": "user:ana", "team": "{}", "kind": "coding",
                  "trigger": "human"}},
         "create": {{"image": "{}", "running": 1{}}}}})",
      team, kImage, wishes);
}

JsonValue Parse(const std::string& text) {
  const Result<JsonValue> parsed = ParseJson(text);
  INFO(text);
  REQUIRE(parsed);
  return *parsed;
}

TEST_CASE("check: silent when fine, 3 for errors, 1 for what cannot be read") {
  const Workplace place;
  WritePolicy(place);
  const Ran fine = place.Shell("curfew check p.curfew");
  CHECK(fine.err == "");
  CHECK(fine.out == "");
  CHECK(fine.status == 0);
  CHECK(place.Shell("curfew check .").status == 0);
  CHECK(place.Shell("cat p.curfew | curfew check -").status == 0);

  place.Write("bad/p.curfew", "language 1\nsandbox x {\n");
  const Ran bad = place.Shell("curfew check bad");
  CHECK(bad.status == 3);
  CHECK(bad.out == "");
  CHECK_THAT(bad.err, StartsWith("bad/p.curfew:"));
  CHECK_THAT(bad.err, Contains("[CUR"));

  CHECK(place.Shell("curfew check p.curfew --dump model --format json").status == 1);

  const Ran json = place.Shell("curfew check bad --format json");
  CHECK(json.status == 3);
  CHECK(json.err == "");
  CHECK(Parse(json.out).Find("diagnostics")->items.size() >= 1);
  CHECK(Parse(place.Shell("curfew check p.curfew --format json").out)
            .Find("diagnostics")
            ->items.empty());

  const Ran sarif = place.Shell("curfew check bad --format sarif");
  CHECK(sarif.status == 3);
  CHECK(sarif.err == "");
  const auto results_of = [](const std::string& document) {
    return Parse(document).Find("runs")->items.at(0).Find("results")->items;
  };
  CHECK(results_of(sarif.out).size() == Parse(json.out).Find("diagnostics")->items.size());
  const Ran none = place.Shell("curfew check p.curfew --format sarif");
  CHECK(none.status == 0);
  CHECK(results_of(none.out).empty());

  const Ran github = place.Shell("curfew check ./bad --format github");
  CHECK(github.status == 3);
  CHECK_THAT(github.out, StartsWith("::error file=bad/p.curfew,line="));
  CHECK(github.err == place.Shell("curfew check ./bad").err);
  CHECK(place.Shell("curfew check p.curfew --format github").out == "");
}

TEST_CASE("colour: on demand, on a terminal, and never else") {
  const Workplace place;
  WritePolicy(place, kTests);
  place.Write("bad.curfew", "sandbox x {\n");
  const auto check = [&place](const std::string& before, const std::string& flags) {
    return place.Shell(before + " curfew check bad.curfew " + flags).err.find('\x1b') !=
           std::string::npos;
  };
  CHECK_FALSE(check("", ""));
  CHECK(check("", "--color always"));
  CHECK(check("NO_COLOR=1", "--color=always"));
  CHECK(check("CURFEW_COLOR=always", ""));
  CHECK_FALSE(check("CURFEW_COLOR=always", "--color never"));
  CHECK(place.Shell("curfew check bad.curfew --color sometimes").status == 1);
  CHECK_THAT(place.Shell("curfew test -v p.curfew --color always").out,
             Contains("\x1b[32mok\x1b[0m"));

  // script(1) gives the program a terminal.
  const auto on_terminal = [&place](const std::string& before, const std::string& flags) {
    return place
               .Shell("script -qec '" + before + " " CURFEW_PROGRAM " test -v p.curfew " + flags +
                      "' /dev/null < /dev/null")
               .out.find('\x1b') != std::string::npos;
  };
  CHECK(on_terminal("TERM=xterm", ""));
  CHECK_FALSE(on_terminal("TERM=xterm NO_COLOR=1", ""));
  CHECK_FALSE(on_terminal("TERM=dumb", ""));
  CHECK_FALSE(on_terminal("TERM=xterm", "--color never"));
}

TEST_CASE("check: bad input is one clear complaint and status 1 or 3") {
  const Workplace place;
  WritePolicy(place);
  place.Write("empty/readme", "");
  place.Write("empty.curfew", "");
  place.Write("binary.curfew", std::string_view("\x7f"
                                                "ELF\0\1\2\xff",
                                                8));
  REQUIRE(mkfifo((place.path() / "fifo.curfew").c_str(), 0600) == 0);

  const auto complaint = [&place](const std::string& command, int status) {
    const Ran ran = place.Shell(command);
    INFO(command << "\n" << ran.err);
    CHECK(ran.status == status);
    CHECK(ran.out == "");
    CHECK(ran.err != "");
  };
  complaint("curfew check none.curfew", 1);
  complaint("curfew check empty", 1);
  complaint("curfew check fifo.curfew", 1);
  complaint("curfew check /dev/zero", 1);
  complaint("curfew check", 1);
  complaint("curfew check p.curfew --format yaml", 1);
  complaint("curfew check empty.curfew", 3);
  complaint("curfew check binary.curfew", 3);
  complaint("head -c 300 p.curfew | curfew check -", 3);
  complaint("head -c 17000000 /dev/zero > huge.curfew; curfew check huge.curfew", 3);
  CHECK(place.Shell("curfew check empty --allow-empty").status == 0);
  CHECK(place.Shell("curfew check none.curfew --allow-empty").status == 1);
  if (geteuid() != 0) {
    complaint("chmod 000 p.curfew; curfew check p.curfew", 1);
  }
}

TEST_CASE("fmt: prints, lists, shows, checks and writes") {
  const Workplace place;
  WritePolicy(place);
  const std::string layout = place.Shell("curfew fmt p.curfew").out;
  REQUIRE(layout != "");
  place.Write("good.curfew", layout);
  CHECK(place.Shell("curfew fmt --check good.curfew").status == 0);
  CHECK(place.Shell("curfew fmt -l good.curfew").out == "");
  CHECK(place.Shell("curfew fmt - < good.curfew").out == layout);

  std::string ugly = layout;
  ugly.replace(ugly.find("package"), 7, "package     ");
  place.Write("ugly.curfew", ugly);
  REQUIRE(chmod((place.path() / "ugly.curfew").c_str(), 0640) == 0);
  const Ran check = place.Shell("curfew fmt --check ugly.curfew good.curfew");
  CHECK(check.status == 2);
  CHECK(check.out == "ugly.curfew\n");
  CHECK(place.Shell("curfew fmt -l ugly.curfew").status == 0);
  CHECK_THAT(place.Shell("curfew fmt -d ugly.curfew").out,
             StartsWith("--- ugly.curfew\n+++ ugly.curfew\n@@ "));
  CHECK(place.Read("ugly.curfew") == ugly);

  place.Write("bad.curfew", "language 1\nsandbox x {\n");
  const Ran write = place.Shell("curfew fmt -w bad.curfew ugly.curfew");
  CHECK(write.status == 3);
  CHECK(place.Read("ugly.curfew") == layout);
  CHECK(place.Read("bad.curfew") == "language 1\nsandbox x {\n");
  struct stat status{};
  REQUIRE(stat((place.path() / "ugly.curfew").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);

  place.Write("far/away.curfew", ugly);
  const Ran link = place.Shell("ln -s far/away.curfew link.curfew; curfew fmt -w link.curfew");
  CHECK(link.status == 1);
  CHECK_THAT(link.err, Contains("is a link"));
  CHECK(place.Read("far/away.curfew") == ugly);
  CHECK(place.Shell("curfew fmt -w - < good.curfew").status == 1);
  CHECK(place.Shell("curfew fmt -w --check good.curfew").status == 1);
}

TEST_CASE("fmt: what another version of the language means it does not promise") {
  const Workplace place;
  constexpr const char* kOther = "language   2\npackage a\n";
  place.Write("p.curfew", kOther);
  for (const char* command : {"curfew fmt -w p.curfew", "curfew check p.curfew"}) {
    const Ran ran = place.Shell(command);
    CHECK(ran.status == 3);
    CHECK_THAT(ran.err, Contains("language 2 is unknown; this build knows language 1 [CUR3008]"));
    CHECK(place.Read("p.curfew") == kOther);
  }
}

TEST_CASE("test: 0 passed, 2 failed, 1 none, 3 invalid; failures show both sides") {
  const Workplace place;
  WritePolicy(place, kTests);
  const Ran passed = place.Shell("curfew test p.curfew");
  CHECK(passed.err == "");
  CHECK(passed.out == "1 passed, 0 failed\n");
  CHECK(passed.status == 0);
  CHECK_THAT(place.Shell("curfew test -v p.curfew").out,
             Contains("exec \"/bin/sh\" [\"-c\", \"id\"]\n    deny coding.image.exec\n"));

  WritePolicy(place, std::string(kTests) + R"(
test "wrong" {
  given task   { kind: "coding", team: "research", owner: "user:ana" }
  given caller { id: "user:ana" }
  create image python311, ttl 5m   -> allow coding with { ttl: 10m }
  exec "/bin/sh" ["-c", "id"]      -> allow coding.image.exec
}
)");
  const Ran failed = place.Shell("curfew test p.curfew");
  CHECK(failed.status == 2);
  CHECK_THAT(failed.out, Contains(": FAIL wrong\n"));
  CHECK_THAT(failed.out, Contains("the plan says ttl 5m, not 10m"));
  CHECK_THAT(failed.out, Contains("    expected  allow coding.image.exec\n"
                                  "    actual    deny coding.image.exec\n"));
  CHECK_THAT(failed.out, Contains("1 passed, 1 failed\n"));
  CHECK(place.Shell("curfew test p.curfew -r '^a '").status == 0);
  CHECK(place.Shell("curfew test p.curfew -r nothing").status == 1);
  CHECK(place.Shell("curfew test p.curfew -r nothing --allow-empty").status == 0);
  CHECK(place.Shell("curfew test p.curfew -r '('").status == 1);

  const JsonValue json = Parse(place.Shell("curfew test p.curfew --format json").out);
  CHECK(json.Find("failed")->integer == 1);
  CHECK(json.Find("tests")->items.size() == 2);
  place.Write("read.py", kReadJunit);
  const Ran junit = place.Shell("curfew test p.curfew --format junit | python3 read.py");
  CHECK(junit.err == "");
  CHECK(junit.out ==
        "testsuites 2 1\n"
        "testsuite 'p.curfew' 2 1\n"
        "testcase 'a task' 'p.curfew' 32\n"
        "testcase 'wrong' 'p.curfew' 42\n"
        "failure the plan says ttl 5m, not 10m\n"
        "expected  allow coding with { ttl: 10m }\n"
        "actual    allow coding, coding.image.python311 with { ttl: 5m }\n");
  // Names that are neither UTF-8 nor printable: the document is well-formed all the same.
  place.Write("n\x01\xff\"<.curfew", R"(test "<&\u{1}\u{fffe}>" { create -> deny })");
  const Ran odd = place.Shell("curfew test p.curfew *.curfew --format junit | python3 read.py");
  CHECK(odd.err == "");
  CHECK_THAT(odd.out, Contains("testsuite 'n\\ufffd\\ufffd\"<.curfew' 1 "));
  CHECK_THAT(odd.out, Contains("testcase '<&\\ufffd\\ufffd>' 'n"));
  std::filesystem::remove(place.path() / "n\x01\xff\"<.curfew");
  CHECK_THAT(place.Shell("curfew test p.curfew --coverage").out, Contains("% of the rules"));
  CHECK(place.Shell("curfew test p.curfew -r '^a ' --threshold 100").status == 2);

  WritePolicy(place);
  CHECK(place.Shell("curfew test p.curfew").status == 1);
  place.Write("bad.curfew", "sandbox x {\n");
  CHECK(place.Shell("curfew test bad.curfew").status == 3);
}

TEST_CASE("test: an answer that rests on what is not given fails, and names it") {
  const Workplace place;
  WritePolicy(place, R"(
deny create when task.trigger == agent

test "silent about the trigger" {
  given task   { kind: "coding", team: "research", owner: "user:ana" }
  given caller { id: "user:ana" }
  create image python311 -> allow
}
)");
  const Ran ran = place.Shell("curfew test p.curfew");
  CHECK(ran.status == 2);
  CHECK_THAT(ran.out, Contains("depends on `task.trigger`, which the test does not give"));
}

TEST_CASE("eval: 0 allowed with a plan, 2 denied with every reason, 4 undecided") {
  const Workplace place;
  WritePolicy(place);
  place.Write("allow.json", Create());
  place.Write("deny.json", Create("none", R"(, "ttl": "31m")"));

  const Ran allowed = place.Shell("curfew eval p.curfew --request allow.json");
  INFO(allowed.err << allowed.out);
  CHECK(allowed.status == 0);
  CHECK_THAT(allowed.out, StartsWith("allow create in class `coding`\n"));
  CHECK_THAT(allowed.out, Contains("  ttl        10m\n"));
  CHECK(place.Shell("curfew eval p.curfew --request - < allow.json").out == allowed.out);

  const JsonValue plan =
      Parse(place.Shell("curfew eval p.curfew --request allow.json --format json").out);
  CHECK(plan.Find("version")->integer == 1);
  CHECK(plan.Find("decision")->text == "allow");
  CHECK(plan.Find("class")->text == "coding");
  CHECK(plan.Find("plan")->Find("memory")->text == "512MiB");
  CHECK(plan.Find("plan")->Find("digest")->text == kImage);

  const Ran denied = place.Shell("curfew eval p.curfew --request deny.json --format json");
  CHECK(denied.status == 2);
  const JsonValue answer = Parse(denied.out);
  CHECK(answer.Find("decision")->text == "deny");
  REQUIRE(answer.Find("denials")->items.size() == 2);
  CHECK(answer.Find("denials")->items[0].Find("id")->text == "coding.lifetime.ttl");
  const JsonValue& rule = answer.Find("denials")->items[1];
  CHECK_THAT(rule.Find("id")->text, StartsWith("set.deny_"));
  CHECK(rule.Find("message")->text == "a team pays for it");
  CHECK(rule.Find("file")->text == "p.curfew");
  CHECK(rule.Find("line")->integer == 29);
  CHECK(answer.Find("plan") == nullptr);

  place.Write("open.json", R"({"version": 1, "action": "observe", "observe": {"what": "logs"},
    "caller": {"id": "user:bob"}, "task": {"owner": "user:ana"},
    "sandbox": {"class": "coding", "creator": "user:ana"}})");
  const Ran open = place.Shell("curfew eval p.curfew --request open.json");
  INFO(open.out);
  CHECK(open.status == 4);
  CHECK_THAT(open.out, Contains("depends on `caller."));
}

TEST_CASE("eval: a request that does not fit is denied as a whole; what is no JSON cannot run") {
  const Workplace place;
  WritePolicy(place);
  const auto eval = [&place](std::string_view request) {
    place.Write("r.json", request);
    return place.Shell("curfew eval p.curfew --request r.json");
  };
  for (const auto& [request, reason] : std::vector<std::pair<std::string, std::string>>{
           {Create("x", R"(, "tll": "1h")"), "/create/tll: unknown field; did you mean `ttl`?"},
           {Create("x", R"(, "ttl": null)"), "/create/ttl: null means nothing"},
           {Create("x", R"(, "cpu": 1.0)"), "/create/cpu: "},
           {R"({"version": 1, "action": "exec"})", "/exec/program: missing"},
           {Create("x", R"(, "ttl": "0s")"), "/create/ttl: 0s is out of range"},
           {Create("x", R"(, "cpu": 0)"), "/create/cpu: 0 is out of range"},
           {R"({"version": 1, "version": 1})", "/version: stands twice"},
           {"[]", "/: an array"}}) {
    const Ran ran = eval(request);
    INFO(ran.out);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.out, Contains("request.invalid"));
    CHECK_THAT(ran.out, Contains(reason));
  }
  for (const std::string request : {"", "{", "{}{}", "\xff", "nonsense"}) {
    const Ran ran = eval(request);
    INFO(ran.err);
    CHECK(ran.status == 1);
    CHECK(ran.out == "");
    CHECK_THAT(ran.err, StartsWith("curfew: r.json: "));
  }
  CHECK(place.Shell("curfew eval p.curfew --request none.json").status == 1);
  CHECK(place.Shell("curfew eval p.curfew --request .").status == 1);
  CHECK(place.Shell("curfew eval p.curfew --request /dev/zero").status == 1);
  CHECK(place.Shell("curfew eval p.curfew").status == 1);
  CHECK(place.Shell("curfew eval - --request - < p.curfew").status == 1);
}

TEST_CASE("eval: many requests, one a line; the worst answer is the status") {
  const Workplace place;
  WritePolicy(place);
  const auto line = [](std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text + "\n";
  };
  place.Write("r.jsonl", line(Create()) + "\n" + line(Create("none")));
  const Ran ran = place.Shell("curfew eval p.curfew --request r.jsonl --lines --format json");
  CHECK(ran.status == 2);
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 2);
  // A bad line is answered where it stands, and the rest goes on.
  place.Write("r.jsonl", line(Create("none")) + "\nnonsense\n" +
                             "{\"version\": 1, \"version\": 1}\n" + line(Create()));
  const Ran broken = place.Shell("curfew eval p.curfew --request r.jsonl --lines");
  CHECK(broken.status == 1);
  CHECK(broken.err == "");
  CHECK_THAT(broken.out, Contains("\nerror in line 3: not JSON at line 1, column 2"));
  CHECK_THAT(broken.out, Contains("\nallow create in class `coding`\n"));
  const Ran objects = place.Shell("curfew eval p.curfew --request r.jsonl --lines --format json");
  CHECK(objects.status == 1);
  std::vector<JsonValue> answers;
  for (std::size_t at = 0; at < objects.out.size();) {
    const std::size_t end = objects.out.find('\n', at);
    answers.push_back(Parse(objects.out.substr(at, end - at)));
    at = end + 1;
  }
  REQUIRE(answers.size() == 4);
  CHECK(answers[0].Find("decision")->text == "deny");
  CHECK(answers[1].Find("line")->integer == 3);
  CHECK_THAT(answers[1].Find("error")->text, StartsWith("not JSON"));
  CHECK(answers[2].Find("denials")->items[0].Find("id")->text == "request.invalid");
  CHECK(answers[3].Find("decision")->text == "allow");
  place.Write("r.jsonl", "\n\n");
  CHECK(place.Shell("curfew eval p.curfew --request r.jsonl --lines").status == 1);
}

TEST_CASE("what is no sandbox is a mistake of the caller, and says what would be one") {
  const Workplace place;
  for (const char* line :
       {"receipt verify ../../etc", "receipt show ../../etc", "receipt verify ''",
        "receipt verify cf-tooshort", "receipt verify --state state ./nowhere"}) {
    INFO(line);
    const Ran ran = place.Shell(std::string("curfew ") + line);
    CHECK(ran.status == 1);
    CHECK(ran.out.empty());
    CHECK(
        ran.err.find("neither a sandbox's id (`curfew ps --all` lists them) nor a receipt file") !=
        std::string::npos);
  }
  // A well-formed one that never was has no receipt.
  CHECK(place.Shell("curfew receipt verify --state state cf-aaaabbbbcccc2345").status == 2);
  CHECK(place.Shell("curfew receipt verify --state state cf-aaaabbbbcccc2345 cf-zzzzzzzzzzzzzzzz")
            .status == 2);
  if (geteuid() == 0) {
    const Ran ran = place.Shell("curfew residue --state $PWD/state ../../etc");
    CHECK(ran.status == 1);
    CHECK(ran.err.find("no sandbox's id") != std::string::npos);
  }
}

TEST_CASE("eval: every engine gives one answer, and where there is no native code that is said") {
  const Workplace place;
  WritePolicy(place);
  std::string line = Create();
  std::replace(line.begin(), line.end(), '\n', ' ');
  place.Write("r.jsonl", line + "\n");
  const auto answer = [&](const std::string& program, const std::string& flags) {
    return place.Shell(program + " eval p.curfew --request r.jsonl --format json " + flags);
  };
  const auto said = [](const Ran& ran, std::string_view what) {
    const JsonValue document = Parse(ran.out);
    const JsonValue* found = document.Find(what);
    return found == nullptr ? std::string() : found->text;
  };
  std::string native = answer("curfew", "--engine native").out;
  const Ran interpreter = answer("curfew", "--engine interpreter");
  CHECK(said(interpreter, "engine") == "interpreter");
  REQUIRE_THAT(native, Contains("\"engine\":\"native\""));
  native.replace(native.find("\"engine\":\"native\""), 17, "\"engine\":\"interpreter\"");
  CHECK(native == interpreter.out);
  CHECK(said(answer("curfew", "--lines"), "engine") == "native");
  CHECK(said(answer("curfew", ""), "engine") == "interpreter");

  // A program without the compiler's library beside it.
  REQUIRE(place.Shell("cp '" CURFEW_PROGRAM "' alone").status == 0);
  const Ran fallen_back = answer("./alone", "--lines");
  CHECK(fallen_back.status == 0);
  CHECK(said(fallen_back, "engine") == "interpreter");
  CHECK_THAT(said(fallen_back, "why_not_native"), Contains("libcurfew_jit.so"));
  const Ran told = place.Shell("./alone eval p.curfew --request r.jsonl --lines");
  CHECK(told.status == 0);
  CHECK_THAT(told.err, Contains("the interpreter decides: no native code"));
  const Ran refused = answer("./alone", "--engine native");
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("libcurfew_jit.so"));
}

TEST_CASE("results that cannot be written are a failure, a reader that has gone is none") {
  const Workplace place;
  WritePolicy(place);
  const Ran full = place.Shell("curfew fmt p.curfew > /dev/full");
  CHECK(full.status == 1);
  CHECK_THAT(full.err, Contains("cannot write the results to standard output"));
  CHECK(place.Shell("curfew version > /dev/full").status == 1);
  CHECK(place.Shell("curfew version >&-").status == 1);
  CHECK(place.Shell("curfew check p.curfew <&- >&- 2>&-").status == 0);

  // The status of the program, not of the reader.
  const Ran gone = place.Shell(
      "for i in 1 2 3; do { curfew fmt p.curfew p.curfew; echo $? > status; } | true; done; "
      "cat status");
  CHECK(gone.out == "0\n");
  CHECK(gone.err == "");
}

TEST_CASE("no colour where nobody asked for it") {
  const Workplace place;
  place.Write("bad.curfew", "language 1\nsandbox x {\n");
  CHECK(place.Shell("curfew check bad.curfew").err.find('\x1b') == std::string::npos);
}

TEST_CASE("every verb has a summary, a help with an example, and a place in completion") {
  const Workplace place;
  const std::string list = place.Shell("curfew --help").out;
  const std::string bash = place.Shell("curfew completion bash").out;
  const std::vector<std::string> verbs = {"check", "fmt", "test",    "eval",    "version", "lsp",
                                          "run",   "ps",  "receipt", "residue", "doctor"};
  for (const std::string& verb : verbs) {
    const Ran help = place.Shell("curfew " + verb + " --help");
    INFO(verb);
    CHECK(help.status == 0);
    CHECK(help.err == "");
    CHECK_THAT(help.out, Contains("example"));
    CHECK_THAT(help.out, Contains("curfew " + verb));
    CHECK_THAT(list, Contains("\n  " + verb + " "));
    CHECK_THAT(bash, Contains("' " + verb + "') verbs="));
  }
  CHECK(place.Shell("curfew help nothing").status == 1);
  CHECK_THAT(place.Shell("curfew chekc p.curfew").err, Contains("did you mean `check`?"));
  CHECK(place.Shell("curfew chekc p.curfew").status == 1);
}

TEST_CASE("completion scripts load in their shells") {
  const Workplace place;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Ran ran = place.Shell(fmt::format(
        "curfew completion {0} > script && if command -v {0} > /dev/null; then {0} -n script; fi",
        shell));
    INFO(shell << "\n" << ran.err);
    CHECK(ran.status == 0);
    CHECK(ran.err == "");
  }
  // What bash offers, asked as bash asks.
  const Ran bash = place.Shell(
      "curfew completion bash > script; bash -c '. ./script; COMP_WORDS=(curfew check --format j); "
      "COMP_CWORD=3; _curfew; echo \"${COMPREPLY[@]}\"; COMP_WORDS=(curfew ch); COMP_CWORD=1; "
      "_curfew; echo \"${COMPREPLY[@]}\"; COMP_WORDS=(curfew fmt --c); COMP_CWORD=2; _curfew; "
      "echo \"${COMPREPLY[@]}\"'");
  CHECK(bash.out == "json junit\ncheck\n--check --color\n");
}

TEST_CASE("check: a decision that may cost more than is granted is an error") {
  const Workplace place;
  WritePolicy(place);
  const std::string text = place.Shell("curfew inspect p.curfew").out;
  const std::size_t end = text.find(" steps a decision");
  REQUIRE(end != std::string::npos);
  const std::size_t begin = text.rfind(' ', end - 1) + 1;
  const std::uint64_t steps = std::stoull(text.substr(begin, end - begin));
  CHECK(place.Shell(fmt::format("curfew check --max-cost {} p.curfew", steps)).status == 0);
  const Ran above = place.Shell(fmt::format("curfew check --max-cost {} p.curfew", steps - 1));
  CHECK(above.status == 3);
  CHECK_THAT(above.err, Contains(fmt::format("may take {} steps", steps)));
  CHECK_THAT(above.err, Contains("[CUR6013]"));
  CHECK(place.Shell("curfew check --max-cost 0 p.curfew").status == 1);
}

TEST_CASE("the environment sets flags") {
  const Workplace place;
  WritePolicy(place);
  CHECK_THAT(place.Shell("CURFEW_CHECK_FORMAT=json curfew check p.curfew").out, StartsWith("{"));
  CHECK(place.Shell("CURFEW_CHECK_FORMAT=yaml curfew check p.curfew").status == 1);
}

}  // namespace
}  // namespace curfew::tests
