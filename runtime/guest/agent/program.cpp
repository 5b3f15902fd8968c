#include "runtime/guest/agent/program.h"

#include "runtime/guest/agent/machine_boot.h"
#include "runtime/guest/agent/text_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <linux/openat2.h>
#include <map>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace curfew::guest {
namespace {

// Looks at files with the rights of `user` for as long as it lives.
class FileRightsOf {
 public:
  explicit FileRightsOf(const User& user) {
    setfsgid(user.gid);
    setfsuid(user.uid);
  }
  ~FileRightsOf() {
    setfsuid(0);
    setfsgid(0);
  }
  FileRightsOf(const FileRightsOf&) = delete;
  FileRightsOf& operator=(const FileRightsOf&) = delete;
};

bool MayExecute(const struct stat& file, const User& user) {
  if (user.uid == 0) return (file.st_mode & 0111) != 0;
  if (file.st_uid == user.uid) return (file.st_mode & 0100) != 0;
  if (file.st_gid == user.gid) return (file.st_mode & 0010) != 0;
  return (file.st_mode & 0001) != 0;
}

std::string PathOf(int file) {
  char path[GuestPathBytesMax + 1];
  const ssize_t length =
      readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof(path));
  if (length <= 0 || length > static_cast<ssize_t>(GuestPathBytesMax)) return {};
  return std::string(path, static_cast<std::size_t>(length));
}

bool BeginsAsScript(int file) {
  const OwnedFd readable(
      open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char mark[2] = {};
  return readable.is_open() && read(readable.get(), mark, 2) == 2 && mark[0] == '#' &&
         mark[1] == '!';
}

Result<Program> OpenProgram(const std::string& path, const User& user) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  Program program;
  {
    const FileRightsOf rights(user);
    program.file =
        OwnedFd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof(how))));
  }
  if (!program.file.is_open()) return ErrnoFailure(errno, path);
  struct stat status{};
  if (fstat(program.file.get(), &status) != 0) return ErrnoFailure(errno, path);
  if (!S_ISREG(status.st_mode) || !MayExecute(status, user)) return ErrnoFailure(EACCES, path);
  program.path = PathOf(program.file.get());
  struct stat named{};
  if (program.path.empty() || program.path[0] != '/' || lstat(program.path.c_str(), &named) != 0 ||
      named.st_dev != status.st_dev || named.st_ino != status.st_ino) {
    return Failure(FailureCode::NotFound, path + ": the file has no name any more");
  }
  program.script = BeginsAsScript(program.file.get());
  return program;
}

std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (entry.compare(0, name.size() + 1, name + "=") == 0) return entry.substr(name.size() + 1);
  }
  return {};
}

}  // namespace

Result<User> FindUser(const std::string& name) {
  const std::string passwd = ReadTextFile("/etc/passwd");
  for (std::size_t start = 0; start < passwd.size();) {
    const std::size_t end = std::min(passwd.find('\n', start), passwd.size());
    std::vector<std::string> fields(1);
    for (const char c : passwd.substr(start, end - start)) {
      if (c == ':') {
        fields.emplace_back();
      } else {
        fields.back().push_back(c);
      }
    }
    if (fields.size() == 7 && fields[0] == name && !fields[2].empty() && !fields[3].empty()) {
      return User{name, static_cast<uid_t>(std::strtoul(fields[2].c_str(), nullptr, 10)),
                  static_cast<gid_t>(std::strtoul(fields[3].c_str(), nullptr, 10)), fields[5],
                  fields[6]};
    }
    start = end + 1;
  }
  return Failure(FailureCode::NotFound, "there is no user " + name + " in the image");
}

std::vector<std::string> MergeEnvironment(const std::vector<std::string>& defaults,
                                          const User& user,
                                          const std::vector<std::string>& wanted) {
  std::map<std::string, std::string> merged;
  const auto add = [&merged](const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
      const std::size_t equals = entry.find('=');
      if (equals != std::string::npos && equals > 0) {
        merged[entry.substr(0, equals)] = entry.substr(equals + 1);
      }
    }
  };
  add(defaults);
  add({"HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name, "SHELL=" + user.shell});
  add(wanted);
  std::vector<std::string> environment;
  environment.reserve(merged.size());
  for (const auto& [name, value] : merged) environment.push_back(name + "=" + value);
  return environment;
}

Result<Program> FindProgram(const std::string& name, const std::string& directory,
                            const std::vector<std::string>& environment, const User& user) {
  if (name.empty() || directory.empty() || directory[0] != '/') {
    return Failure(FailureCode::Usage, "a command needs a name and an absolute directory");
  }
  const auto from_directory = [&directory](const std::string& path) {
    return path[0] == '/' ? path : directory + "/" + path;
  };
  if (name.find('/') != std::string::npos) return OpenProgram(from_directory(name), user);
  Failure best(FailureCode::NotFound, name + ": not found in PATH");
  const std::string search = ValueOf(environment, "PATH");
  for (std::size_t start = 0; start <= search.size();) {
    const std::size_t end = std::min(search.find(':', start), search.size());
    // An empty entry means the current directory to a shell; here it means nothing.
    if (end > start) {
      auto found =
          OpenProgram(from_directory(search.substr(start, end - start) + "/" + name), user);
      if (found) return found;
      if (found.error().code == FailureCode::PermissionDenied) best = found.error();
    }
    start = end + 1;
  }
  return best;
}

}  // namespace curfew::guest
