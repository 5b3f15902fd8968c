// The second station: tokens to tree.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/token_list.h"

#include <cstddef>
#include <string_view>

namespace curfew::syntax {

// The one version of the language that this build knows: `language 1`. What another means nobody
// here can say, neither a checker nor a formatter, so it is an error.
inline constexpr std::string_view LanguageVersion = "1";

// Always returns a tree; a statement that has a mistake is reported once and left out of it, so the
// tree of a file with errors is for looking at only. Memory beside the tree is bounded by the
// largest single statement.
Ast Parse(const TokenList& tokens, diagnostics::Sink& sink);

// Of one list file; also of all lists together, counted for each place of a set that names one.
inline constexpr std::size_t ListElementsMax = 1'000'000;

// The entries of a list file, one a line, as if they stood between the brackets of a list: strings,
// or digests. `#` begins a comment, white space around an entry is not of it, and none stands there
// twice.
std::vector<Expr> ParseListFile(const source::SourceMap& sources, source::FileId file,
                                ListDecl::Kind kind, diagnostics::Sink& sink);

// Whether the set as a whole is within its limits; reports what is not.
bool IsWithinLimits(const source::SourceMap& sources, diagnostics::Sink& sink);

// Lex and Parse of every file of the map, in its order, where it is within its limits.
std::vector<Ast> ParseAll(const source::SourceMap& sources, diagnostics::Sink& sink);

}  // namespace curfew::syntax
