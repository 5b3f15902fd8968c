// `file:` URIs (RFC 8089) and paths.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace curfew::lsp {

// The absolute path of this machine that a URI names; nothing for another scheme, another host, or
// a broken escape.
std::optional<std::string> PathOfUri(std::string_view uri);

// Of an absolute path. Any bytes give a valid URI.
std::string UriOfPath(std::string_view path);

}  // namespace curfew::lsp
