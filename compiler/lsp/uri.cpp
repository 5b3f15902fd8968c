#include "compiler/lsp/uri.h"

#include <cctype>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

std::optional<unsigned char> DigitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned char>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned char>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned char>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> PathOfUri(std::string_view uri) {
  constexpr std::string_view Scheme = "file://";
  if (!uri.starts_with(Scheme)) return std::nullopt;
  uri.remove_prefix(Scheme.size());
  constexpr std::string_view Here = "localhost";
  if (uri.starts_with(Here)) uri.remove_prefix(Here.size());
  if (!uri.starts_with('/')) return std::nullopt;
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] == '?' || uri[i] == '#') return std::nullopt;
    if (uri[i] != '%') {
      path += uri[i];
      continue;
    }
    if (i + 2 >= uri.size()) return std::nullopt;
    const auto high = DigitOf(uri[i + 1]);
    const auto low = DigitOf(uri[i + 2]);
    if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
    path += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return path;
}

std::string UriOfPath(std::string_view path) {
  constexpr std::string_view Plain = "-._~/!$&'()*+,;=@";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        byte < 0x80 && (std::isalnum(byte) != 0 || Plain.find(c) != std::string_view::npos);
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

}  // namespace curfew::lsp
