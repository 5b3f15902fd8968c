// Files that files of a set name: `use`, and lists `from` a file.
#include "tests/command_line/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view kTask = R"(language 1
use "shared/hosts.curfew"
strings teams from "lists/teams.txt"

sandbox work when task.team in teams {
  image    { allow base  isolation any }
  lifetime { ttl 1h }
  network  { tls inspect  npm: allow GET npm }
}

test "names reach into other files" {
  given task   { kind: "work", team: "payments", owner: "user:ana" }
  given caller { id: "user:ana" }
  create image base                       -> allow work
  egress GET "https://npm.example/x"      -> allow work.network.npm
  egress GET "https://a.cdn.example/x"    -> allow work.network.npm
}
)";
constexpr std::string_view kHosts = R"(language 1
use "images.curfew"
hosts npm from "npm.txt"
)";
constexpr std::string_view kImages = R"(use "hosts.curfew"
image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }
)";

void WriteSet(const Workplace& place) {
  place.Write("p/task.curfew", kTask);
  place.Write("p/shared/hosts.curfew", kHosts);
  place.Write("p/shared/images.curfew", kImages);
  place.Write("p/shared/npm.txt", "# mirrors\n  npm.example\r\n\n*.cdn.example # of them\n");
  place.Write("p/lists/teams.txt", "platform\npayments");
}

TEST_CASE("a set reads what its files name, once, from wherever it is given") {
  const Workplace place;
  WriteSet(place);
  for (const char* how :
       {"curfew test p/task.curfew", "curfew test p", "cd p && curfew test task.curfew",
        "cd p && cat task.curfew | curfew test -",
        "curfew test p/shared/images.curfew p/task.curfew"}) {
    const Ran ran = place.Shell(how);
    INFO(how << "\n" << ran.out << ran.err);
    CHECK(ran.status == 0);
  }
  const std::string whole = place.Shell("curfew check --dump model p/task.curfew").out;
  CHECK_THAT(whole, Contains("hosts npm [\"*.cdn.example\", \"npm.example\"]"));
  CHECK(whole == place.Shell("curfew check --dump model p").out);
  // What a list holds is part of the set's digest.
  place.Write("p/lists/teams.txt", "platform\npayments\nresearch\n");
  CHECK(whole != place.Shell("curfew check --dump model p").out);
}

TEST_CASE("what cannot be read is said where it is named") {
  const Workplace place;
  WriteSet(place);
  const auto says = [&](std::string_view text, std::string_view why) {
    place.Write("q/a.curfew", text);
    const Ran ran = place.Shell("curfew check q/a.curfew");
    INFO(text << "\n" << ran.err);
    CHECK(ran.status == 3);
    CHECK_THAT(ran.err, Contains(std::string(why)));
    CHECK_THAT(ran.err, Contains("q/a.curfew:1:"));
    CHECK_THAT(ran.err, Contains("[CUR3014]"));
  };
  says("use \"absent.curfew\"\n", "No such file");
  says("use \"/etc/passwd.curfew\"\n", "relative to its own folder");
  says("use \"../p/task.curfew\"\n", "leads out of the folder");
  says("use \"../p/task.curfew\"\n", "`--root FOLDER`");
  says("use \"x/../../p/task.curfew\"\n", "leads out of the folder");
  says("use \"hosts.txt\"\n", "end in `.curfew`");
  says("hosts npm from \"a.curfew\"\n", "not in a policy");
  says("hosts npm from \"\"\n", "no path");
  REQUIRE(place
              .Shell("ln -s ../p/task.curfew q/link.curfew; mkfifo q/pipe; mkdir q/folder;"
                     "ln -s loop q/loop")
              .status == 0);
  says("use \"link.curfew\"\n", "a link leads out");
  says("hosts npm from \"pipe\"\n", "not a regular file");
  says("hosts npm from \"folder\"\n", "not a regular file");
  says("hosts npm from \"loop\"\n", "symbolic links");
}

TEST_CASE("a `use` in the wrong place is one mistake, and its file is not looked for") {
  const Workplace place;
  place.Write("a.curfew", "language 1\nhosts npm [\"npm.example\"]\nuse \"absent.curfew\"\n");
  const Ran ran = place.Shell("curfew check a.curfew");
  INFO(ran.err);
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("[CUR2014]"));
  CHECK_THAT(ran.err, !Contains("[CUR3014]"));
}

TEST_CASE("with a root, files name what lies below it and nothing else, for every verb") {
  const Workplace place;
  WriteSet(place);
  place.Write("apart/task.curfew", "language 1\nuse \"../p/task.curfew\"\n");
  place.Write("request.json",
              R"({"version": 1, "action": "observe", "observe": {"what": "logs"},
                  "caller": {"id": "user:ana"}, "sandbox": {"class": "work",
                  "creator": "user:ana"}})");
  place.Write("p/plain.curfew", "language 1\n");
  REQUIRE(place.Shell("mkdir inner; ln -s ../p/plain.curfew inner/link.curfew").status == 0);
  for (const char* verb :
       {"check", "lint --fail-level error", "test", "fix --dry-run", "compile -o x.bundle",
        "inspect", "eval --request request.json", "explain --request request.json"}) {
    const auto ask = [&](std::string_view options) {
      return place.Shell(fmt::format("curfew {} {} apart/task.curfew", verb, options));
    };
    INFO(verb);
    CHECK(ask("").status == 3);
    CHECK(ask("--root .").status == 0);
    CHECK(place.Shell(fmt::format("CURFEW_ROOT=. curfew {} apart/task.curfew", verb)).status == 0);
    const Ran out = ask("--root apart");
    CHECK(out.status == 3);
    CHECK_THAT(out.out + out.err, Contains("outside of the root `apart`"));
    const Ran absent = ask("--root absent");
    CHECK(absent.status == 1);
    CHECK_THAT(absent.err, Contains("--root"));
  }
  const auto says = [&](std::string_view text, std::string_view root, std::string_view why) {
    place.Write("inner/a.curfew", text);
    const Ran ran = place.Shell(fmt::format("curfew check --root {} inner/a.curfew", root));
    INFO(text << "\n" << ran.err);
    CHECK(ran.status == 3);
    CHECK_THAT(ran.err, Contains(std::string(why)) && Contains("[CUR3014]"));
  };
  says("use \"link.curfew\"\n", "inner", "outside of the root");
  says("use \"../p/task.curfew\"\n", "inner", "outside of the root");
  says("use \"../inner/../p/task.curfew\"\n", "inner", "outside of the root");
  says("use \"../p/absent.curfew\"\n", ".", "No such file");
  says("use \"/etc/x.curfew\"\n", "/", "relative to its own folder");
  // A root bounds what lies beside the file too.
  place.Write("inner/b.curfew", "language 1\n");
  says("use \"b.curfew\"\n", "p", "outside of the root");
  // A link is followed as far as the root reaches.
  place.Write("inner/a.curfew", "use \"link.curfew\"\n");
  CHECK(place.Shell("curfew check --root . inner/a.curfew").status == 0);
}

TEST_CASE("what a linked file names lies beside the link, not beside the file behind it") {
  const Workplace place;
  // As a mounted configuration is laid out: each name a link into a folder that is swapped whole.
  place.Write("p/..data/task.curfew", kTask);
  place.Write("p/..data/hosts.curfew", kHosts);
  place.Write("p/..data/images.curfew", kImages);
  place.Write("p/..data/npm.txt", "npm.example\n*.cdn.example\n");
  place.Write("p/..data/teams.txt", "payments\n");
  REQUIRE(place
              .Shell("cd p && ln -s ..data/task.curfew . && mkdir shared lists &&"
                     "cd shared && ln -s ../..data/hosts.curfew ../..data/images.curfew "
                     "../..data/npm.txt . && cd ../lists && ln -s ../..data/teams.txt .")
              .status == 0);
  // Their own folder is left by these links, so that a root has to allow it.
  CHECK(place.Shell("curfew test p/task.curfew").status == 3);
  const Ran ran = place.Shell("curfew test --root p p/task.curfew");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  // Beside the file itself there is no `shared` and no `lists`.
  const Ran direct = place.Shell("curfew check --root p p/..data/task.curfew");
  CHECK(direct.status == 3);
  CHECK_THAT(direct.err, Contains("`shared/hosts.curfew` is not read"));
}

TEST_CASE("mistakes of a list file have its lines") {
  const Workplace place;
  WriteSet(place);
  place.Write("p/shared/npm.txt", "npm.example\nnpm.example\n127.0.0.1\nb\xC3\xBC.example\n\xFF\n");
  const Ran ran = place.Shell("curfew check p");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("p/shared/npm.txt:5:1"));  // no text: nothing of it is read
  place.Write("p/shared/npm.txt", "npm.example\nnpm.example\n127.0.0.1\nb\xC3\xBC.example\n");
  const Ran twice = place.Shell("curfew check p");
  CHECK_THAT(twice.err, Contains("p/shared/npm.txt:2:1"));
  place.Write("p/shared/npm.txt", "npm.example\n127.0.0.1\nb\xC3\xBC.example\n");
  const Ran wrong = place.Shell("curfew check p");
  CHECK_THAT(wrong.err, Contains("p/shared/npm.txt:2:1"));
  CHECK_THAT(wrong.err, Contains("p/shared/npm.txt:3:1"));
  place.Write("p/shared/npm.txt", "# none\n");
  CHECK_THAT(place.Shell("curfew check p").err, Contains("[CUR5019]"));
}

TEST_CASE("a test puts another set into force, which is found below its folder") {
  const Workplace place;
  const auto set = [](std::string_view ttl, std::string_view rest) {
    return fmt::format(
        "language 1\nimage base {{ digest "
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }}\n"
        "sandbox work when task.kind == \"work\" {{\n"
        "  image {{ allow base  exec any  isolation any }}\n  lifetime {{ ttl {} }}\n}}\n{}",
        ttl, rest);
  };
  const std::string test =
      "test \"a reload\" {\n"
      "  given task   { kind: \"work\", owner: \"user:ana\" }\n"
      "  given caller { id: \"user:ana\" }\n"
      "  create image base -> allow work\n"
      "  exec \"/bin/ls\"    -> allow work.image.exec\n"
      "  reload \"next/tighter.curfew\"\n"
      "  exec \"/bin/ls\"    -> deny only set.stop\n"
      "  after 30m\n"
      "  exec \"/bin/ls\"    -> deny work.lifetime.ttl\n"
      "}\n";
  place.Write("p/task.curfew", set("2h", test));
  place.Write("p/next/tighter.curfew", set("30m", "stop: deny exec because \"stop\"\n"));
  Ran ran = place.Shell("curfew test p/task.curfew");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);

  place.Write("p/next/tighter.curfew", set("30q", ""));
  ran = place.Shell("curfew test p/task.curfew");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("has mistakes"));
  place.Write("p/task.curfew",
              set("2h", "test \"t\" { create -> deny  reload \"../x.curfew\" }\n"));
  ran = place.Shell("curfew test p/task.curfew");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("`..` leads out"));
  // A link out is as good as `..`, and a root may allow both.
  place.Write("x.curfew", set("30m", ""));
  place.Write("p/task.curfew", set("2h", "test \"t\" { create -> deny  reload \"l.curfew\" }\n"));
  REQUIRE(place.Shell("ln -s ../x.curfew p/l.curfew").status == 0);
  ran = place.Shell("curfew test p/task.curfew");
  CHECK(ran.status == 3);
  CHECK_THAT(ran.err, Contains("a link leads out"));
  CHECK(place.Shell("curfew test --root . p/task.curfew").status != 3);
}

}  // namespace
}  // namespace curfew::tests
