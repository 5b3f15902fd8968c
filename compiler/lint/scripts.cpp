#include "compiler/lint/scripts.h"

#include "compiler/base/text.h"

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

}  // namespace

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
