#include "compiler/lsp/rename.h"

#include "compiler/base/text.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

bool IsName(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
         std::all_of(text.begin(), text.end(), fits);
}

// How often each symbol is named, in the order of their declarations: what a renaming must not
// change.
std::vector<std::size_t> UsesOf(const Index& index) {
  std::vector<std::size_t> uses(index.symbols.size());
  for (const Reference& reference : index.references) ++uses[reference.symbol];
  return uses;
}

std::vector<std::uint16_t> CodesOf(const Analysis& analysis) {
  std::vector<std::uint16_t> codes;
  for (const auto& diagnostic : analysis.diagnostics.diagnostics()) {
    codes.push_back(diagnostic.code);
  }
  std::sort(codes.begin(), codes.end());
  return codes;
}

// The texts with the edits made, which are in order and apart.
source::Overlay Changed(const Analysis& analysis, const source::Overlay& overlay,
                        const std::vector<Edit>& edits) {
  std::map<source::FileId, std::string> texts;
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    const auto [text, fresh] = texts.try_emplace(edit->span.file);
    if (fresh) text->second = analysis.sources.text(edit->span.file);
    text->second.replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
  }
  source::Overlay changed = overlay;
  for (auto& [file, text] : texts) changed[analysis.paths[file]] = std::move(text);
  return changed;
}

}  // namespace

std::vector<source::Span> PlacesOf(const Index& index, source::FileId file, std::uint32_t offset) {
  std::vector<source::Span> places;
  const Reference* at = index.ReferenceAt(file, offset);
  if (at == nullptr) return places;
  for (const Reference& reference : index.references) {
    if (reference.symbol == at->symbol) places.push_back(reference.span);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Result<std::vector<Edit>> Rename(const Analysis& analysis, const SetPlace& place,
                                 const source::Overlay& overlay, const Index& index,
                                 source::FileId file, std::uint32_t offset,
                                 std::string_view new_name) {
  if (!analysis.parses) {
    return Failure(FailureCode::InvalidPolicy,
                   "the set has statements that cannot be read; mend them first");
  }
  const std::vector<source::Span> places = PlacesOf(index, file, offset);
  if (places.empty()) return Failure(FailureCode::NotFound, "no name of the set stands here");
  if (!IsName(new_name)) {
    return Failure(FailureCode::Usage,
                   fmt::format("`{}` is no name; names are lower-case letters, digits and `_`",
                               Printable(new_name, 60)));
  }
  std::vector<Edit> edits;
  for (const source::Span span : places) edits.push_back({span, std::string(new_name)});

  const Analysis after = Analyse(place, Changed(analysis, overlay, edits));
  if (after.failure) return *after.failure;
  if (const auto before = CodesOf(analysis); CodesOf(after) != before) {
    for (const auto& found : after.diagnostics.diagnostics()) {
      if (std::binary_search(before.begin(), before.end(), found.code)) continue;
      return Failure(FailureCode::InvalidPolicy, found.message);
    }
    return Failure(FailureCode::InvalidPolicy,
                   fmt::format("`{}` changes what is wrong with the set", new_name));
  }
  if (UsesOf(IndexOf(after, Vocabulary(after.files))) != UsesOf(index)) {
    return Failure(FailureCode::InvalidPolicy,
                   fmt::format("`{}` has another meaning at one of the places; choose another name",
                               new_name));
  }
  return edits;
}

}  // namespace curfew::lsp
