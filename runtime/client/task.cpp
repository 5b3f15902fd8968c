#include "runtime/client/task.h"

#include "compiler/base/limits.h"
#include "compiler/base/text.h"
#include "compiler/values/path.h"
#include "compiler/values/quantity.h"
#include "compiler/values/variable.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::client {
namespace {

using evidence::Json;
using Kind = JsonValue::Kind;

constexpr std::int64_t TaskVersion = 1;
constexpr std::size_t CommandsMax = 1024;
constexpr std::size_t ArgumentBytesMax = 96 * 1024;  // of one command, all arguments together

constexpr std::string_view NulMistake = "a NUL byte, which ends a text for the kernel";
bool HoldsNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// Reads one object: each member is taken by name, the rest are mistakes.
class Members {
 public:
  Members(const JsonValue& object, std::string pointer, std::vector<std::string>& mistakes)
      : object_(object), pointer_(std::move(pointer)), mistakes_(mistakes) {
    if (!object.is(Kind::Object)) {
      Complain("", fmt::format("{} stands where an object should", Describe(object.kind)));
    }
  }

  const JsonValue* Take(std::string_view name, Kind kind, bool required) {
    known_.emplace_back(name);
    const JsonValue* member = object_.Find(name);
    if (member == nullptr) {
      if (required && object_.is(Kind::Object)) Complain("", fmt::format("`{}` is missing", name));
      return nullptr;
    }
    if (!member->is(kind)) {
      Complain(name,
               fmt::format("{} stands where {} should", Describe(member->kind), Describe(kind)));
      return nullptr;
    }
    return member;
  }

  std::string Text(std::string_view name, bool required) {
    return OptionalText(name, required).value_or("");
  }

  std::optional<std::string> OptionalText(std::string_view name, bool required = false) {
    const JsonValue* member = Take(name, Kind::String, required);
    if (member == nullptr) return std::nullopt;
    if (HoldsNul(member->text)) Complain(name, std::string(NulMistake));
    return member->text;
  }

  bool Flag(std::string_view name) {
    const JsonValue* member = Take(name, Kind::Bool, false);
    return member != nullptr && member->boolean;
  }

  std::vector<std::string> Texts(std::string_view name, bool required) {
    std::vector<std::string> texts;
    const JsonValue* member = Take(name, Kind::Array, required);
    if (member == nullptr) return texts;
    for (std::size_t i = 0; i < member->items.size(); ++i) {
      if (!member->items[i].is(Kind::String)) {
        Complain(name, fmt::format("item {} is no string", i));
        continue;
      }
      if (HoldsNul(member->items[i].text)) {
        Complain(name, fmt::format("item {}: {}", i, NulMistake));
      }
      texts.push_back(member->items[i].text);
    }
    return texts;
  }

  // What nobody took, with the nearest name that would have been right.
  void Finish() {
    for (const JsonMember& member : object_.members) {
      if (std::find(known_.begin(), known_.end(), member.name) != known_.end()) continue;
      std::string text = fmt::format("`{}` is no member of this", Printable(member.name, 60));
      for (const std::string& name : known_) {
        if (EditDistance(member.name, name, 2) <= 2) {
          text += fmt::format("; did you mean `{}`?", name);
          break;
        }
      }
      Complain(member.name, text);
    }
  }

  void Complain(std::string_view name, std::string_view what) {
    const std::string pointer = name.empty() ? pointer_ : PointerTo(pointer_, name);
    mistakes_.push_back(fmt::format("{}: {}", pointer.empty() ? "/" : pointer, what));
  }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }

 private:
  const JsonValue& object_;
  std::string pointer_;
  std::vector<std::string>& mistakes_;
  std::vector<std::string> known_;
};

// The same value for the keeper. A number that is no whole one goes as its text: the decoder of
// requests refuses it in its own words.
Json ToJson(const JsonValue& value) {
  switch (value.kind) {
    case Kind::Null:
      return nullptr;
    case Kind::Bool:
      return value.boolean;
    case Kind::Integer:
      return value.integer;
    case Kind::Number:
    case Kind::String:
      return value.text;
    case Kind::Array: {
      Json list = Json::array();
      for (const JsonValue& item : value.items) list.push_back(ToJson(item));
      return list;
    }
    case Kind::Object: {
      Json object = Json::object();
      for (const JsonMember& member : value.members) object[member.name] = ToJson(member.value);
      return object;
    }
  }
  return nullptr;
}

std::uint64_t TimeoutOf(Members& members) {
  const std::optional<std::string> text = members.OptionalText("timeout");
  if (!text) return 0;
  const values::Parsed<std::int64_t> parsed = values::ParseDuration(*text);
  if (parsed && *parsed > 0) return static_cast<std::uint64_t>(*parsed);
  members.Complain("timeout", parsed ? "a timeout is longer than nothing" : parsed.error().message);
  return 0;
}

// The variables as "NAME=text". A reserved one could only be refused once the machine has booted.
std::vector<std::string> EnvironmentOf(Members& members) {
  std::vector<std::string> variables;
  const JsonValue* env = members.Take("env", Kind::Object, false);
  if (env == nullptr) return variables;
  for (const JsonMember& variable : env->members) {
    const std::string name = Printable(variable.name, 60);
    if (!values::IsVariableName(variable.name)) {
      members.Complain("env", fmt::format("`{}` is no name of a variable", name));
    } else if (const std::string_view entry = values::ReservedBy(variable.name); !entry.empty()) {
      members.Complain("env", fmt::format("`{}` is reserved (`{}`), since it would change what the "
                                          "judged program does; leave it out, or set it in what "
                                          "the command runs",
                                          name, entry));
    } else if (!variable.value.is(Kind::String)) {
      members.Complain("env", fmt::format("`{}` has no text", name));
    } else if (HoldsNul(variable.value.text)) {
      members.Complain("env", fmt::format("`{}`: {}", name, NulMistake));
    } else {
      variables.push_back(variable.name + "=" + variable.value.text);
    }
  }
  return variables;
}

std::string MessageOf(const values::Error& error) {
  if (error.suggestion.empty()) return error.message;
  return fmt::format("{}; write `{}`", error.message, error.suggestion);
}

TaskCommand CommandOf(const JsonValue& json, std::string pointer,
                      std::vector<std::string>& mistakes) {
  Members members(json, std::move(pointer), mistakes);
  TaskCommand command;
  command.exec.argv = members.Texts("run", true);
  if (command.exec.argv.empty()) members.Complain("run", "a command has at least a program");
  if (command.exec.argv.size() > limits::SetElementsMax) {
    members.Complain("run", fmt::format("more than {} arguments", limits::SetElementsMax));
  }
  std::size_t bytes = 0;
  for (const std::string& argument : command.exec.argv) bytes += argument.size();
  if (bytes > ArgumentBytesMax) members.Complain("run", "the arguments are too long");
  if (!command.exec.argv.empty() && command.exec.argv[0].empty()) {
    members.Complain("run", "the program has no name");
  }
  command.stdin_file = members.OptionalText("stdin");
  command.exec.input = command.stdin_file.has_value();
  command.exec.env = EnvironmentOf(members);
  if (const std::optional<std::string> cwd = members.OptionalText("cwd")) {
    const values::Parsed<std::string> path = values::ParseFilePath(*cwd);
    if (path) {
      command.exec.cwd = *path;
    } else {
      members.Complain("cwd", MessageOf(path.error()));
    }
  }
  command.exec.timeout_ms = TimeoutOf(members);
  command.exec.background = members.Flag("background");
  command.allow_failure = members.Flag("allow_failure");
  members.Finish();
  return command;
}

std::optional<keeper::StatedCaller> CallerOf(Members& task, std::vector<std::string>& mistakes) {
  const JsonValue* json = task.Take("caller", Kind::Object, false);
  if (json == nullptr) return std::nullopt;
  Members members(*json, "/caller", mistakes);
  keeper::StatedCaller caller{.id = members.Text("id", true),
                              .caller_kind = members.Text("kind", false),
                              .groups = members.Texts("groups", false)};
  if (caller.caller_kind.empty()) caller.caller_kind = "human";
  members.Finish();
  return caller;
}

// task.* of the request: the built-in facts, and beside them what the policy set declares.
Json TaskFacts(Members& task, std::string_view id, std::vector<std::string>& mistakes) {
  Json facts = {{"id", std::string(id)}};
  for (const char* name : {"owner", "team", "kind", "trigger"}) facts[name] = task.Text(name, true);
  if (const JsonValue* attributes = task.Take("attributes", Kind::Object, false)) {
    for (const JsonMember& member : attributes->members) {
      if (facts.contains(member.name)) {
        mistakes.push_back(fmt::format("/attributes/{0}: `{0}` stands beside `attributes` already",
                                       Printable(member.name, 60)));
        continue;
      }
      facts[member.name] = ToJson(member.value);
    }
  }
  return facts;
}

Json Wishes(Members& task, Task& read, std::vector<std::string>& mistakes) {
  const JsonValue* json = task.Take("create", Kind::Object, true);
  if (json == nullptr) return Json::object();
  Members members(*json, "/create", mistakes);
  read.image = members.Text("image", true);
  Json wishes = Json::object();
  for (const char* name : {"class", "memory", "disk", "ttl", "isolation"}) {
    if (const std::optional<std::string> wish = members.OptionalText(name)) wishes[name] = *wish;
  }
  if (const JsonValue* cpu = members.Take("cpu", Kind::Integer, false)) {
    wishes["cpu"] = cpu->integer;
  }
  for (const char* name : {"persist", "secrets", "env"}) {
    if (const std::vector<std::string> wish = members.Texts(name, false); !wish.empty()) {
      wishes[name] = wish;
    }
  }
  members.Finish();
  return wishes;
}

// What is to be exported, in the form that policy text has too.
std::vector<std::string> ExportsOf(Members& task) {
  std::vector<std::string> patterns = task.Texts("export", false);
  if (patterns.size() > keeper::ExportPatternsMax) {
    task.Complain("export", fmt::format("more than {} patterns", keeper::ExportPatternsMax));
  }
  for (const std::string& pattern : patterns) {
    const values::Parsed<values::PathGlob> glob = values::ParseFileGlob(pattern);
    if (glob || HoldsNul(pattern)) continue;  // of a NUL it was said already
    task.Complain("export",
                  fmt::format("`{}`: {}", Printable(pattern, 60), MessageOf(glob.error())));
  }
  return patterns;
}

}  // namespace

Result<Task> ReadTask(std::string_view text) {
  CURFEW_TRY(const JsonValue json, ParseJson(text));
  std::vector<std::string> mistakes;
  Members members(json, "", mistakes);
  Task task;
  const JsonValue* version = members.Take("version", Kind::Integer, true);
  if (version != nullptr && version->integer != TaskVersion) {
    members.Complain("version", "this curfew reads tasks of version 1");
  }
  task.id = members.Text("id", true);
  task.caller = CallerOf(members, mistakes);
  task.request = {{"version", 1}, {"action", "create"}};
  task.request["task"] = TaskFacts(members, task.id, mistakes);
  task.request["create"] = Wishes(members, task, mistakes);
  if (const JsonValue* commands = members.Take("commands", Kind::Array, true)) {
    if (commands->items.size() > CommandsMax) members.Complain("commands", "too many commands");
    for (std::size_t i = 0; i < std::min(commands->items.size(), CommandsMax); ++i) {
      task.commands.push_back(CommandOf(commands->items[i], PointerTo("/commands", i), mistakes));
    }
  }
  task.exports = ExportsOf(members);
  members.Finish();
  if (mistakes.empty()) return task;
  std::string message = "the task is not as task.schema.json has it:";
  for (const std::string& mistake : mistakes) message += "\n  " + mistake;
  return Failure(FailureCode::Malformed, message);
}

Result<OwnedFd> OpenBeside(const std::string& task_path, const std::string& name) {
  const std::size_t slash = task_path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : task_path.substr(0, slash + 1);
  const OwnedFd directory(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open()) return SystemFailure(errno, "open the task's folder " + folder);
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  OwnedFd file(
      static_cast<int>(syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof how)));
  if (!file.is_open() && (errno == EXDEV || errno == ELOOP)) {
    return Failure(FailureCode::PermissionDenied,
                   fmt::format("{}: standard input is read at or below the task's folder, and "
                               "through no link",
                               Printable(name)));
  }
  if (!file.is_open()) return SystemFailure(errno, "open the standard input " + Printable(name));
  struct stat status{};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return Failure(FailureCode::Malformed, Printable(name) + ": standard input is a plain file");
  }
  return file;
}

}  // namespace curfew::client
