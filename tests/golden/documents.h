// Parts of documents that are written from code, so that there is one source of each list. A part
// stands in its file between `<!-- begin NAME -->` and `<!-- end NAME -->`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace curfew::golden {

struct DocumentPart {
  std::string_view path;  // from the root of the repository
  std::string_view name;
  std::string text;  // whole lines
};

std::vector<DocumentPart> DocumentParts();

// `document` with the part in its place; empty where the document has no such place.
std::string WithPart(std::string_view document, const DocumentPart& part);

}  // namespace curfew::golden
