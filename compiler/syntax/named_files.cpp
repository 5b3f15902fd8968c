#include "compiler/syntax/named_files.h"

#include "compiler/syntax/parse.h"
#include "compiler/syntax/token_list.h"

#include <optional>
#include <string_view>

namespace curfew::syntax {
namespace {

// So that no file is ever read as both.
bool IsPolicy(std::string_view path) { return path.ends_with(".curfew"); }

bool IsHeader(const Declaration& declaration) {
  return std::holds_alternative<LanguageHeader>(declaration) ||
         std::holds_alternative<PackageHeader>(declaration) ||
         std::holds_alternative<UseHeader>(declaration);
}

class Follower {
 public:
  Follower(source::SourceMap& sources, std::vector<Ast>& files, diagnostics::Sink& sink,
           const source::Naming& naming)
      : sources_(sources), files_(files), sink_(sink), named_(sources, naming) {}

  void Run() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::vector<Ast> used;
      bool is_late = false;  // a `use` behind a declaration, which was reported
      for (Declaration& declaration : files_[i].declarations) {
        is_late = is_late || !IsHeader(declaration);
        if (const auto* use = std::get_if<UseHeader>(&declaration)) {
          if (!is_late) Use(*use, files_[i].file, used);
        } else if (auto* list = std::get_if<ListDecl>(&declaration)) {
          if (list->from) Fill(*list, files_[i].file);
        }
      }
      for (Ast& file : used) files_.push_back(std::move(file));
    }
  }

 private:
  std::optional<source::NamedFiles::Read> Follow(source::FileId from, const std::string& path,
                                                 source::Span span) {
    const auto read = named_.Follow(from, path);
    if (read) return *read;
    sink_.Report(span, diag::NamedFileUnread, path, read.error().message);
    return std::nullopt;
  }

  void Use(const UseHeader& use, source::FileId from, std::vector<Ast>& used) {
    if (!IsPolicy(use.path.text)) {
      sink_.Report(use.path.span, diag::NamedFileUnread, use.path.text,
                   "`use` brings in policy files, which end in `.curfew`");
      return;
    }
    const auto read = Follow(from, use.path.text, use.path.span);
    if (!read || !read->is_new) return;
    used.push_back(Parse(Lex(sources_, read->file, sink_), sink_));
  }

  void Fill(ListDecl& list, source::FileId from) {
    if (IsPolicy(list.from->text)) {
      sink_.Report(
          list.from->span, diag::NamedFileUnread, list.from->text,
          "a list's entries stand in a file of their own, one a line, and not in a policy");
      return;
    }
    const auto read = Follow(from, list.from->text, list.from->span);
    if (read) list.elements = ParseListFile(sources_, read->file, list.kind, sink_);
  }

  source::SourceMap& sources_;
  std::vector<Ast>& files_;
  diagnostics::Sink& sink_;
  source::NamedFiles named_;
};

}  // namespace

void FollowNames(source::SourceMap& sources, std::vector<Ast>& files, diagnostics::Sink& sink,
                 const source::Naming& naming) {
  Follower(sources, files, sink, naming).Run();
}

}  // namespace curfew::syntax
