#include "compiler/values/query.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::values {
namespace {

struct Way {
  bool parts_at_semicolon;
  bool plus_is_blank;
};
constexpr Way kWays[] = {{false, false}, {false, true}, {true, false}, {true, true}};

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr char Fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

enum class Match : std::uint8_t { No, OnlyFolded, Yes };

// Whether `raw`, decoded, is `wanted`. `is_broken`: it holds a `%` that begins no escape.
Match Compare(std::string_view raw, std::string_view wanted, bool plus_is_blank, bool& is_broken) {
  Match match = Match::Yes;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      const int high = i + 2 < raw.size() ? HexValue(raw[i + 1]) : -1;
      const int low = i + 2 < raw.size() ? HexValue(raw[i + 2]) : -1;
      if (high >= 0 && low >= 0) {
        c = static_cast<char>(high * 16 + low);
        i += 2;
      } else {
        is_broken = true;
      }
    }
    if (wanted.empty()) {
      match = Match::No;
      continue;  // for `is_broken`
    }
    if (c != wanted.front()) {
      match = match != Match::No && Fold(c) == Fold(wanted.front()) ? Match::OnlyFolded : Match::No;
    }
    wanted.remove_prefix(1);
  }
  return wanted.empty() ? match : Match::No;
}

struct Found {
  std::size_t keys = 0;   // parameters that have the key, in any case of letters
  std::size_t exact = 0;  // of them: those that have key and value to the letter
  std::size_t wide = 0;   // of them: those that have the value
  bool is_broken = false;
};

Found Look(std::string_view query, std::string_view key, std::string_view value, const Way& way) {
  Found found;
  const std::string_view ends = way.parts_at_semicolon ? "&;" : "&";
  while (true) {
    const std::size_t end = std::min(query.find_first_of(ends), query.size());
    const std::string_view parameter = query.substr(0, end);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string_view raw_value = parameter.substr(std::min(equals + 1, parameter.size()));
    // A key is a name, which no `%` is a part of.
    bool is_no_name = false;
    const Match of_key = Compare(parameter.substr(0, equals), key, way.plus_is_blank, is_no_name);
    if (of_key != Match::No) {
      ++found.keys;
      const Match of_value = Compare(raw_value, value, way.plus_is_blank, found.is_broken);
      if (of_value == Match::Yes) ++found.wide;
      if (of_value == Match::Yes && of_key == Match::Yes) ++found.exact;
    }
    if (end == query.size()) return found;
    query.remove_prefix(end + 1);
  }
}

}  // namespace

bool QueryMeets(std::string_view term, std::string_view query, QueryReading reading) {
  const std::size_t equals = std::min(term.find('='), term.size());
  const std::string_view key = term.substr(0, equals);
  const std::string_view value = term.substr(std::min(equals + 1, term.size()));
  const auto look = [&](const Way& way) { return Look(query, key, value, way); };
  if (reading == QueryReading::Wide) {
    return std::any_of(std::begin(kWays), std::end(kWays),
                       [&](const Way& way) { return look(way).wide > 0; });
  }
  return std::all_of(std::begin(kWays), std::end(kWays), [&](const Way& way) {
    const Found found = look(way);
    return found.keys == 1 && found.exact == 1 && !found.is_broken;
  });
}

std::string QueryOf(std::string_view term) {
  const std::size_t equals = std::min(term.find('='), term.size());
  std::string query(term.substr(0, std::min(equals + 1, term.size())));
  for (const char c : term.substr(query.size())) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      query += c;
    } else {
      query += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return query;
}

bool IsQueryTerm(std::string_view text) {
  const std::size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0;
}

}  // namespace curfew::values
