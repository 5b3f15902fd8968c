// A policy set as an editor sees it: its files with what is not saved yet in their place, the
// trees, and what the compiler says. Whether or not the set is valid, there is something to answer
// from.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/source/load.h"
#include "compiler/syntax/ast.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lsp {

// Which files are a set.
struct SetPlace {
  // A folder (every policy below it), a file, or no path at all: then the name of a text that is on
  // no disk and a set of its own.
  std::string name;
  bool is_path = true;
  std::string root = {};  // as source::Naming has it
  // Policies that belong to it whether or not they are found on disk, by path.
  std::vector<std::string> members = {};
};

struct Analysis {
  source::SourceMap sources;
  // Where each source is, without links, by FileId; the name of what is on no disk.
  std::vector<std::string> paths;
  std::vector<syntax::Ast> files;
  diagnostics::Sink diagnostics;
  bool parses = false;  // no file lacks a statement
  // When there are no errors.
  std::optional<model::PolicyModel> model;
  // Ids that a test can expect, when there are no errors.
  std::vector<std::string> known_ids;
  // Why the files could not be read; then there are none.
  std::optional<Failure> failure;

  [[nodiscard]] std::optional<source::FileId> FileAt(std::string_view path) const;
  // The tree of a policy; nullptr for a list's file.
  [[nodiscard]] const syntax::Ast* TreeOf(source::FileId file) const;
};

// What an editor shows of a set: the diagnostics, and where there are no errors what `curfew lint`
// finds at that time, less what is suppressed.
diagnostics::Sink FindingsOf(const Analysis& analysis, std::int64_t now_ms);

// Reads and checks as `curfew check` does. `overlay` has the text of everything that is open.
Analysis Analyse(const SetPlace& place, const source::Overlay& overlay);

// `path` absolute and without links as far as it exists.
std::string WithoutLinks(const std::string& path);

}  // namespace curfew::lsp
