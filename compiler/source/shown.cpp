#include "compiler/source/shown.h"

#include "compiler/base/text.h"
#include "compiler/source/text_faults.h"

namespace curfew::source {

std::string Shown(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const auto code_point = DecodeUtf8(text);
    const std::size_t bytes = code_point ? code_point->bytes : 1;
    const auto byte = static_cast<unsigned char>(text[0]);
    if (byte == '\t') {
      shown += ' ';
    } else if (!code_point || byte < 0x20 || byte == 0x7F ||
               (code_point->value >= 0x80 && IsHidden(code_point->value))) {
      shown += '?';
    } else {
      shown += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace curfew::source
