#include "compiler/check/public_suffix.h"

#include <libpsl.h>

namespace curfew::check {

const psl_ctx_st* BuiltinSuffixes() { return psl_builtin(); }

bool CoversRegistry(const psl_ctx_st& list, const std::string& name) {
  const auto is_suffix = [&list](const std::string& host) {
    return psl_is_public_suffix2(&list, host.c_str(), PSL_TYPE_ANY) != 0;
  };
  // The list has wildcards of its own, and names that these leave out; this label is none of them.
  constexpr const char* kAnyLabel = "--any--.";
  return is_suffix(name) || is_suffix(kAnyLabel + name);
}

bool IsWildcardTooBroad(Context& context, const values::HostPattern& host, Span span,
                        const psl_ctx_st* list) {
  if (list == nullptr) {
    context.sink.Report(span, diag::NoSuffixList, values::ToString(host));
    return true;
  }
  if (!CoversRegistry(*list, host.name)) return false;
  context.sink.Report(span, diag::WildcardTooBroad, values::ToString(host));
  return true;
}

std::string_view SuffixListVersion() {
  return psl_builtin() == nullptr ? "none" : psl_builtin_sha1sum();
}

}  // namespace curfew::check
