#include "runtime/client/task.h"

#include "compiler/values/quantity.h"

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
    const JsonValue* member = Take(name, Kind::String, required);
    return member != nullptr ? member->text : std::string();
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
      if (member->items[i].is(Kind::String)) {
        texts.push_back(member->items[i].text);
      } else {
        Complain(name, fmt::format("item {} is no string", i));
      }
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
  const std::string text = members.Text("timeout", false);
  if (text.empty()) return 0;
  const values::Parsed<std::int64_t> parsed = values::ParseDuration(text);
  if (parsed && *parsed > 0) return static_cast<std::uint64_t>(*parsed);
  members.Complain("timeout", parsed ? "a timeout is longer than nothing" : parsed.error().message);
  return 0;
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                  (c >= 'a' && c <= 'z');
         });
}

TaskCommand CommandOf(const JsonValue& json, std::string pointer,
                      std::vector<std::string>& mistakes) {
  Members members(json, std::move(pointer), mistakes);
  TaskCommand command;
  command.exec.argv = members.Texts("run", true);
  if (command.exec.argv.empty()) members.Complain("run", "a command has at least a program");
  std::size_t bytes = 0;
  for (const std::string& argument : command.exec.argv) bytes += argument.size();
  if (bytes > ArgumentBytesMax) members.Complain("run", "the arguments are too long");
  if (std::string name = members.Text("stdin", false); !name.empty()) {
    command.stdin_file = std::move(name);
    command.exec.input = true;
  }
  if (const JsonValue* env = members.Take("env", Kind::Object, false)) {
    for (const JsonMember& variable : env->members) {
      if (!IsVariableName(variable.name) || !variable.value.is(Kind::String)) {
        members.Complain(
            "env", fmt::format("`{}` is no variable with a text", Printable(variable.name, 60)));
        continue;
      }
      command.exec.env.push_back(variable.name + "=" + variable.value.text);
    }
  }
  if (std::string cwd = members.Text("cwd", false); !cwd.empty()) command.exec.cwd = cwd;
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
    if (std::string wish = members.Text(name, false); !wish.empty()) wishes[name] = wish;
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
  task.exports = members.Texts("export", false);
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
