#include "runtime/host/processes.h"

#include <charconv>
#include <sys/wait.h>

#include <fmt/format.h>

namespace curfew::host {

std::optional<ProcessStat> ParseProcessStat(std::string_view text) {
  // pid (name) state ppid … : the name ends at the last parenthesis, whatever it holds.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const auto number = [](std::string_view digits, auto& into) {
    const auto end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, into);
    return error == std::errc() && stop == end;
  };
  ProcessStat stat;
  stat.name = std::string(text.substr(open + 1, close - open - 1));
  if (open < 2 || !number(text.substr(0, open - 1), stat.identity.pid)) return std::nullopt;

  std::string_view rest = text.substr(close + 1);
  constexpr int StateField = 3;
  constexpr int ParentField = 4;
  constexpr int ThreadsField = 20;
  constexpr int StartField = 22;
  constexpr int ExitCodeField = 52;  // since Linux 3.5
  for (int field = StateField; field <= ExitCodeField; ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    if (word.empty() && field > StartField) break;
    if (word.empty()) return std::nullopt;
    rest.remove_prefix(word.size());
    if (field == StateField) {
      if (word.size() != 1) return std::nullopt;
      stat.state = word.front();
    }
    if (field == ParentField && !number(word, stat.parent)) return std::nullopt;
    if (field == ThreadsField && !number(word, stat.threads)) return std::nullopt;
    if (field == StartField && !number(word, stat.identity.start_ticks)) return std::nullopt;
    if (field == ExitCodeField && !number(word, stat.exit_code)) return std::nullopt;
  }
  return stat;
}

std::string DescribeDeath(const ProcessStat& stat) {
  const std::string how = WIFSIGNALED(stat.exit_code)
                              ? fmt::format("signal {}", WTERMSIG(stat.exit_code))
                              : fmt::format("status {}", WEXITSTATUS(stat.exit_code));
  return fmt::format("dead ({}); process {} has not waited for it yet", how, stat.parent);
}

}  // namespace curfew::host
