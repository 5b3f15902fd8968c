// The policy sets that open documents belong to, each analysed when somebody asks and kept until
// something in it changes.
//
// A document's set is its folder with all below it; where another open document's folder is above
// it, that one, so that no file is judged twice. A document that lies in none of the client's
// workspace folders (if it has any), or on no disk, is a set of its own.
#pragma once

#include "compiler/lsp/documents.h"
#include "compiler/lsp/index.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lsp {

class Workspace {
 public:
  // A set and what is known of it.
  struct Set {
    SetPlace place;
    Analysis analysis;
    diagnostics::Sink findings;  // what is shown
    Vocabulary vocabulary;
    Index index;
    // Of the last time that the set had no errors.
    std::vector<std::string> known_ids;
  };

  using Clock = std::function<std::int64_t()>;
  // Adds what the proofs of a valid set say against it.
  using Prove = std::function<void(const Analysis&, diagnostics::Sink&)>;

  // `root` bounds what the files of every set may name, as source::Naming has it; `now_ms` says for
  // when they are judged. `prove` may be empty.
  Workspace(std::string root, Clock now_ms, Prove prove = {})
      : root_(std::move(root)), now_ms_(std::move(now_ms)), prove_(std::move(prove)) {}

  void AddFolder(std::string_view uri);
  void RemoveFolder(std::string_view uri);

  // Sets that hold `path` are analysed again when they are asked for next; with nothing, all are,
  // and they are proven too: somebody has saved. Nobody waits for a proof while typing.
  void Invalidate(std::string_view path = {});

  // The set of an open policy.
  const Set& SetOf(const Document& document, const Documents& documents);
  // Every set of the open policies, by name; others are forgotten.
  std::vector<const Set*> All(const Documents& documents);

 private:
  [[nodiscard]] SetPlace PlaceOf(const Document& document, const Documents& documents) const;
  [[nodiscard]] std::string FolderOf(const Document& document) const;
  const Set& Refresh(const SetPlace& place, const Documents& documents);

  std::string root_;
  Clock now_ms_;
  Prove prove_;
  bool proves_ = false;
  std::vector<std::string> folders_;
  std::map<std::string, std::unique_ptr<Set>, std::less<>> sets_;
  std::map<std::string, std::vector<std::string>, std::less<>> last_known_ids_;
};

}  // namespace curfew::lsp
