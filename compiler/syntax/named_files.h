// What the files of a set name, brought in: files behind `use`, and the entries of lists behind
// `from`.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/source/load.h"
#include "compiler/syntax/ast.h"

#include <vector>

namespace curfew::syntax {

// Adds the files to `sources` and `files`, and theirs in turn; a list that names a file gets its
// entries as elements. What cannot be read is reported where it is named.
void FollowNames(source::SourceMap& sources, std::vector<Ast>& files, diagnostics::Sink& sink,
                 const source::Naming& naming = {});

}  // namespace curfew::syntax
