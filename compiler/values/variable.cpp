#include "compiler/values/variable.h"

#include <algorithm>
#include <array>

namespace curfew::values {
namespace {

// The contract's own, then what glibc ignores in programs of higher privilege (its "unsecure"
// variables, but for TMPDIR), what sudo deletes, and what interpreters and package tools read to
// load code or to choose whom they trust.
constexpr std::array kReserved = std::to_array<std::string_view>({
    // language.md section 7
    "LD_*",
    "*_PROXY",
    "SSL_CERT_*",
    "NODE_OPTIONS",
    "PYTHON*",
    "GIT_*",
    "CURFEW_*",
    // the C library: modules that it loads, how it resolves names
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "LOCPATH",
    "MALLOC_TRACE",
    "NIS_PATH",
    "NLSPATH",
    "RESOLV_HOST_CONF",
    "RES_OPTIONS",
    // shells: files that they read first, how they split words
    "BASHOPTS",
    "BASH_ENV",
    "BASH_FUNC_*",
    "CDPATH",
    "ENV",
    "FPATH",
    "GLOBIGNORE",
    "IFS",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "ZDOTDIR",
    // interpreters and their loaders
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_CPATH*",
    "LUA_INIT*",
    "LUA_PATH*",
    "NODE_EXTRA_CA_CERTS",
    "NODE_PATH",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "PERL5*",
    "PERLIO_DEBUG",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "RUBYLIB",
    "RUBYOPT",
    "_JAVA_OPTIONS",
    // TLS, and tools that fetch code
    "AWS_CA_BUNDLE",
    "CARGO_*",
    "CURL_CA_BUNDLE",
    "CURL_HOME",
    "GOFLAGS",
    "GONOSUMDB",
    "GOPROXY",
    "GOSUMDB",
    "MAKEFLAGS",
    "NPM_CONFIG_*",
    "OPENSSL_*",
    "PIP_*",
    "REQUESTS_CA_BUNDLE",
    "RUSTC_*",
    "UV_*",
    "WGETRC",
});

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool IsSame(std::string_view upper, std::string_view any_case) {
  return std::equal(upper.begin(), upper.end(), any_case.begin(), any_case.end(),
                    [](char a, char b) { return a == Upper(b); });
}

bool Covers(std::string_view entry, std::string_view name) {
  if (entry.starts_with('*')) {
    entry.remove_prefix(1);
    return name.size() >= entry.size() && IsSame(entry, name.substr(name.size() - entry.size()));
  }
  if (entry.ends_with('*')) {
    entry.remove_suffix(1);
    return IsSame(entry, name.substr(0, entry.size()));
  }
  return IsSame(entry, name);
}

}  // namespace

bool IsVariableName(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (Upper(c) >= 'A' && Upper(c) <= 'Z');
         });
}

std::span<const std::string_view> ReservedVariables() { return kReserved; }

std::string_view ReservedBy(std::string_view name) {
  const auto* found = std::find_if(kReserved.begin(), kReserved.end(),
                                   [name](std::string_view entry) { return Covers(entry, name); });
  return found == kReserved.end() ? std::string_view() : *found;
}

}  // namespace curfew::values
