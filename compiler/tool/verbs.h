// The verbs that need the compiler only. Each stands in its own file, <verb>_verb.cpp.
#pragma once

#include "compiler/base/verb.h"

namespace curfew::tool {

std::unique_ptr<Verb> MakeCheckVerb();
std::unique_ptr<Verb> MakeLintVerb();
std::unique_ptr<Verb> MakeFixVerb();
std::unique_ptr<Verb> MakeFmtVerb();
std::unique_ptr<Verb> MakeTestVerb();
std::unique_ptr<Verb> MakeImportVerb();
std::unique_ptr<Verb> MakeEvalVerb();
std::unique_ptr<Verb> MakeExplainVerb();
std::unique_ptr<Verb> MakeProveVerb();
std::unique_ptr<Verb> MakeDiffVerb();
std::unique_ptr<Verb> MakeCompileVerb();
std::unique_ptr<Verb> MakeInspectVerb();
std::unique_ptr<Verb> MakeBenchVerb();
std::unique_ptr<Verb> MakeLspVerb();
std::unique_ptr<Verb> MakeVersionVerb();

// All of them, in the order of --help.
Verbs CompilerVerbs();

// "curfew 0.1.0 (language 1)"
std::string VersionLine();

}  // namespace curfew::tool
