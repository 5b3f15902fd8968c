#include "runtime/client/task.h"

#include "tests/fakes/places.h"

#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

std::string TaskWith(std::string_view more) {
  return fmt::format(R"({{"version": 1, "id": "t", "owner": "user:ana", "team": "x", "kind": "k",
    "trigger": "human", "create": {{"image": "python311", "cpu": 2, "ttl": "10m"}},
    "commands": [{{"run": ["python3", "-"], "stdin": "a.py", "timeout": "1m30s",
                  "env": {{"A": "b"}}, "allow_failure": true}}]{}}})",
                     more);
}

std::string MistakeOf(std::string_view text) {
  const Result<Task> task = ReadTask(text);
  REQUIRE_FALSE(task);
  CHECK(task.error().code == FailureCode::Malformed);
  return task.error().message;
}

TEST_CASE("a task becomes a request and commands") {
  const Task task =
      *ReadTask(TaskWith(R"(, "attributes": {"ticket": "T-1"}, "export": ["/a/**"])"));
  CHECK(task.id == "t");
  CHECK(task.image == "python311");
  CHECK(task.request["task"]["ticket"] == "T-1");
  CHECK(task.request["task"]["owner"] == "user:ana");
  CHECK(task.request["create"]["cpu"] == 2);
  CHECK(task.request["create"]["ttl"] == "10m");
  CHECK_FALSE(task.request["create"].contains("memory"));
  REQUIRE(task.commands.size() == 1);
  CHECK(task.commands[0].exec.timeout_ms == 90'000);
  CHECK(task.commands[0].exec.env == std::vector<std::string>{"A=b"});
  CHECK(task.commands[0].exec.input);
  CHECK(task.commands[0].stdin_file == "a.py");
  CHECK(task.commands[0].allow_failure);
  CHECK(task.exports == std::vector<std::string>{"/a/**"});
  CHECK_FALSE(task.caller);
}

TEST_CASE("every mistake of a task is named with its place") {
  CHECK(MistakeOf("{}").find("`id` is missing") != std::string::npos);
  CHECK(MistakeOf("[]").find("an object") != std::string::npos);
  CHECK(MistakeOf("").size() > 0);
  CHECK(MistakeOf(TaskWith(R"(, "exprot": [])")).find("did you mean `export`?") !=
        std::string::npos);
  CHECK(MistakeOf(TaskWith(R"(, "id": "twice")")).find("id") != std::string::npos);
  CHECK(MistakeOf(TaskWith(R"(, "export": "/a")")).find("/export") != std::string::npos);
  CHECK(MistakeOf(TaskWith(R"(, "export": [1])")).find("/export") != std::string::npos);
  CHECK(
      MistakeOf(TaskWith(R"(, "attributes": {"owner": "user:root"})")).find("/attributes/owner") !=
      std::string::npos);
  CHECK(MistakeOf(TaskWith(R"(, "caller": {"id": "user:b", "operator": true})")).find("/caller") !=
        std::string::npos);
  const std::string two = MistakeOf(
      R"({"version": 2, "id": "t", "owner": "o", "team": "x", "kind": "k", "trigger": "human",
          "create": {}, "commands": [{"run": []}, {"run": ["a"], "timeout": "soon"}]})");
  for (const char* place : {"/version", "/create", "/commands/0", "/commands/1/timeout"}) {
    INFO(two);
    CHECK(two.find(place) != std::string::npos);
  }
}

// A task with one command, whose members these are.
std::string Command(std::string_view members) {
  return fmt::format(R"({{"version": 1, "id": "t", "owner": "user:ana", "team": "x", "kind": "k",
    "trigger": "human", "create": {{"image": "python311"}}, "commands": [{{{}}}]}})",
                     members);
}

TEST_CASE("what could only fail once a machine has booted is found in the task") {
  struct Case {
    std::string task;
    const char* place;
    const char* why;
  };
  for (const Case& c : {
           Case{TaskWith(R"(, "export": ["/work/../etc/**"])"), "/export", "`..`"},
           Case{TaskWith(R"(, "export": ["work/out/**"])"), "/export", "begins with `/`"},
           Case{TaskWith(R"(, "export": ["/a\u0000b"])"), "/export", "NUL"},
           Case{TaskWith(R"(, "export": [""])"), "/export", ""},
           Case{Command(R"("run": [])"), "/commands/0/run", "at least a program"},
           Case{Command(R"("run": [""])"), "/commands/0/run", "no name"},
           Case{Command(R"("run": ["a", "b\u0000c"])"), "/commands/0/run", "NUL"},
           Case{Command(R"("run": ["a"], "cwd": "/a\u0000b")"), "/commands/0/cwd", "NUL"},
           Case{Command(R"("run": ["a"], "cwd": "work")"), "/commands/0/cwd", "`/`"},
           Case{Command(R"("run": ["a"], "cwd": "")"), "/commands/0/cwd", ""},
           Case{Command(R"("run": ["a"], "timeout": "")"), "/commands/0/timeout", ""},
           Case{Command(R"("run": ["a"], "stdin": "a.py\u0000x")"), "/commands/0/stdin", "NUL"},
           Case{Command(R"("run": ["a"], "env": {"A": "b\u0000c"})"), "/commands/0/env", "NUL"},
           Case{Command(R"("run": ["a"], "env": {"A=": "b"})"), "/commands/0/env", "no name"},
           Case{Command(R"("run": ["a"], "env": {"LD_PRELOAD": "b"})"), "/commands/0/env",
                "`LD_PRELOAD` is reserved (`LD_*`)"},
           Case{Command(R"("run": ["a"], "env": {"bash_env": "b"})"), "/commands/0/env",
                "is reserved (`BASH_ENV`)"},
       }) {
    const std::string mistake = MistakeOf(c.task);
    INFO(c.task << '\n' << mistake);
    CHECK(mistake.find(std::string(c.place) + ": ") != std::string::npos);
    CHECK(mistake.find(c.why) != std::string::npos);
  }
}

TEST_CASE("an empty wish is passed on, so that the decoder of requests refuses it") {
  const Result<Task> task = ReadTask(
      R"({"version": 1, "id": "t", "owner": "user:ana", "team": "x", "kind": "k",
          "trigger": "human", "create": {"image": "python311", "ttl": ""}, "commands": []})");
  REQUIRE(task);
  CHECK(task->request["create"]["ttl"] == "");
}

TEST_CASE("standard input is read beside the task and through no link") {
  const fakes::TemporaryDirectory directory;
  const std::string task = directory.path() + "/task.json";
  std::ofstream(directory.path() + "/a.py") << "pass";
  REQUIRE(symlink("/etc/passwd", (directory.path() + "/link.py").c_str()) == 0);
  CHECK(OpenBeside(task, "a.py"));
  CHECK(OpenBeside(task, "missing.py").error().code == FailureCode::NotFound);
  for (const char* name : {"../a.py", "/etc/passwd", "link.py"}) {
    INFO(name);
    CHECK(OpenBeside(task, name).error().code == FailureCode::PermissionDenied);
  }
  CHECK(OpenBeside(task, ".").error().code == FailureCode::Malformed);
}

}  // namespace
}  // namespace curfew::client
