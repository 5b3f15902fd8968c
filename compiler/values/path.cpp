#include "compiler/values/path.h"

#include "compiler/base/limits.h"
#include "compiler/values/url_bytes.h"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <vector>

namespace curfew::values {
namespace {

constexpr char Fold(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameByte(char a, char b, Reading reading) {
  return a == b || (reading == Reading::Wide && Fold(a) == Fold(b));
}

std::vector<std::string_view> SplitSegments(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  while (true) {
    const std::size_t end = path.find('/');
    segments.push_back(path.substr(0, end));
    if (end == std::string_view::npos) return segments;
    path.remove_prefix(end + 1);
  }
}

// The rest of a path in segments; nothing when all are taken (an empty text is one empty segment).
using Rest = std::optional<std::string_view>;

std::string_view TakeFront(Rest& rest) {
  const std::size_t end = rest->find('/');
  const std::string_view segment = rest->substr(0, end);
  rest = end == std::string_view::npos ? Rest() : Rest(rest->substr(end + 1));
  return segment;
}

std::string_view TakeBack(Rest& rest) {
  const std::size_t slash = rest->rfind('/');
  const bool last = slash == std::string_view::npos;
  const std::string_view segment = last ? *rest : rest->substr(slash + 1);
  rest = last ? Rest() : Rest(rest->substr(0, slash));
  return segment;
}

// The byte that an escape at the front of the text stands for, but for an escaped slash, which is
// read on its own.
std::optional<char> EscapedByte(std::string_view text) {
  if (!text.starts_with('%') || text.size() < 3 || text.starts_with(EscapedSlash)) {
    return std::nullopt;
  }
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
  if (error != std::errc() || end != text.data() + 3) return std::nullopt;
  return static_cast<char>(byte);
}

// One literal byte of a glob, and how many spell it.
struct Literal {
  char byte;
  std::size_t size;
};
Literal FirstLiteral(std::string_view glob, Reading reading) {
  if (glob.front() == '\\') return {glob[1], 2};
  if (reading == Reading::Wide) {
    if (const auto byte = EscapedByte(glob)) return {*byte, 3};
  }
  return {glob.front(), 1};
}

// Whether `text` begins with the literal of `glob` up to its end or its first star. Both are moved
// behind what was read.
bool TakeLiteral(std::string_view& glob, std::string_view& text, Reading reading) {
  while (!glob.empty() && glob.front() != '*') {
    const Literal literal = FirstLiteral(glob, reading);
    if (text.empty() || !SameByte(literal.byte, text.front(), reading)) return false;
    glob.remove_prefix(literal.size);
    text.remove_prefix(1);
  }
  return true;
}

std::size_t LiteralBytes(std::string_view glob, Reading reading) {
  std::size_t bytes = 0;
  for (; !glob.empty() && glob.front() != '*'; ++bytes) {
    glob.remove_prefix(FirstLiteral(glob, reading).size);
  }
  return bytes;
}

bool MatchesSegment(std::string_view glob, std::string_view segment, Reading reading) {
  if (glob == "*") return !segment.empty();
  if (!TakeLiteral(glob, segment, reading)) return false;
  if (glob.empty()) return segment.empty();
  glob.remove_prefix(1);
  const std::size_t tail = LiteralBytes(glob, reading);
  if (segment.size() < tail) return false;
  segment.remove_prefix(segment.size() - tail);
  return TakeLiteral(glob, segment, reading) && segment.empty();
}

bool MatchesSegments(std::string_view glob, std::string_view path, Reading reading) {
  Rest glob_rest = glob.substr(1);
  Rest path_rest = path.substr(1);
  while (glob_rest) {
    const std::string_view segment = TakeFront(glob_rest);
    if (segment == "**") {
      // What the tail does not take from the back, `**` takes; a tail of nothing takes nothing.
      while (glob_rest) {
        const std::string_view tail = TakeBack(glob_rest);
        if (!path_rest || !MatchesSegment(tail, TakeBack(path_rest), reading)) return false;
      }
      return true;
    }
    if (!path_rest || !MatchesSegment(segment, TakeFront(path_rest), reading)) return false;
  }
  return !path_rest;
}

// A path as some server reads it. Never longer than what stands there, so that it needs no memory
// but this room, which is not cleared.
class Rewritten {
 public:
  Rewritten() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)

  // `/a%2Fb` as `/a/b`.
  std::string_view WithSlashes(std::string_view path) {
    while (!path.empty()) {
      const bool is_slash = path.starts_with(EscapedSlash);
      Add(is_slash ? '/' : path.front());
      path.remove_prefix(is_slash ? EscapedSlash.size() : 1);
    }
    return text();
  }
  // `/%40a` as `/@a`.
  std::string_view Decoded(std::string_view path) {
    while (!path.empty()) {
      const auto byte = EscapedByte(path);
      Add(byte.value_or(path.front()));
      path.remove_prefix(byte ? 3 : 1);
    }
    return text();
  }
  // `/a;x/;y/b;` as `/a/b` (RFC 3986, 3.3).
  std::string_view WithoutParameters(std::string_view path) {
    Rest rest = path.substr(1);
    while (rest) {
      const std::string_view segment = TakeFront(rest);
      const std::string_view name = segment.substr(0, segment.find(';'));
      if (name.empty() && rest) continue;
      Add('/');
      for (const char c : name) Add(c);
    }
    return text();
  }

 private:
  void Add(char c) { bytes_[size_++] = c; }
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

  std::size_t size_ = 0;
  std::array<char, limits::PathBytesMax> bytes_;
};

bool MeetsAsRead(std::string_view glob, std::string_view path) {
  Rewritten decoded;
  const std::string_view plain = decoded.Decoded(path);
  if (MatchesSegments(glob, plain, Reading::Wide)) return true;
  Rewritten bare;
  if (MatchesSegments(glob, bare.WithoutParameters(plain), Reading::Wide)) return true;
  // An escaped `;` begins a parameter for those alone that decode first.
  Rewritten bare_first;
  Rewritten decoded_then;
  return MatchesSegments(glob, decoded_then.Decoded(bare_first.WithoutParameters(path)),
                         Reading::Wide);
}

// One segment of a glob that is not `**`: its stars are counted and its escapes checked; `out` gets
// its canonical text.
std::optional<Error> ReadGlobSegment(std::string_view segment, bool of_url, EscapedSlashes slash,
                                     std::string& out) {
  std::size_t stars = 0;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    if (c == '*') {
      if (++stars > 1) {
        return Error{ErrorKind::Malformed,
                     "a segment has at most one `*`, and `**` is a segment of its own"};
      }
      out.push_back(c);
    } else if (c == '\\') {
      ++i;
      if (i == segment.size() || (segment[i] != '*' && segment[i] != '\\')) {
        return Error{ErrorKind::Malformed, "a backslash stands only in `\\*` and `\\\\`"};
      }
      if (of_url && segment[i] == '\\') {
        return Error{ErrorKind::Ambiguous, "servers read a backslash in a path in two ways"};
      }
      out.push_back('\\');
      out.push_back(segment[i]);
    } else if (of_url) {
      const UrlByte byte = ReadUrlByte(segment, i, slash);
      if (byte.error) return byte.error;
      byte.AppendTo(out);
      i += byte.size - 1;
    } else if (c == '\0') {
      return Error{ErrorKind::Malformed, "a path holds no zero byte"};
    } else {
      out.push_back(c);
    }
  }
  return std::nullopt;
}

Parsed<PathGlob> ParseGlob(std::string_view text, bool of_url, EscapedSlashes slash) {
  if (text.size() > limits::PathBytesMax) {
    return Error{ErrorKind::TooLong, "a path has at most 8192 bytes"};
  }
  if (!text.starts_with('/')) {
    return Error{ErrorKind::Malformed, "a path begins with `/`", "/" + std::string(text)};
  }
  PathGlob glob;
  const auto segments = SplitSegments(text);
  std::size_t spanning = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    glob.text.push_back('/');
    if (segments[i] == "**") {
      if (++spanning > 1) return Error{ErrorKind::Malformed, "a path has at most one `**`"};
      glob.text += "**";
      continue;
    }
    // The path of a URL may end in a slash, and both may be the root.
    const bool last = i + 1 == segments.size();
    if (segments[i].empty() && !(last && (of_url || i == 0))) {
      return Error{ErrorKind::Malformed,
                   last ? "a file path does not end in `/`" : "a path has no empty segment"};
    }
    std::string canonical;
    if (auto error = ReadGlobSegment(segments[i], of_url, slash, canonical))
      return *std::move(error);
    if (canonical == "." || canonical == "..") {
      return Error{ErrorKind::Malformed, "a path has no segment `.` or `..`"};
    }
    if (of_url && HidesSegment(canonical)) return HiddenSegment();
    glob.text += canonical;
  }
  if (of_url && HasBadUtf8(glob.text)) {
    return Error{ErrorKind::Ambiguous, "escaped bytes beyond ASCII are UTF-8"};
  }
  return glob;
}

}  // namespace

Parsed<std::string> ParseFilePath(std::string_view text) {
  if (text.size() > limits::PathBytesMax) {
    return Error{ErrorKind::TooLong, "a path has at most 8192 bytes"};
  }
  if (!text.starts_with('/')) return Error{ErrorKind::Malformed, "a file path begins with `/`"};
  if (text.find('\0') != std::string_view::npos) {
    return Error{ErrorKind::Malformed, "a path holds no zero byte"};
  }
  if (text == "/") return std::string(text);
  for (const std::string_view segment : SplitSegments(text)) {
    if (segment.empty()) {
      return Error{ErrorKind::Malformed, "a file path has no empty segment and no `/` at its end"};
    }
    if (segment == "." || segment == "..") {
      return Error{ErrorKind::Malformed, "a file path has no segment `.` or `..`"};
    }
  }
  return std::string(text);
}

Parsed<PathGlob> ParseFileGlob(std::string_view text) {
  return ParseGlob(text, false, EscapedSlashes::Refused);
}

Parsed<PathGlob> ParseUrlGlob(std::string_view text, EscapedSlashes slash) {
  return ParseGlob(text, true, slash);
}

bool MatchesPathGlob(std::string_view glob, std::string_view path, Reading reading) {
  if (!glob.starts_with('/') || !path.starts_with('/')) return false;
  if (MatchesSegments(glob, path, reading)) return true;
  if (reading == Reading::Exact || path.find_first_of(";%") == path.npos) return false;
  // Longer than any path that is canonical: no deny is to be escaped by that.
  if (path.size() > limits::PathBytesMax) return true;
  if (MeetsAsRead(glob, path)) return true;
  if (path.find(EscapedSlash) == path.npos) return false;
  Rewritten slashed;
  return MeetsAsRead(glob, slashed.WithSlashes(path));
}

Parsed<TextGlob> ParseTextGlob(std::string_view text) {
  if (text.size() > TextGlobBytesMax) {
    return Error{ErrorKind::TooLong, "a pattern of `matches` has at most 256 bytes"};
  }
  std::size_t stars = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      if (++stars > 2) return Error{ErrorKind::Malformed, "a pattern has at most two `*`"};
    } else if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '*' && text[i] != '\\')) {
        return Error{ErrorKind::Malformed, "a backslash stands only in `\\*` and `\\\\`"};
      }
    }
  }
  return TextGlob{std::string(text)};
}

bool MatchesTextGlob(std::string_view glob, std::string_view text) {
  if (!TakeLiteral(glob, text, Reading::Exact)) return false;
  if (glob.empty()) return text.empty();
  glob.remove_prefix(1);
  std::string_view last = glob;
  std::size_t star = std::string_view::npos;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      ++i;
    } else if (glob[i] == '*') {
      star = i;
    }
  }
  if (star != std::string_view::npos) last = glob.substr(star + 1);
  const std::size_t tail = LiteralBytes(last, Reading::Exact);
  if (text.size() < tail) return false;
  std::string_view text_tail = text.substr(text.size() - tail);
  if (!TakeLiteral(last, text_tail, Reading::Exact)) return false;
  if (star == std::string_view::npos) return true;
  // Between the two stars: the first place will do, since what follows is free.
  text.remove_suffix(tail);
  const std::string_view middle = glob.substr(0, star);
  const bool is_plain = !middle.empty() && middle.find('\\') == std::string_view::npos;
  if (is_plain) return text.find(middle) != std::string_view::npos;
  for (; text.size() >= LiteralBytes(middle, Reading::Exact); text.remove_prefix(1)) {
    std::string_view rest_glob = middle;
    std::string_view rest_text = text;
    if (TakeLiteral(rest_glob, rest_text, Reading::Exact)) return true;
    if (text.empty()) break;
  }
  return false;
}

}  // namespace curfew::values
