#include "compiler/lint/scripts.h"

#include "compiler/base/text.h"

#include <algorithm>
#include <cstdint>

namespace curfew::lint {
namespace {

struct Block {
  char32_t first;
  char32_t last;
  std::string_view script;
};
// Letters of the Unicode blocks that a policy may meet; within them, what is no letter ends a word
// as well as letters of another script do.
constexpr Block kBlocks[] = {
    {'A', 'Z', "Latin"},          {'a', 'z', "Latin"},          {0xc0, 0x24f, "Latin"},
    {0x1e00, 0x1eff, "Latin"},    {0xff21, 0xff3a, "Latin"},    {0xff41, 0xff5a, "Latin"},
    {0x370, 0x3ff, "Greek"},      {0x1f00, 0x1fff, "Greek"},    {0x400, 0x52f, "Cyrillic"},
    {0x1c80, 0x1c8f, "Cyrillic"}, {0x2de0, 0x2dff, "Cyrillic"}, {0xa640, 0xa69f, "Cyrillic"},
    {0x531, 0x58f, "Armenian"},
};

std::string_view ScriptOf(char32_t letter) {
  for (const Block& block : kBlocks) {
    if (block.first <= letter && letter <= block.last) return block.script;
  }
  return {};
}

// Small letters that look like a Latin one in most fonts (Unicode Technical Standard 39).
struct Pair {
  char32_t letter;
  char latin;
};
constexpr Pair kTwins[] = {
    {0x430, 'a'}, {0x435, 'e'}, {0x43e, 'o'}, {0x440, 'p'}, {0x441, 'c'}, {0x443, 'y'},
    {0x445, 'x'}, {0x455, 's'}, {0x456, 'i'}, {0x458, 'j'}, {0x475, 'v'}, {0x4bb, 'h'},
    {0x4cf, 'l'}, {0x501, 'd'}, {0x51b, 'q'}, {0x51d, 'w'}, {0x3b1, 'a'}, {0x3b9, 'i'},
    {0x3bd, 'v'}, {0x3bf, 'o'}, {0x3c1, 'p'}, {0x3c5, 'u'}, {0x3b3, 'y'}, {0x3ba, 'k'},
    {0x570, 'h'}, {0x578, 'n'}, {0x57d, 'u'}, {0x581, 'g'}, {0x584, 'f'}, {0x585, 'o'},
};

char TwinOf(char32_t letter) {
  for (const Pair& pair : kTwins) {
    if (pair.letter == letter) return pair.latin;
  }
  return 0;
}

// RFC 3492: what stands behind `xn--`. Nothing where it is not so written.
std::optional<std::string> FromPunycode(std::string_view encoded) {
  constexpr std::uint32_t kBase = 36;
  constexpr std::uint32_t kLeast = 1;
  constexpr std::uint32_t kMost = 26;
  constexpr std::size_t kLabelBytesMax = 63;
  if (encoded.empty() || encoded.size() > kLabelBytesMax) return std::nullopt;
  const std::size_t dash = encoded.rfind('-');
  std::u32string points;
  if (dash != std::string_view::npos) {
    for (const char c : encoded.substr(0, dash)) points += static_cast<char32_t>(c);
  }
  std::size_t at = dash == std::string_view::npos ? 0 : dash + 1;
  std::uint32_t point = 128;
  std::uint32_t place = 0;
  std::uint32_t bias = 72;
  while (at < encoded.size()) {
    const std::uint32_t before = place;
    std::uint64_t weight = 1;
    std::uint64_t value = place;
    for (std::uint32_t k = kBase;; k += kBase) {
      if (at == encoded.size()) return std::nullopt;
      const char c = encoded[at++];
      const bool is_digit = c >= '0' && c <= '9';
      if (!is_digit && (c < 'a' || c > 'z')) return std::nullopt;
      const auto digit = static_cast<std::uint32_t>(is_digit ? c - '0' + 26 : c - 'a');
      value += digit * weight;
      if (value > 0xffffffff) return std::nullopt;
      const std::uint32_t least = k <= bias ? kLeast : k >= bias + kMost ? kMost : k - bias;
      if (digit < least) break;
      weight *= kBase - least;
      if (weight > 0xffffffff) return std::nullopt;
    }
    place = static_cast<std::uint32_t>(value);
    const auto count = static_cast<std::uint32_t>(points.size()) + 1;
    // How far apart the next one is likely to be.
    std::uint32_t delta = (place - before) / (before == 0 ? 700 : 2);
    delta += delta / count;
    bias = 0;
    for (; delta > (kBase - kLeast) * kMost / 2; bias += kBase) delta /= kBase - kLeast;
    bias += (kBase - kLeast + 1) * delta / (delta + 38);
    point += place / count;
    place %= count;
    const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
    if (point > 0x10ffff || is_surrogate) return std::nullopt;
    points.insert(std::size_t{place}, 1, static_cast<char32_t>(point));
    ++place;
  }
  std::string text;
  for (const char32_t one : points) AppendUtf8(text, one);
  return text;
}

}  // namespace

std::string AsShown(std::string_view text) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    // A label ends at whatever a host has not.
    const std::size_t end =
        std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", at), text.size());
    const std::string_view label = text.substr(at, end - at);
    const auto letters = label.starts_with("xn--") ? FromPunycode(label.substr(4)) : std::nullopt;
    shown += letters ? *letters : std::string(label);
    if (end < text.size()) shown += text[end];
    at = end + 1;
  }
  return shown;
}

std::optional<Twin> LatinTwin(std::string_view text) {
  Twin twin;
  bool found = false;
  // A word so far: as it is, and by its twins while it has them.
  std::string word;
  std::string latin;
  std::string_view script;
  const auto end_word = [&] {
    if (latin.size() >= 2) {
      found = true;
      twin.script = script;
    }
    twin.text += latin.size() >= 2 ? latin : word;
    word.clear();
    latin.clear();
    script = {};
  };
  bool has_twins = true;
  while (!text.empty()) {
    const auto point = DecodeUtf8(text);
    if (!point) return std::nullopt;
    const std::string_view bytes = text.substr(0, point->bytes);
    text.remove_prefix(point->bytes);
    const std::string_view of = ScriptOf(point->value);
    if (of.empty()) {
      end_word();
      has_twins = true;
      twin.text += bytes;
      continue;
    }
    word += bytes;
    script = of;
    const char latin_letter = TwinOf(point->value);
    has_twins = has_twins && latin_letter != 0;
    if (has_twins) latin += latin_letter;
    if (!has_twins) latin.clear();
  }
  end_word();
  if (!found) return std::nullopt;
  return twin;
}

std::optional<std::pair<std::string_view, std::string_view>> MixedScripts(std::string_view text) {
  std::string_view word;  // the script of the word so far
  while (!text.empty()) {
    const auto point = DecodeUtf8(text);
    if (!point) return std::nullopt;
    text.remove_prefix(point->bytes);
    const std::string_view script = ScriptOf(point->value);
    if (!word.empty() && !script.empty() && script != word) return std::pair(word, script);
    word = script;
  }
  return std::nullopt;
}

}  // namespace curfew::lint
