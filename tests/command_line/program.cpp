#include "tests/command_line/program.h"

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <sys/wait.h>

#include <fmt/format.h>

namespace curfew::tests {

namespace fs = std::filesystem;

Workplace::Workplace() {
  std::string name = (fs::temp_directory_path() / "curfew-command-line-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Workplace::Write(const std::string& name, std::string_view text) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string Workplace::Read(const std::string& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Ran Workplace::Shell(const std::string& command) const {
  const std::string script = fmt::format(
      "cd '{}' || exit 99\n"
      "program='{}'\n"
      "curfew() {{ \"$program\" \"$@\"; }}\n"
      "{{ {}\n}} > .out 2> .err < /dev/null\n",
      path_.string(), CURFEW_PROGRAM, command);
  const int status = std::system(script.c_str());
  Ran ran;
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = Read(".out");
  ran.err = Read(".err");
  return ran;
}

}  // namespace curfew::tests
