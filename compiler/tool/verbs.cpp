#include "compiler/tool/verbs.h"

namespace curfew::tool {

Verbs CompilerVerbs() {
  Verbs verbs;
  verbs.push_back(MakeCheckVerb());
  verbs.push_back(MakeLintVerb());
  verbs.push_back(MakeFixVerb());
  verbs.push_back(MakeFmtVerb());
  verbs.push_back(MakeTestVerb());
  verbs.push_back(MakeEvalVerb());
  verbs.push_back(MakeExplainVerb());
  verbs.push_back(MakeProveVerb());
  verbs.push_back(MakeDiffVerb());
  verbs.push_back(MakeCompileVerb());
  verbs.push_back(MakeInspectVerb());
  verbs.push_back(MakeImportVerb());
  verbs.push_back(MakeBenchVerb());
  verbs.push_back(MakeLspVerb());
  verbs.push_back(MakeVersionVerb());
  return verbs;
}

}  // namespace curfew::tool
