// Every canonicaliser on any bytes: none crashes, and what one has made it makes again.
#include "compiler/base/check.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <cstdint>
#include <string_view>

namespace curfew::values {
namespace {

void Try(std::string_view text) {
  if (const auto host = ParseHost(text)) {
    CURFEW_CHECK(*ParseHost(*host) == *host, "a canonical host is canonical");
  }
  if (const auto pattern = ParseHostPattern(text)) {
    CURFEW_CHECK(*ParseHostPattern(ToString(*pattern)) == *pattern, "a pattern prints itself");
  }
  if (const auto address = ParseAddress(text)) {
    CURFEW_CHECK(*ParseAddress(ToString(*address)) == *address, "an address prints itself");
    CURFEW_CHECK(Unwrap(*address) == *address, "no IPv4 hides in a canonical address");
  }
  if (const auto block = ParseCidr(text)) {
    CURFEW_CHECK(*ParseCidr(ToString(*block)) == *block, "a block prints itself");
    CURFEW_CHECK(Contains(*block, block->base), "a block holds its base");
  }
  if (const auto path = ParseUrlPath(text)) {
    CURFEW_CHECK(*ParseUrlPath(text, EscapedSlashes::Kept) == *path, "no slash was escaped");
  }
  if (const auto path = ParseUrlPath(text, EscapedSlashes::Kept)) {
    CURFEW_CHECK(*ParseUrlPath(*path, EscapedSlashes::Kept) == *path,
                 "a canonical path is canonical");
    CURFEW_CHECK(path->find("/../") == std::string::npos, "no dot segment is left");
    if (const auto glob = ParseUrlGlob(*path, EscapedSlashes::Kept);
        glob && path->find('*') == std::string::npos) {
      CURFEW_CHECK(MatchesPathGlob(glob->text, *path), "a literal pattern meets its own path");
    }
  }
  if (const auto glob = ParseUrlGlob(text)) {
    CURFEW_CHECK(*ParseUrlGlob(glob->text) == *glob, "a canonical glob is canonical");
  }
  if (const auto glob = ParseFileGlob(text)) (void)MatchesPathGlob(glob->text, text);
  if (const auto glob = ParseTextGlob(text)) (void)MatchesTextGlob(glob->text, text);
  if (const auto path = ParseFilePath(text)) {
    CURFEW_CHECK(*path == text, "the bytes of a file path are kept");
  }
  if (const auto duration = ParseDuration(text)) {
    CURFEW_CHECK(*ParseDuration(DurationText(*duration)) == *duration, "a duration prints itself");
  }
  if (const auto size = ParseSize(text)) {
    CURFEW_CHECK(*ParseSize(SizeText(*size)) == *size, "a size prints itself");
  }
  if (const auto time = ParseTime(text)) {
    CURFEW_CHECK(TimeText(*time) == text, "a time prints itself");
  }
  (void)ParseUrlPattern(text);
  (void)ParsePlacePattern(text);
  (void)ParseUrl(text);
  (void)ParsePrincipal(text);
  (void)ParseImageRef(text);
  (void)ParseMethod(text);
}

}  // namespace
}  // namespace curfew::values

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // A seed is a text file; its last line's end is no part of the value.
  if (text.ends_with('\n')) text.remove_suffix(1);
  curfew::values::Try(text);
  return 0;
}
