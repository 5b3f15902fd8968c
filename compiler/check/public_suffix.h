// The list of public suffixes (publicsuffix.org, both sections): names below which anybody may have
// one of their own. It is the one that libpsl was built with, so that nothing is read at run time.
#pragma once

#include "compiler/check/context.h"
#include "compiler/values/host.h"

#include <string>
#include <string_view>

// libpsl's.
struct psl_ctx_st;

namespace curfew::check {

// The list as psl_builtin() gives it: null where libpsl was built without one, or knows it in a
// file that is not there.
const psl_ctx_st* BuiltinSuffixes();

// Whether a wildcard directly left of this canonical name covers names of anybody: the name is a
// public suffix of `list`, or the names directly below it are.
bool CoversRegistry(const psl_ctx_st& list, const std::string& name);

// Reports a wildcard that does, and every wildcard where there is no list: nobody could say that it
// does not.
bool IsWildcardTooBroad(Context& context, const values::HostPattern& host, Span span,
                        const psl_ctx_st* list = BuiltinSuffixes());

// Which list that is: a digest of its text, or "none".
std::string_view SuffixListVersion();

}  // namespace curfew::check
