// Text as it stands in a document of XML 1.0: what the reports in JUnit's form are written with.
#pragma once

#include <string>
#include <string_view>

namespace curfew {

// Markup escaped; broken bytes and what XML has no form for become U+FFFD.
std::string XmlText(std::string_view text);

// The same for the inside of double quotes, where a parser would make blanks of tabs and line
// feeds.
std::string XmlAttribute(std::string_view text);

}  // namespace curfew
