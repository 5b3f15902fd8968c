#include "compiler/tool/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace curfew::tool {
namespace {

constexpr std::size_t kAround = 3;
// Of the table that the search fills: 16 MiB.
constexpr std::size_t kCellsMax = 4 * 1024 * 1024;

using Lines = std::vector<std::string_view>;

// With their line ends, so that a missing last one is a difference.
Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char side;  // ' ' both, '-' before, '+' after
  std::string_view line;
};

// What lies between the common beginning and the common end, by the longest common subsequence.
void AppendMiddle(std::vector<Edit>& script, std::span<const std::string_view> a,
                  std::span<const std::string_view> b) {
  std::size_t i = 0;
  std::size_t j = 0;
  if ((a.size() + 1) * (b.size() + 1) <= kCellsMax) {
    // longest[i][j]: of the lines from i and from j on.
    const std::size_t width = b.size() + 1;
    std::vector<std::uint32_t> longest((a.size() + 1) * width, 0);
    for (std::size_t x = a.size(); x-- > 0;) {
      for (std::size_t y = b.size(); y-- > 0;) {
        longest[x * width + y] =
            a[x] == b[y] ? longest[(x + 1) * width + y + 1] + 1
                         : std::max(longest[(x + 1) * width + y], longest[x * width + y + 1]);
      }
    }
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        script.push_back({' ', a[i++]});
        ++j;
      } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
        script.push_back({'-', a[i++]});
      } else {
        script.push_back({'+', b[j++]});
      }
    }
  }
  for (; i < a.size(); ++i) script.push_back({'-', a[i]});
  for (; j < b.size(); ++j) script.push_back({'+', b[j]});
}

std::vector<Edit> ScriptOf(const Lines& a, const Lines& b) {
  const auto differs = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto head = static_cast<std::size_t>(differs.first - a.begin());
  std::size_t tail = 0;
  while (tail < std::min(a.size(), b.size()) - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<Edit> script;
  for (std::size_t i = 0; i < head; ++i) script.push_back({' ', a[i]});
  AppendMiddle(script, std::span(a).subspan(head, a.size() - head - tail),
               std::span(b).subspan(head, b.size() - head - tail));
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) script.push_back({' ', a[i]});
  return script;
}

// "12,3": where a hunk begins and how many lines it has; before the first line it is 0.
std::string RangeText(std::size_t lines_before, std::size_t count) {
  return fmt::format("{},{}", count == 0 ? lines_before : lines_before + 1, count);
}

}  // namespace

std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after) {
  if (before == after) return "";
  const Lines a = Split(before);
  const Lines b = Split(after);
  const std::vector<Edit> script = ScriptOf(a, b);

  std::string text = fmt::format("--- {0}\n+++ {0}\n", name);
  std::size_t of_before = 0;
  std::size_t of_after = 0;
  std::size_t at = 0;
  const auto advance = [&](std::size_t to) {
    for (; at < to; ++at) {
      if (script[at].side != '+') ++of_before;
      if (script[at].side != '-') ++of_after;
    }
  };
  const auto next_change = [&script](std::size_t from) {
    while (from < script.size() && script[from].side == ' ') ++from;
    return from;
  };
  for (std::size_t change = next_change(0); change < script.size();) {
    // A hunk reaches to the last change that is near enough to the one before it.
    std::size_t end = change + 1;
    for (std::size_t next = next_change(end); next < script.size() && next <= end + 2 * kAround;
         next = next_change(end)) {
      end = next + 1;
    }
    advance(change - std::min(change - at, kAround));
    const std::size_t first = at;
    const std::size_t before_hunk = of_before;
    const std::size_t after_hunk = of_after;
    advance(std::min(end + kAround, script.size()));
    text += fmt::format("@@ -{} +{} @@\n", RangeText(before_hunk, of_before - before_hunk),
                        RangeText(after_hunk, of_after - after_hunk));
    for (std::size_t i = first; i < at; ++i) {
      text += script[i].side;
      text += script[i].line;
      if (!script[i].line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
    }
    change = next_change(at);
  }
  return text;
}

}  // namespace curfew::tool
