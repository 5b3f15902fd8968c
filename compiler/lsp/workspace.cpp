#include "compiler/lsp/workspace.h"

#include "compiler/lsp/uri.h"

#include <algorithm>
#include <filesystem>

namespace curfew::lsp {
namespace {

// Whether `path` is `folder` or lies below it.
bool LiesIn(std::string_view path, std::string_view folder) {
  if (!path.starts_with(folder)) return false;
  return path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/';
}

}  // namespace

void Workspace::AddFolder(std::string_view uri) {
  if (const auto path = PathOfUri(uri)) folders_.push_back(WithoutLinks(*path));
}

void Workspace::RemoveFolder(std::string_view uri) {
  const auto path = PathOfUri(uri);
  if (path) std::erase(folders_, WithoutLinks(*path));
}

void Workspace::Invalidate(std::string_view path) {
  proves_ = path.empty();
  for (auto& [name, set] : sets_) {
    if (set == nullptr) continue;
    const auto& paths = set->analysis.paths;
    const bool holds = std::find(paths.begin(), paths.end(), path) != paths.end();
    if (path.empty() || holds || LiesIn(path, name)) set.reset();
  }
}

// The folder whose policies are the document's set; empty when it is one of its own.
std::string Workspace::FolderOf(const Document& document) const {
  if (!document.is_path || !document.is_policy) return {};
  const bool within = std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
    return LiesIn(document.path, folder);
  });
  if (!folders_.empty() && !within) return {};
  return std::filesystem::path(document.path).parent_path().string();
}

SetPlace Workspace::PlaceOf(const Document& document, const Documents& documents) const {
  std::string folder = FolderOf(document);
  if (folder.empty()) {
    SetPlace place{
        .name = document.path, .is_path = document.is_path, .root = root_, .members = {}};
    if (document.is_path) place.members.push_back(document.path);
    return place;
  }
  for (const auto& [uri, other] : documents.all()) {
    const std::string above = FolderOf(other);
    if (!above.empty() && above.size() < folder.size() && LiesIn(folder, above)) folder = above;
  }
  SetPlace place{.name = folder, .is_path = true, .root = root_, .members = {}};
  for (const auto& [uri, other] : documents.all()) {
    if (!FolderOf(other).empty() && LiesIn(other.path, folder)) place.members.push_back(other.path);
  }
  return place;
}

const Workspace::Set& Workspace::Refresh(const SetPlace& place, const Documents& documents) {
  std::unique_ptr<Set>& set = sets_[place.name];
  if (set != nullptr && set->place.members == place.members) return *set;
  Analysis analysis = Analyse(place, documents.overlay());
  Vocabulary vocabulary(analysis.files);
  Index index = IndexOf(analysis, vocabulary);
  std::vector<std::string>& known_ids = last_known_ids_[place.name];
  if (!analysis.known_ids.empty()) known_ids = analysis.known_ids;
  diagnostics::Sink findings = FindingsOf(analysis, now_ms_());
  if (proves_ && prove_ && analysis.model) prove_(analysis, findings);
  set = std::make_unique<Set>(Set{place, std::move(analysis), std::move(findings),
                                  std::move(vocabulary), std::move(index), known_ids});
  return *set;
}

const Workspace::Set& Workspace::SetOf(const Document& document, const Documents& documents) {
  return Refresh(PlaceOf(document, documents), documents);
}

std::vector<const Workspace::Set*> Workspace::All(const Documents& documents) {
  std::map<std::string, SetPlace> places;
  for (const auto& [uri, document] : documents.all()) {
    if (!document.is_policy) continue;
    SetPlace place = PlaceOf(document, documents);
    places.emplace(place.name, std::move(place));
  }
  std::erase_if(sets_, [&](const auto& entry) { return !places.contains(entry.first); });
  std::erase_if(last_known_ids_, [&](const auto& entry) { return !places.contains(entry.first); });
  std::vector<const Set*> all;
  for (const auto& [name, place] : places) all.push_back(&Refresh(place, documents));
  return all;
}

}  // namespace curfew::lsp
