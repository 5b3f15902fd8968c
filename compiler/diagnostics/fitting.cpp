#include "compiler/diagnostics/fitting.h"

#include <algorithm>

namespace curfew::diagnostics {

std::string ShortenedTo(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t cut = bytes_max;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return std::string(text.substr(0, cut)) + "…";
}

std::string Fitting(Text text) {
  constexpr std::size_t kWordBytesMax = 120;
  constexpr std::size_t kBytesMax = 1000;
  if (text.size() <= kWordBytesMax) return std::string(text);
  std::string fitting;
  for (std::size_t at = 0; at < text.size();) {
    if (fitting.size() >= kBytesMax) return fitting + "…";
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    fitting += ShortenedTo(text.substr(at, end - at), kWordBytesMax);
    if (end < text.size()) fitting += text[end];
    at = end + 1;
  }
  return fitting;
}

}  // namespace curfew::diagnostics
