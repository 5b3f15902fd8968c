#include "tests/style/name_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace curfew::style {
namespace {

constexpr std::array<std::string_view, 12> BannedWords = {
    "util",   "utils", "utility", "helper", "helpers",   "manager",
    "common", "misc",  "impl",    "stuff",  "processor", "abstract"};

bool IsBanned(std::string_view word) {
  std::string lower;
  for (const char c : word) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::find(BannedWords.begin(), BannedWords.end(), lower) != BannedWords.end();
}

constexpr std::string_view Advice =
    "says nothing: name the thing after the noun that it is, or the verb that it does";

// "wire_format.h" has the words wire, format, h; "WireFormat" has Wire and Format.
std::vector<std::string> PartsOf(std::string_view name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool letter = std::isalnum(c) != 0;
    const bool starts =
        std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (!letter || starts) parts.emplace_back();
    if (letter) parts.back() += name[i];
  }
  return parts;
}

bool IsSnakeCase(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

std::string_view LeadingName(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
    ++end;
  }
  return text.substr(0, end);
}

}  // namespace

Findings CheckFileNames(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (!IsCpp(path) && !path.ends_with(".def")) continue;
    if (!IsSnakeCase(NameOf(path))) findings.push_back({path, 0, "files are named in snake_case"});
  }
  return findings;
}

Findings CheckBannedWords(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    for (const std::string& part : PartsOf(path)) {
      if (IsBanned(part)) findings.push_back({path, 0, fmt::format("`{}` {}", part, Advice)});
    }
    if (!IsCpp(path)) continue;
    EachLine(text, [&, &path = path](std::string_view raw, int number) {
      std::string_view line = Trimmed(raw);
      for (const std::string_view keyword :
           {"enum class ", "enum ", "class ", "struct ", "namespace ", "using "}) {
        if (!line.starts_with(keyword)) continue;
        const std::string_view name = LeadingName(line.substr(keyword.size()));
        for (const std::string& part : PartsOf(name)) {
          if (IsBanned(part)) {
            findings.push_back({path, number, fmt::format("`{}` in `{}` {}", part, name, Advice)});
          }
        }
        const bool interface_letter = name.size() > 2 && name[0] == 'I' &&
                                      std::isupper(static_cast<unsigned char>(name[1])) != 0 &&
                                      std::islower(static_cast<unsigned char>(name[2])) != 0;
        if (interface_letter) {
          findings.push_back({path, number, fmt::format("`{}`: an interface carries no I", name)});
        }
        return;
      }
    });
  }
  return findings;
}

Findings CheckMacros(const Tree& tree) {
  Findings findings;
  for (const auto& [path, text] : tree.files) {
    if (!IsCpp(path) && !path.ends_with(".def")) continue;
    EachLine(text, [&, &path = path](std::string_view line, int number) {
      if (!line.starts_with("#define ")) return;
      const std::string_view name = LeadingName(line.substr(8));
      // What a library or the C library asks to be told is theirs to name.
      if (name.starts_with("CURFEW_") || name.starts_with("CATCH_CONFIG_") ||
          name == "_GNU_SOURCE") {
        return;
      }
      findings.push_back({path, number,
                          fmt::format("the macro {} must begin with CURFEW_; think "
                                      "hard whether it must be one",
                                      name)});
    });
  }
  return findings;
}

}  // namespace curfew::style
