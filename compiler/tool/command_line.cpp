#include "compiler/tool/command_line.h"

#include "compiler/base/text.h"
#include "compiler/tool/completion.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

constexpr std::string_view kHelp = "help";
constexpr std::string_view kCompletion = "completion";
constexpr std::string_view kCompletionSummary = "print the completion script for bash, zsh or fish";

std::string TopHelp(const Program& program) {
  std::string text =
      fmt::format("{}\n\nusage: {} VERB [ARGUMENTS]\n\nverbs:\n", program.summary, program.name);
  const auto line = [&text](std::string_view name, std::string_view summary) {
    text += fmt::format("  {:<12} {}\n", name, summary);
  };
  for (const auto& verb : program.verbs) line(verb->name(), verb->summary());
  line(kCompletion, kCompletionSummary);
  line(kHelp, "say how a verb is used");
  text += fmt::format(
      "\nexit status: 0 fine or allowed, 1 could not run, 2 the answer is no, 3 the policy is "
      "invalid,\n4 a fact is missing. Every flag can be set by a variable, as its help says: "
      "CURFEW_CHECK_FORMAT\nfor the --format of check; CURFEW_COLOR, _ROOT, _STATE and _TRUST for "
      "all verbs.\n\nexample:\n  {0} check policies/\n  {0} {2} fmt\n  eval \"$({0} {1} bash)\"\n",
      program.name, kCompletion, kHelp);
  return text;
}

std::vector<std::string_view> NamesOf(const Program& program) {
  std::vector<std::string_view> names = {kHelp, kCompletion};
  for (const auto& verb : program.verbs) names.push_back(verb->name());
  return names;
}

Verb* FindVerb(const Program& program, std::string_view name) {
  for (const auto& verb : program.verbs) {
    if (verb->name() == name) return verb.get();
  }
  return nullptr;
}

int Refuse(const Program& program, Console& console, std::string_view what) {
  console.Complain(fmt::format("{}\n`{} --help` lists the verbs", what, program.name));
  return exit_status::CouldNotRun;
}

int RefuseVerb(const Program& program, Console& console, std::string_view name) {
  const bool is_flag = name.starts_with('-');
  constexpr std::string_view kFlags[] = {"--help", "--version"};
  const auto names = NamesOf(program);
  return Refuse(program, console,
                fmt::format("`{}` is no {}{}", Printable(name, 60), is_flag ? "flag" : "verb",
                            is_flag ? DidYouMean(name, kFlags) : DidYouMean(name, names)));
}

// What means the same for every verb that has it, and changes nothing of what a verb does.
constexpr std::string_view kFlagsOfAll[] = {"color", "root", "state", "trust"};

// CURFEW_STATE for --state, CURFEW_FMT_LIST for the --list of `fmt`, in the tree below `app`: a
// variable that is meant for one verb says nothing to another.
void NameVariables(CLI::App& app, std::string_view verb) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option == app.get_help_ptr()) continue;
    const std::string& flag = option->get_lnames().front();
    const bool is_of_all =
        std::find(std::begin(kFlagsOfAll), std::end(kFlagsOfAll), flag) != std::end(kFlagsOfAll);
    std::string variable =
        is_of_all ? fmt::format("CURFEW_{}", flag) : fmt::format("CURFEW_{}_{}", verb, flag);
    for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
    option->envname(variable);
  }
  for (CLI::App* below : app.get_subcommands({})) NameVariables(*below, verb);
}

// The first argument that looks like a flag and is none, if that is what went wrong.
std::optional<std::string> UnknownFlag(const CLI::App& app) {
  for (const std::string& argument : app.remaining(true)) {
    if (argument.size() > 1 && argument.starts_with('-') && argument != "--") return argument;
  }
  return std::nullopt;
}

void CollectFlags(const CLI::App& app, std::vector<std::string>& flags) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const CLI::App* below : app.get_subcommands()) CollectFlags(*below, flags);
}

std::string WhatWasWrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::optional<std::string> unknown = UnknownFlag(app);
  if (!unknown) return error.what();
  const std::string flag = unknown->substr(0, unknown->find('='));
  std::vector<std::string> flags;
  CollectFlags(app, flags);
  const std::vector<std::string_view> names(flags.begin(), flags.end());
  return fmt::format("`{}` is no flag of this verb{}", Printable(flag, 60),
                     DidYouMean(flag, names));
}

// Runs the verb; the status of what it did, before the results are known to be written.
int RunVerb(const Program& program, Verb& verb, std::span<const std::string> arguments,
            Console& console) {
  const std::unique_ptr<CLI::App> app = TreeOf(program, verb);
  try {
    // The library takes its arguments from the back.
    app->parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    console.Out(app->help());
    return exit_status::Fine;
  } catch (const CLI::ParseError& error) {
    console.Complain(fmt::format("{0}: {1}\n`{2} {0} --help` says how it is used", verb.name(),
                                 WhatWasWrong(*app, error), program.name));
    return exit_status::CouldNotRun;
  }
  return verb.Run(console);
}

// In the form of a verb's own.
std::string CompletionHelp(const Program& program) {
  CLI::App app(std::string(kCompletionSummary), fmt::format("{} {}", program.name, kCompletion));
  app.set_help_flag("-h,--help", "say how it is used");
  std::string shell;
  app.add_option("SHELL", shell, "bash, zsh or fish")->required();
  app.footer(
      fmt::format("exit status: 0 printed, 1 no such shell\n\nexample:\n  eval \"$({} {} bash)\"",
                  program.name, kCompletion));
  return app.help();
}

int PrintCompletion(const Program& program, std::span<const std::string> arguments,
                    Console& console) {
  const std::string usage =
      fmt::format("`{0} {1}` takes one of bash, zsh, fish; as in `eval \"$({0} {1} bash)\"`",
                  program.name, kCompletion);
  if (arguments.size() == 1 && (arguments.front() == "--help" || arguments.front() == "-h")) {
    console.Out(CompletionHelp(program));
    return exit_status::Fine;
  }
  const auto shell = arguments.size() == 1 ? ShellOf(arguments.front()) : std::nullopt;
  if (!shell) return Refuse(program, console, usage);
  console.Out(CompletionScript(program, *shell));
  return exit_status::Fine;
}

int PrintHelp(const Program& program, std::span<const std::string> arguments, Console& console) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    console.Out(TopHelp(program));
    return exit_status::Fine;
  }
  if (arguments.front() == kCompletion) {
    const std::string asked[] = {"--help"};
    return PrintCompletion(program, asked, console);
  }
  Verb* verb = FindVerb(program, arguments.front());
  if (verb == nullptr) return RefuseVerb(program, console, arguments.front());
  console.Out(TreeOf(program, *verb)->help());
  return exit_status::Fine;
}

int Dispatch(const Program& program, std::span<const std::string> arguments, Console& console) {
  if (arguments.empty()) {
    console.Err(TopHelp(program));
    return exit_status::CouldNotRun;
  }
  const std::string& first = arguments.front();
  const auto rest = arguments.subspan(1);
  if (first == "--help" || first == "-h") return PrintHelp(program, {}, console);
  if (first == "--version" || first == "-V") {
    console.Out(program.version + "\n");
    return exit_status::Fine;
  }
  if (Verb* verb = FindVerb(program, first)) return RunVerb(program, *verb, rest, console);
  if (first == kHelp) return PrintHelp(program, rest, console);
  if (first == kCompletion) return PrintCompletion(program, rest, console);
  return RefuseVerb(program, console, first);
}

}  // namespace

int RunCommandLine(const Program& program, std::span<const std::string> arguments,
                   Console& console) {
  int status = Dispatch(program, arguments, console);
  if (const Outcome written = console.Finish(); !written) {
    console.Complain(written.error().message);
    status = exit_status::CouldNotRun;
  }
  return status;
}

std::unique_ptr<CLI::App> TreeOf(const Program& program, Verb& verb) {
  auto app = std::make_unique<CLI::App>(std::string(verb.summary()),
                                        fmt::format("{} {}", program.name, verb.name()));
  app->set_help_flag("-h,--help", "say how it is used");
  verb.Configure(*app);
  app->footer(std::string(verb.example()));
  NameVariables(*app, verb.name());
  return app;
}

std::string DidYouMean(std::string_view written, std::span<const std::string_view> names) {
  // The dashes of a flag are no part of its name.
  const auto bare = [](std::string_view name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  const std::string_view word = bare(written);
  const std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, 3);
  std::string_view nearest;
  std::size_t distance = limit + 1;
  for (const std::string_view name : names) {
    const std::size_t d = EditDistance(word, bare(name), limit);
    if (d < distance) {
      nearest = name;
      distance = d;
    }
  }
  return nearest.empty() ? std::string() : fmt::format("; did you mean `{}`?", nearest);
}

}  // namespace curfew::tool
