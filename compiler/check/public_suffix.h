// The list of public suffixes (publicsuffix.org, both sections): names below which anybody may have
// one of their own. It is the one that libpsl was built with, so that nothing is read at run time.
#pragma once

#include <string>
#include <string_view>

// libpsl's.
struct psl_ctx_st;

namespace curfew::check {

// Whether a wildcard directly left of this canonical name covers names of anybody: the name is a
// public suffix, or the names directly below it are. Where there is no list nobody could say that
// it does not, and so every wildcard does.
bool CoversRegistry(const std::string& name);
// The same by `list`, as psl_builtin() gives it: null where there is none.
bool CoversRegistry(const psl_ctx_st* list, const std::string& name);

// Which list that is: a digest of its text, or "none".
std::string_view SuffixListVersion();

}  // namespace curfew::check
