#include "runtime/guest/glob.h"

#include <optional>

namespace curfew::guest {
namespace {

// Cuts the first segment off; both views have no leading slash.
std::string_view TakeSegment(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view segment = rest.substr(0, slash);
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  return segment;
}

bool MatchesSegment(std::string_view pattern, std::string_view text) {
  if (pattern == "*") return !text.empty();
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t retry = 0;
  while (t < text.size()) {
    const bool escaped = p + 1 < pattern.size() && pattern[p] == '\\' && pattern[p + 1] == '*';
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && text[t] == (escaped ? '*' : pattern[p])) {
      p += escaped ? 2 : 1;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// As with the star of a segment, only the last `**` that was met needs to be tried again.
bool MatchesSegments(std::string_view pattern, std::string_view path) {
  std::optional<std::string_view> after_stars;
  std::string_view swallowed;  // what the last `**` may still swallow
  for (;;) {
    if (pattern.empty()) {
      if (path.empty()) return true;
    } else {
      std::string_view rest = pattern;
      const std::string_view wanted = TakeSegment(rest);
      if (wanted == "**") {
        if (rest.empty()) return true;
        after_stars = pattern = rest;
        swallowed = path;
        continue;
      }
      std::string_view rest_of_path = path;
      if (!path.empty() && MatchesSegment(wanted, TakeSegment(rest_of_path))) {
        pattern = rest;
        path = rest_of_path;
        continue;
      }
    }
    if (!after_stars || swallowed.empty()) return false;
    TakeSegment(swallowed);
    pattern = *after_stars;
    path = swallowed;
  }
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view path) {
  if (pattern.empty() || path.empty() || pattern[0] != '/' || path[0] != '/') return false;
  return MatchesSegments(pattern.substr(1), path.substr(1));
}

std::string_view FolderOfGlob(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  const std::size_t slash = pattern.substr(0, star).rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "/";
  return pattern.substr(0, slash);
}

}  // namespace curfew::guest
