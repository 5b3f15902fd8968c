#include "compiler/tool/completion.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::tool {
namespace {

struct Flag {
  std::vector<std::string> names;  // "-w", "--write"
  std::string description;
  bool takes_value = false;
  std::vector<std::string> values;  // the only ones, where they are known
};

// One place in the tree: a verb, or a verb's own verb.
struct Place {
  std::vector<std::string> path;
  std::string summary;
  std::vector<Flag> flags;
  std::vector<Place> below;
};

// "{text,json}" in the option's type says which words it takes.
std::vector<std::string> WordsOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (open == type.npos || close == type.npos) return {};
  std::vector<std::string> words;
  std::string word;
  for (const char c : type.substr(open + 1, close - open - 1)) {
    if (c != ',') {
      word += c;
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  words.push_back(std::move(word));
  return words;
}

Place Describe(const CLI::App& app, std::vector<std::string> path) {
  Place place{std::move(path), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->get_lnames().empty()) continue;
    Flag flag;
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    flag.description = option->get_description();
    flag.takes_value = option->get_expected_max() > 0;
    if (flag.takes_value) flag.values = WordsOf(*option);
    place.flags.push_back(std::move(flag));
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    std::vector<std::string> path_below = place.path;
    path_below.push_back(below->get_name());
    place.below.push_back(Describe(*below, std::move(path_below)));
  }
  return place;
}

Place DescribeAll(const Program& program) {
  Place top;
  for (const auto& verb : program.verbs) {
    const std::unique_ptr<CLI::App> app = TreeOf(program, *verb);
    top.below.push_back(Describe(*app, {std::string(verb->name())}));
  }
  Place completion{{"completion"}, "print the completion script of a shell", {}, {}};
  for (const char* shell : {"bash", "zsh", "fish"}) {
    completion.below.push_back({{"completion", shell}, fmt::format("for {}", shell), {}, {}});
  }
  Place help{{"help"}, "say how a verb is used", {}, {}};
  for (const Place& verb : top.below) {
    help.below.push_back({{"help", verb.path.front()}, verb.summary, {}, {}});
  }
  top.below.push_back(std::move(completion));
  top.below.push_back(std::move(help));
  top.flags = {{{"-h", "--help"}, "list the verbs", false, {}},
               {{"-V", "--version"}, "print the version", false, {}}};
  return top;
}

// Calls `visit` for the place and all below it.
template <typename Visit>
void Walk(const Place& place, const Visit& visit) {
  visit(place);
  for (const Place& below : place.below) Walk(below, visit);
}

// In single quotes, for each of the three shells.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// " receipt show": what the scripts call a place.
std::string ContextOf(const Place& place) {
  std::string context;
  for (const std::string& step : place.path) context += " " + step;
  return context;
}

// The part that bash and zsh share: which place the words before the cursor lead to.
std::string ContextCases(const Place& top) {
  std::vector<std::string> contexts;
  Walk(top, [&contexts](const Place& place) {
    if (!place.path.empty()) contexts.push_back(Quoted(ContextOf(place)));
  });
  return fmt::format("      {}) context=\"$context $word\" ;;\n", fmt::join(contexts, "|"));
}

// ` check:--format`) → the words that may follow a flag.
std::string ValueCases(const Place& top, std::string_view command, std::string_view files) {
  std::string text;
  Walk(top, [&](const Place& place) {
    for (const Flag& flag : place.flags) {
      if (!flag.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back(Quoted(ContextOf(place) + ":" + name));
      }
      const std::string action =
          flag.values.empty() ? std::string(files)
                              : fmt::format(fmt::runtime(command), fmt::join(flag.values, " "));
      text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), action);
    }
  });
  return text;
}

std::string Bash(const Program& program, const Place& top) {
  std::string text = fmt::format(
      "# bash completion for {0}. Load with: eval \"$({0} completion bash)\"\n"
      "_{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} context='' word\n"
      "  COMPREPLY=()\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$context $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  case \"$context:$prev\" in\n"
      "{2}"
      "  esac\n"
      "  local verbs='' flags=''\n"
      "  case \"$context\" in\n",
      program.name, ContextCases(top),
      ValueCases(top, "COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                 "COMPREPLY=($(compgen -f -- \"$cur\"))"));
  Walk(top, [&text](const Place& place) {
    std::vector<std::string> verbs;
    for (const Place& below : place.below) verbs.push_back(below.path.back());
    std::vector<std::string> flags;
    for (const Flag& flag : place.flags) flags.push_back(flag.names.back());
    text += fmt::format("    {}) verbs='{}' flags='{}' ;;\n", Quoted(ContextOf(place)),
                        fmt::join(verbs, " "), fmt::join(flags, " "));
  });
  text += fmt::format(
      "  esac\n"
      "  case \"$cur\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -o bashdefault -o default -F _{0} {0}\n",
      program.name);
  return text;
}

// `name:what it says` for _describe.
std::string ZshItem(std::string_view name, std::string_view description) {
  std::string item;
  for (const char c : name) {
    if (c == ':') item += '\\';
    item += c;
  }
  return Quoted(item + ":" + std::string(description));
}

std::string Zsh(const Program& program, const Place& top) {
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}. Load with: eval \"$({0} completion zsh)\", after compinit\n"
      "_{0}() {{\n"
      "  local context='' word prev=${{words[CURRENT-1]}}\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n"
      "    case \"$context $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  case \"$context:$prev\" in\n"
      "{2}"
      "  esac\n"
      "  local -a verbs flags\n"
      "  case \"$context\" in\n",
      program.name, ContextCases(top), ValueCases(top, "compadd -- {}", "_files"));
  Walk(top, [&text](const Place& place) {
    std::vector<std::string> verbs;
    for (const Place& below : place.below) {
      verbs.push_back(ZshItem(below.path.back(), below.summary));
    }
    std::vector<std::string> flags;
    for (const Flag& flag : place.flags) {
      flags.push_back(ZshItem(flag.names.back(), flag.description));
    }
    text += fmt::format("    {}) verbs=({}) flags=({}) ;;\n", Quoted(ContextOf(place)),
                        fmt::join(verbs, " "), fmt::join(flags, " "));
  });
  text += fmt::format(
      "  esac\n"
      "  if [[ ${{words[CURRENT]}} == -* ]]; then _describe flag flags\n"
      "  elif (( ${{#verbs}} )); then _describe verb verbs\n"
      "  else _files; fi\n"
      "}}\n"
      "if [[ $funcstack[1] == _{0} ]]; then _{0} \"$@\"\n"
      "elif (( $+functions[compdef] )); then compdef _{0} {0}; fi\n",
      program.name);
  return text;
}

std::string Fish(const Program& program, const Place& top) {
  std::string text = fmt::format(
      "# fish completion for {0}. Load with: {0} completion fish | source\n"
      "function __{0}_context\n"
      "    set -l context ''\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        switch \"$context $word\"\n",
      program.name);
  std::vector<std::string> contexts;
  Walk(top, [&contexts](const Place& place) {
    if (!place.path.empty()) contexts.push_back(Quoted(ContextOf(place)));
  });
  text += fmt::format(
      "            case {1}\n"
      "                set context \"$context $word\"\n"
      "        end\n"
      "    end\n"
      "    test \"$context\" = \"$argv[1]\"\n"
      "end\n",
      program.name, fmt::join(contexts, " "));
  Walk(top, [&](const Place& place) {
    const std::string condition =
        fmt::format("complete -c {0} -n \"__{0}_context '{1}'\"", program.name, ContextOf(place));
    for (const Place& below : place.below) {
      text += fmt::format("{} -f -a {} -d {}\n", condition, Quoted(below.path.back()),
                          Quoted(below.summary));
    }
    for (const Flag& flag : place.flags) {
      text += condition;
      for (const std::string& name : flag.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.values.empty()) {
        text += fmt::format(" -x -a '{}'", fmt::join(flag.values, " "));
      } else if (flag.takes_value) {
        text += " -r";
      }
      text += fmt::format(" -d {}\n", Quoted(flag.description));
    }
  });
  return text;
}

}  // namespace

std::optional<Shell> ShellOf(std::string_view word) {
  if (word == "bash") return Shell::Bash;
  if (word == "zsh") return Shell::Zsh;
  if (word == "fish") return Shell::Fish;
  return std::nullopt;
}

std::string CompletionScript(const Program& program, Shell shell) {
  const Place top = DescribeAll(program);
  switch (shell) {
    case Shell::Bash:
      return Bash(program, top);
    case Shell::Zsh:
      return Zsh(program, top);
    case Shell::Fish:
      return Fish(program, top);
  }
  CURFEW_UNREACHABLE("the switch names every shell");
}

}  // namespace curfew::tool
