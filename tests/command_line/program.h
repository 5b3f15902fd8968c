// Runs the program `curfew` in a folder of its own, as a shell would.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace curfew::tests {

struct Ran {
  int status = 0;  // 128 and the signal's number where one ended it
  std::string out;
  std::string err;
};

// A temporary folder with files for one test.
class Workplace {
 public:
  Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace();

  void Write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string Read(const std::string& name) const;
  [[nodiscard]] std::filesystem::path path() const { return path_; }

  // `command` for /bin/sh, in the folder, where `curfew` is the program under test.
  [[nodiscard]] Ran Shell(const std::string& command) const;

 private:
  std::filesystem::path path_;
};

}  // namespace curfew::tests
