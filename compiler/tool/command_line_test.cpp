#include "compiler/tool/command_line.h"

#include "compiler/base/owned_fd.h"
#include "compiler/tool/completion.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

namespace curfew::tool {
namespace {

class Greet : public Verb {
 public:
  [[nodiscard]] std::string_view name() const override { return "greet"; }
  [[nodiscard]] std::string_view summary() const override { return "greet it's people"; }
  [[nodiscard]] std::string_view example() const override { return "example:\n  p greet ana"; }
  void Configure(CLI::App& app) override {
    app.add_option("NAME", names_, "whom to greet")->required();
    app.add_option("-f,--format", format_, "how")->check(CLI::IsMember({"text", "json"}));
    app.add_flag("--out-loud", loud_, "loudly");
    CLI::App* below = app.add_subcommand("twice", "greet twice");
    below->add_option("--times", times_, "how often");
  }
  int Run(Console& console) override {
    for (const std::string& name : names_) console.Out(format_ + ":" + name + (loud_ ? "!" : ""));
    return exit_status::No;
  }

 private:
  std::vector<std::string> names_;
  std::string format_ = "text";
  bool loud_ = false;
  int times_ = 2;
};

struct Ran {
  int status = 0;
  std::string out;
  std::string err;
};

std::string Contents(int fd) {
  std::string text(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  REQUIRE(pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  return text;
}

Program MakeProgram() {
  Program program{"p", "greets", "p 1.2.3", {}};
  program.verbs.push_back(std::make_unique<Greet>());
  return program;
}

Ran Run(const std::vector<std::string>& arguments) {
  const OwnedFd out(memfd_create("out", 0));
  const OwnedFd err(memfd_create("err", 0));
  Console console(out.get(), err.get(), false, false);
  Ran ran;
  ran.status = RunCommandLine(MakeProgram(), arguments, console);
  ran.out = Contents(out.get());
  ran.err = Contents(err.get());
  return ran;
}

TEST_CASE("a verb gets its arguments, and its status is the program's") {
  const Ran ran = Run({"greet", "--format", "json", "ana", "bob", "--out-loud", "-"});
  CHECK(ran.status == exit_status::No);
  CHECK(ran.out == "json:ana!json:bob!json:-!");
  CHECK(ran.err.empty());
}

TEST_CASE("help is a result, with an example; without a verb it is a complaint") {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"greet", "--help"}, {"help", "greet"}}) {
    const Ran ran = Run(arguments);
    CHECK(ran.status == 0);
    CHECK(ran.out.find("p greet ana") != ran.out.npos);
    CHECK(ran.out.find("CURFEW_GREET_OUT_LOUD") != ran.out.npos);
  }
  CHECK(Run({"--help"}).out.find("greet it's people") != std::string::npos);
  CHECK(Run({"help", "--help"}).out == Run({"--help"}).out);
  CHECK(Run({"help", "completion"}).out == Run({"completion", "--help"}).out);
  CHECK(Run({"completion", "--help"}).status == 0);
  CHECK(Run({"--version"}).out == "p 1.2.3\n");
  const Ran none = Run({});
  CHECK(none.status == exit_status::CouldNotRun);
  CHECK(none.out.empty());
  CHECK(none.err.find("usage: p VERB") != none.err.npos);
}

TEST_CASE("a typo gets the nearest name") {
  const auto first_line = [](const Ran& ran) { return ran.err.substr(0, ran.err.find('\n')); };
  CHECK(first_line(Run({"gret"})) == "curfew: `gret` is no verb; did you mean `greet`?");
  CHECK(first_line(Run({"xyz"})) == "curfew: `xyz` is no verb");
  CHECK(first_line(Run({"--hlep"})) == "curfew: `--hlep` is no flag; did you mean `--help`?");
  CHECK(first_line(Run({"help", "greeet"})) ==
        "curfew: `greeet` is no verb; did you mean `greet`?");
  CHECK(first_line(Run({"greet", "ana", "--fromat", "json"})) ==
        "curfew: greet: `--fromat` is no flag of this verb; did you mean `--format`?");
  CHECK(first_line(Run({"greet", "--fromat=json"})) ==
        "curfew: greet: `--fromat` is no flag of this verb; did you mean `--format`?");
  // Half of a short name changed is another name.
  CHECK(first_line(Run({"greet", "--foo"})) == "curfew: greet: `--foo` is no flag of this verb");
  CHECK(Run({"greet"}).status == exit_status::CouldNotRun);
  CHECK(Run({"greet", "ana", "--format", "xml"}).status == exit_status::CouldNotRun);
}

TEST_CASE("every flag has its variable, which names the verb, and the flag itself wins") {
  setenv("CURFEW_GREET_FORMAT", "json", 1);
  setenv("CURFEW_GREET_OUT_LOUD", "true", 1);
  CHECK(Run({"greet", "ana"}).out == "json:ana!");
  CHECK(Run({"greet", "ana", "--format", "text"}).out == "text:ana!");
  setenv("CURFEW_GREET_FORMAT", "xml", 1);
  CHECK(Run({"greet", "ana"}).status == exit_status::CouldNotRun);
  unsetenv("CURFEW_GREET_FORMAT");
  unsetenv("CURFEW_GREET_OUT_LOUD");

  // What is meant for another verb is none of this one's.
  setenv("CURFEW_FORMAT", "xml", 1);
  setenv("CURFEW_LINT_FORMAT", "xml", 1);
  CHECK(Run({"greet", "ana"}).out == "text:ana");
  unsetenv("CURFEW_FORMAT");
  unsetenv("CURFEW_LINT_FORMAT");
}

TEST_CASE("completion knows verbs, their verbs, flags and values") {
  CHECK(Run({"completion", "tcsh"}).status == exit_status::CouldNotRun);
  CHECK(Run({"completion"}).status == exit_status::CouldNotRun);
  const std::string bash = CompletionScript(MakeProgram(), Shell::Bash);
  CHECK(bash.find("' greet') verbs='twice' flags='--help --format --out-loud'") != bash.npos);
  CHECK(bash.find("' greet:-f'|' greet:--format') COMPREPLY=($(compgen -W 'text json'") !=
        bash.npos);
  const std::string zsh = CompletionScript(MakeProgram(), Shell::Zsh);
  CHECK(zsh.find("'greet:greet it'\\''s people'") != zsh.npos);
  const std::string fish = CompletionScript(MakeProgram(), Shell::Fish);
  CHECK(fish.find("-s f -l format -x -a 'text json' -d 'how'") != fish.npos);
}

}  // namespace
}  // namespace curfew::tool
