#include "compiler/base/xml_text.h"

#include "compiler/base/text.h"

#include <fmt/format.h>

namespace curfew {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// Whether a text of XML 1.0 shows it (section 2.2); of the controls a tab and a line feed.
bool IsShown(char32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n';
  return !(c >= 0x7F && c < 0xA0) && c != 0xFFFE && c != 0xFFFF;
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const auto decoded = DecodeUtf8(text);
    const char32_t c = decoded ? decoded->value : kReplacement;
    text.remove_prefix(decoded ? decoded->bytes : 1);
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      AppendUtf8(escaped, IsShown(c) ? c : kReplacement);
    }
  }
  return escaped;
}

std::string XmlAttribute(std::string_view text) {
  std::string escaped;
  for (const char c : XmlText(text)) {
    if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\t' || c == '\n') {
      escaped += fmt::format("&#{};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace curfew
