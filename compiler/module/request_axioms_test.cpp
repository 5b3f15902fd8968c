#include "compiler/module/request_axioms.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace curfew::module {
namespace {

using schema::Action;
using schema::Axiom;
using schema::Slot;
namespace slot = schema::slot;

// "pointer: message" of the first axiom that is broken, "" where all hold.
std::string Broken(const Request& request) {
  const std::vector<RequestProblem> problems = BrokenAxioms(request);
  return problems.empty() ? "" : problems.front().pointer + ": " + problems.front().message;
}

Request With(Action action, Slot at, std::int64_t number) {
  Request request(action);
  request.SetInteger(at, number);
  return request;
}

TEST_CASE("of what nobody knows nothing is broken") {
  for (const schema::ActionInfo& info : schema::Actions()) {
    CHECK(BrokenAxioms(Request(info.action)).empty());
  }
}

TEST_CASE("every bound of the schema holds at its value and not one beyond") {
  for (const schema::ActionInfo& info : schema::Actions()) {
    for (const Axiom& axiom : schema::AxiomsOf(info.action)) {
      CAPTURE(info.word, schema::AttributesOf(info.action)[axiom.slot].path);
      if (axiom.kind == Axiom::Kind::AtLeast || axiom.kind == Axiom::Kind::AtMost) {
        const std::int64_t beyond = axiom.kind == Axiom::Kind::AtLeast ? -1 : 1;
        CHECK(Broken(With(info.action, axiom.slot, axiom.number)).empty());
        CHECK_FALSE(Broken(With(info.action, axiom.slot, axiom.number + beyond)).empty());
      }
      if (axiom.kind == Axiom::Kind::NotBelow) {
        Request request = With(info.action, axiom.other, 7);
        request.SetInteger(axiom.slot, 7);
        CHECK(Broken(request).empty());
        request.SetInteger(axiom.slot, 6);
        CHECK_FALSE(Broken(request).empty());
      }
    }
  }
}

TEST_CASE("what a request cannot be is named with its place") {
  CHECK(Broken(With(Action::Create, slot::CreateTtl, 0)) ==
        "/create/ttl: 0s is out of range; it must be more than nothing");
  CHECK(Broken(With(Action::Create, slot::CreateRunning, 0)) ==
        "/create/running: 0 is out of range; it must be at least 1");
  CHECK(Broken(With(Action::Exec, slot::SandboxAge, -1000)) ==
        "/sandbox/age: -1s is out of range; it must be at least 0s");
  // What is left may be over.
  CHECK(Broken(With(Action::Exec, slot::SandboxTtlLeft, -1000)).empty());

  Request file = With(Action::Export, slot::ExportSize, 2048);
  file.SetInteger(slot::ExportTotal, 1024);
  CHECK(Broken(file) == "/export/total: 1KiB is less than `export.size`, 2KiB, which it includes");

  Request stream = With(Action::Egress, slot::EgressScheme, 2);
  stream.SetText(slot::EgressPath, "/x");
  CHECK(Broken(stream) == "/egress/path: a byte stream (`tcp`) has no path");
}

TEST_CASE("no group acts, and only groups are groups") {
  Request request(Action::Create);
  request.SetText(slot::CallerId, "group:sre");
  CHECK(Broken(request) ==
        "/caller/id: `group:sre` is a group; whoever acts is one user, service or agent");
  request.SetText(slot::CallerId, "user:ana");
  const std::array groups = {Value::OfText("group:sre"), Value::OfText("user:ana")};
  request.Set(slot::CallerGroups, Value::OfItems(groups));
  CHECK(Broken(request) ==
        "/caller/groups: `user:ana` is no group; every element is one, as in \"group:platform\"");
  request.Set(slot::CallerGroups, Value::OfItems(std::span(groups).first(1)));
  CHECK(Broken(request).empty());
}

TEST_CASE("no wish asks for a reserved variable, and no argument holds a NUL") {
  Request request(Action::Create);
  const std::array env = {Value::OfText("LANG"), Value::OfText("ld_preload")};
  request.Set(slot::CreateEnv, Value::OfItems(env));
  CHECK(Broken(request) ==
        "/create/env: `ld_preload` is reserved (`LD_*`); it would change what the judged program "
        "does");
  request.Set(slot::CreateEnv, Value::OfItems(std::span(env).first(1)));
  CHECK(Broken(request).empty());

  Request exec(Action::Exec);
  const std::array args = {Value::OfText(std::string_view("a\0b", 3))};
  exec.Set(slot::ExecArgs, Value::OfItems(args));
  CHECK(Broken(exec) == "/exec/args: a NUL byte, which ends a text for the kernel");
}

}  // namespace
}  // namespace curfew::module
