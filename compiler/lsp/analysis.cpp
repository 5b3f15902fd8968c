#include "compiler/lsp/analysis.h"

#include "compiler/check/check.h"
#include "compiler/lint/lint.h"
#include "compiler/syntax/named_files.h"
#include "compiler/syntax/parse.h"

#include <algorithm>
#include <filesystem>

namespace curfew::lsp {
namespace {

namespace fs = std::filesystem;

Result<source::SourceMap> Load(const SetPlace& place, const source::Overlay& overlay) {
  source::SourceMap sources;
  if (!place.is_path) {
    const auto text = overlay.find(place.name);
    if (text != overlay.end()) sources.Add({place.name, text->second});
    return sources;
  }
  std::error_code error;
  if (fs::exists(place.name, error)) {
    const std::vector<std::string> paths{place.name};
    CURFEW_TRY(sources, source::LoadSources(paths, source::Nothing::Fine, &overlay));
  }
  // What is not saved yet, and what lies in a hidden folder.
  for (const std::string& member : place.members) {
    bool found = false;
    for (source::FileId file = 0; file < sources.size(); ++file) {
      found = found || WithoutLinks(std::string(sources.name(file))) == member;
    }
    const auto text = overlay.find(member);
    if (!found && text != overlay.end()) sources.Add({member, text->second});
  }
  return sources;
}

}  // namespace

std::optional<source::FileId> Analysis::FileAt(std::string_view path) const {
  const auto found = std::find(paths.begin(), paths.end(), path);
  if (found == paths.end()) return std::nullopt;
  return static_cast<source::FileId>(found - paths.begin());
}

const syntax::Ast* Analysis::TreeOf(source::FileId file) const {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const syntax::Ast& tree) { return tree.file == file; });
  return found == files.end() ? nullptr : &*found;
}

Analysis Analyse(const SetPlace& place, const source::Overlay& overlay) {
  Analysis made;
  auto sources = Load(place, overlay);
  if (!sources) {
    made.failure = sources.error();
    return made;
  }
  made.sources = *std::move(sources);
  made.files = syntax::ParseAll(made.sources, made.diagnostics);
  if (place.is_path) {
    syntax::FollowNames(made.sources, made.files, made.diagnostics,
                        {.root = place.root, .overlay = &overlay});
  }
  for (source::FileId file = 0; file < made.sources.size(); ++file) {
    const std::string name(made.sources.name(file));
    made.paths.push_back(place.is_path ? WithoutLinks(name) : name);
  }
  made.parses = !made.diagnostics.has_errors();
  if (!made.parses || made.files.empty()) return made;
  model::PolicyModel model = check::Check(made.files, made.sources, made.diagnostics);
  if (made.diagnostics.has_errors()) return made;
  made.known_ids = model::KnownIds(model);
  made.model = std::move(model);
  return made;
}

diagnostics::Sink FindingsOf(const Analysis& analysis, std::int64_t now_ms) {
  diagnostics::Sink found(lint::FindingsMax);
  if (!analysis.model) {
    for (const auto& mistake : analysis.diagnostics.diagnostics()) found.Keep(mistake);
    return found;
  }
  diagnostics::Sink checked = analysis.diagnostics;
  check::CheckTrialEnds(*analysis.model, now_ms, checked);
  lint::Lint(analysis.files, analysis.sources, &*analysis.model,
             {.now_ms = now_ms, .category = {}, .warnings = checked.diagnostics()}, found);
  return found;
}

std::string WithoutLinks(const std::string& path) {
  std::error_code error;
  const fs::path plain = fs::weakly_canonical(path, error);
  return error ? path : plain.string();
}

}  // namespace curfew::lsp
