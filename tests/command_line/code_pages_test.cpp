// Where the host lets nothing become code but programs and their libraries, the interpreter decides
// and that is said; where it only holds that no page is ever both written and run, native code is
// as good as ever.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr const char* Refusing = "python3 '" CURFEW_REFUSE_CODE_PAGES "' '" CURFEW_PROGRAM "' ";

struct Scene {
  Workplace place;
  Scene() {
    place.Write("p.curfew", "language 1\npackage t\ndeny create because \"closed\"\n");
    place.Write(
        "r.jsonl",
        R"({"version": 1, "action": "create", "now": "2026-11-29T00:00:00Z", )"
        R"("caller": {"id": "user:ana", "kind": "human", "groups": [], "operator": false}, )"
        R"("task": {"id": "t1", "owner": "user:ana", "team": "a", "kind": "coding", )"
        R"("trigger": "human"}, "create": {"image": "sha256:)" +
            std::string(64, 'a') +
            R"(", "running": 1}})"
            "\n");
  }
  [[nodiscard]] Ran Eval(const std::string& program, const std::string& flags) const {
    return place.Shell(program + " eval p.curfew --request r.jsonl --format json " + flags);
  }
};

TEST_CASE("a host without pages for code: the interpreter decides, and it is said") {
  const Scene scene;
  const Ran usual = scene.Eval("curfew", "--lines");
  REQUIRE_THAT(usual.out, Contains("\"engine\":\"native\""));
  const Ran ran = scene.Eval(Refusing, "--lines");
  INFO(ran.err);
  CHECK(ran.status == usual.status);
  CHECK_THAT(ran.out, Contains("\"engine\":\"interpreter\""));
  CHECK_THAT(ran.out, Contains("\"why_not_native\":\"") && Contains("Permission denied"));
  // The verdict is the same one.
  CHECK(ran.out.substr(0, ran.out.find("\"engine\"")) ==
        usual.out.substr(0, usual.out.find("\"engine\"")));
  const Ran told =
      scene.place.Shell(std::string(Refusing) + "eval p.curfew --request r.jsonl --lines");
  CHECK_THAT(told.err, Contains("the interpreter decides") && Contains("Permission denied"));
  // Who insists is refused, with the way out.
  const Ran refused = scene.Eval(Refusing, "--engine native");
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("--engine interpreter"));
}

TEST_CASE("doctor says that policies are interpreted there, and why") {
  const Workplace place;
  const Ran ran = place.Shell(std::string(Refusing) + "doctor --format json");
  CHECK_THAT(ran.out, Contains("policies are interpreted: ") && Contains("Permission denied") &&
                          Contains("executable memory"));
  CHECK_THAT(place.Shell("curfew doctor --format json").out,
             Contains("policies are compiled to native code"));
}

TEST_CASE("native code never needs a page that was written to be run") {
  const Scene scene;
  // PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN: kept over exec.
  const std::string strict =
      "python3 -c 'import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0 or "
      "sys.exit(77); os.execv(sys.argv[1], sys.argv[1:])' '" CURFEW_PROGRAM "'";
  const Ran ran = scene.Eval(strict, "--lines --engine native");
  if (ran.status == 77) {
    WARN("not run: this kernel cannot refuse such pages");
    return;
  }
  INFO(ran.err);
  CHECK_THAT(ran.out, Contains("\"engine\":\"native\""));
}

}  // namespace
}  // namespace curfew::tests
