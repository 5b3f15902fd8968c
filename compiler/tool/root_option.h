// --root: of every verb that reads a set. It bounds what files of the set may name (`use`, `from`),
// in place of the folder of the file that says it.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace curfew::tool {

class RootOption {
 public:
  void Configure(CLI::App& app);
  // Empty where there is none.
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace curfew::tool
