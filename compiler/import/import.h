// From another product's flat policy, YAML or JSON, to a policy set: what it says is carried over,
// what it leaves out is asked for by diagnostics, and nothing becomes wider on the way.
//   - An allow is never invented, and never reaches further than it did: where a form has no
//     counterpart, the narrower is written, or nothing. A deny is never narrower.
//   - What must be filled in stands in the result as a name that is declared nowhere: it does not
//     compile before a person has decided.
//   - A secret in clear is an error and copied nowhere, also not into what is shown of the source.
// README.md has the shapes. Nothing is read here but the text that is given.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/import/draft.h"
#include "compiler/source/source.h"

#include <optional>
#include <string>

namespace curfew::import {

struct Imported {
  // The source, as it may be shown: every secret in it is stars.
  source::SourceMap sources;
  diagnostics::Sink diagnostics;
  // Formatted. Nothing where the file is not read or of no known shape.
  std::optional<std::string> policy;
};

// `class_name` names the class where the source names none. Strings of the options are valid.
Imported Import(source::SourceText text, std::string_view class_name, const Options& options);

}  // namespace curfew::import
