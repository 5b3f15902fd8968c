// What the server says, as the protocol's JSON. Places are in the client's encoding.
#pragma once

#include "compiler/lsp/completion.h"
#include "compiler/lsp/documents.h"
#include "compiler/lsp/message.h"
#include "compiler/lsp/outline.h"
#include "compiler/lsp/position.h"
#include "compiler/lsp/rename.h"

#include <map>
#include <string>
#include <vector>

namespace curfew::lsp {

// Encodes places in the files of one set, which outlives it.
class Encoder {
 public:
  Encoder(const Analysis& analysis, const Documents& documents, Encoding encoding)
      : analysis_(analysis), documents_(documents), encoding_(encoding) {}

  // As the client calls it, where it is open.
  [[nodiscard]] std::string Uri(source::FileId file) const;
  Json Range(source::Span span);
  Json Location(source::Span span);
  // The byte in a file.
  std::uint32_t Offset(source::FileId file, Position position);

  Json Diagnostic(const diagnostics::Diagnostic& diagnostic, source::Span span);
  // Of one or more files.
  Json WorkspaceEdit(const std::vector<Edit>& edits);
  Json Outline(const std::vector<OutlineNode>& nodes);
  Json Fold(const lsp::Fold& fold);
  // `word` is what a proposal replaces.
  Json Proposals(const std::vector<Proposal>& proposals, source::Span word);

 private:
  const LineIndex& Lines(source::FileId file);

  const Analysis& analysis_;
  const Documents& documents_;
  Encoding encoding_;
  std::map<source::FileId, LineIndex> lines_;
};

}  // namespace curfew::lsp
