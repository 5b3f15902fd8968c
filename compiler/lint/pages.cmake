# pages.cmake: pages/CURnnnn.md become a table in the program, so that `curfew lint --explain` has them wherever it is
# installed. Run as `cmake -DFOLDER=… -DOUTPUT=… -P pages.cmake`.
file(GLOB pages ${FOLDER}/CUR*.md)
list(SORT pages)
set(rows "")
foreach(page ${pages})
  get_filename_component(name ${page} NAME_WE)
  string(SUBSTRING ${name} 3 -1 code)
  file(READ ${page} text)
  string(APPEND rows "    {${code}, R\"page(${text})page\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by compiler/lint/pages.cmake.
#include \"compiler/lint/rule.h\"

namespace curfew::lint {
namespace {

struct Page {
  std::uint16_t code;
  std::string_view text;
};
constexpr Page kPages[] = {
${rows}};

}  // namespace

std::string_view PageOf(std::uint16_t code) {
  for (const Page& page : kPages) {
    if (page.code == code) return page.text;
  }
  return {};
}

}  // namespace curfew::lint
")
