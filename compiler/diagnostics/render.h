// Diagnostics as text for people and in the formats that machines read; one file a format. All sort
// by place. README.md has the formats as contracts. Any bytes in names of files, in messages and in
// sources give a valid document.
#pragma once

#include "compiler/diagnostics/sink.h"

#include <string>
#include <string_view>

namespace curfew::diagnostics {

enum class Color { Never, Always };

// policy.curfew:3:7: error: `kid` is no attribute of `task` [CUR3004]
//   3 | deny create when task.kid == "x"
//     |                  ^~~~~~~~
//     = help: write `kind`
// and a line "2 errors" at the end when there are two or more. Empty when there is nothing to say.
// Safe to print on a terminal whatever the sources hold.
std::string RenderText(const Sink& sink, const source::SourceMap& sources,
                       Color color = Color::Never);

// {"version": 1, "diagnostics": [{"code", "severity", "message", "file", "range": {"start":
// {"line", "column", "offset"}, "end": {…}}, "notes": [{"message", "file", "range"}], "fixes":
// [{"file", "range", "replacement"}]}]}; file and range are absent for what concerns the whole set.
std::string RenderJson(const Sink& sink, const source::SourceMap& sources);

// SARIF 2.1.0 (OASIS, with errata 01): one run, whose rules are the whole registry in its order.
// `version` is the program's.
std::string RenderSarif(const Sink& sink, const source::SourceMap& sources,
                        std::string_view version);

// One workflow command of GitHub Actions for each diagnostic, on a line of its own.
std::string RenderGithub(const Sink& sink, const source::SourceMap& sources);

// JUnit's XML: a suite for each file of the set, a failed case for each error and each warning, a
// case that passed for each information and for a file in which nothing was found.
std::string RenderJunit(const Sink& sink, const source::SourceMap& sources);

}  // namespace curfew::diagnostics
