#include "compiler/lsp/position.h"

#include "compiler/lsp/uri.h"

#include <string>

#include <catch2/catch.hpp>

namespace curfew::lsp {
namespace {

// One, two, three and four bytes; one or two units.
constexpr std::string_view Text = "aé€😀b\r\n\rx\n";

TEST_CASE("places in UTF-16 are converted exactly") {
  const LineIndex lines(Text);
  const auto at = [&](std::uint32_t offset) { return lines.At(offset, Encoding::Utf16); };
  CHECK(at(0) == Position{0, 0});
  CHECK(at(1) == Position{0, 1});   // é
  CHECK(at(3) == Position{0, 2});   // €
  CHECK(at(6) == Position{0, 3});   // 😀
  CHECK(at(10) == Position{0, 5});  // b
  CHECK(at(11) == Position{0, 6});  // CR LF
  CHECK(at(13) == Position{1, 0});  // CR
  CHECK(at(14) == Position{2, 0});  // x
  CHECK(at(16) == Position{3, 0});  // the end
  CHECK(at(99) == Position{3, 0});
  CHECK(at(8) == Position{0, 3});  // inside of 😀
}

TEST_CASE("every place of a text survives the way there and back") {
  const LineIndex lines(Text);
  for (const Encoding encoding : {Encoding::Utf16, Encoding::Utf8}) {
    for (std::uint32_t offset = 0; offset <= Text.size(); ++offset) {
      const bool inside = offset < Text.size() && (Text[offset] & 0xC0) == 0x80;
      if (inside || offset == 12) continue;  // nor between CR and LF
      CHECK(lines.OffsetOf(lines.At(offset, encoding), encoding) == offset);
    }
  }
}

TEST_CASE("places that a text does not have are the next before them") {
  const LineIndex lines(Text);
  const auto offset = [&](Position position, Encoding encoding) {
    return lines.OffsetOf(position, encoding);
  };
  CHECK(offset({0, 4}, Encoding::Utf16) == 6);  // between the halves of 😀
  CHECK(offset({0, 5}, Encoding::Utf8) == 3);   // inside of €
  CHECK(offset({0, 100}, Encoding::Utf16) == 11);
  CHECK(offset({1, 1}, Encoding::Utf16) == 13);
  CHECK(offset({9, 0}, Encoding::Utf16) == 16);
  CHECK(LineIndex("").OffsetOf({0, 3}, Encoding::Utf16) == 0);
  // A broken byte is one unit.
  CHECK(LineIndex("a\xFFz").OffsetOf({0, 2}, Encoding::Utf16) == 2);
  CHECK(LineIndex("a\xFFz").At(2, Encoding::Utf16) == Position{0, 2});
}

TEST_CASE("paths and file URIs") {
  CHECK(PathOfUri("file:///a/b%20c.curfew") == "/a/b c.curfew");
  CHECK(PathOfUri("file://localhost/a") == "/a");
  CHECK(PathOfUri("file:///%C3%A9") == "/é");
  for (const char* no : {"untitled:Untitled-1", "file://other.example/a", "file:///a%2",
                         "file:///%00", "file:///%zz", "file:a", "http://a/b", ""}) {
    CHECK(PathOfUri(no) == std::nullopt);
  }
  for (const char* path : {"/a/b c.curfew", "/é/#?%", "/", "/\xFF"}) {
    CHECK(PathOfUri(UriOfPath(path)) == path);
  }
}

}  // namespace
}  // namespace curfew::lsp
