// File paths, and the globs that meet paths of files and of URLs.
//
//   file path := "/" | ("/" segment)+       no segment is empty, "." or ".."; no NUL; bytes kept
//   glob      := ("/" (segment | "**"))+ | "/"
//
// In a glob one segment may be `**` (any number of whole segments, none too) and each other segment
// may hold one `*` (any bytes but "/"); a segment that is only `*` needs one byte. `/**` at the end
// also meets the path before it, with or without its slash. `\*` is a literal star, `\\` a
// backslash.
#pragma once

#include "compiler/values/value_error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace curfew::values {

Parsed<std::string> ParseFilePath(std::string_view text);

// A glob is its canonical text; matching reads the text in linear time and keeps nothing.
struct PathGlob {
  std::string text;
  friend auto operator<=>(const PathGlob&, const PathGlob&) = default;
};

Parsed<PathGlob> ParseFileGlob(std::string_view text);
// A slash that is escaped in the path of a URL: servers read it in two ways, as one letter of a
// segment or as the end of it. Where it is kept it is one letter, spelt `%2F`.
inline constexpr std::string_view EscapedSlash = "%2F";
enum class EscapedSlashes : std::uint8_t { Refused, Kept };

// Of a URL's path: literal text is brought to the form of a canonical request path (url.h).
Parsed<PathGlob> ParseUrlGlob(std::string_view text,
                              EscapedSlashes slashes = EscapedSlashes::Refused);

// How a path is read. An allow reads it as it stands. A deny reads it widely (language.md section
// 6): without regard to ASCII case, with every escape of path and glob for the byte that it stands
// for (`%40` is an `@` for most servers, though RFC 3986 holds the two apart), and also as servers
// do that take an escaped slash for one, or take the parameters off each segment, so that what a
// `;` begins is gone, and with it a segment that is nothing else.
enum class Reading : std::uint8_t { Exact, Wide };

// `glob` is the text of a PathGlob. `path` is canonical: absolute, segments joined by single
// slashes (a URL's may end in one).
bool MatchesPathGlob(std::string_view glob, std::string_view path,
                     Reading reading = Reading::Exact);
// Whether some path meets both, read exactly.
bool Meet(const PathGlob& a, const PathGlob& b);

// Plain text against an anchored glob with at most two `*` (`matches` of the language); a `*` is
// any bytes, none too; `\*` and `\\` are literal. At most TextGlobBytesMax bytes, so that matching
// stays linear in the text.
inline constexpr std::size_t TextGlobBytesMax = 256;
struct TextGlob {
  std::string text;
  friend auto operator<=>(const TextGlob&, const TextGlob&) = default;
};
Parsed<TextGlob> ParseTextGlob(std::string_view text);
// `glob` is the text of a TextGlob.
bool MatchesTextGlob(std::string_view glob, std::string_view text);

}  // namespace curfew::values
