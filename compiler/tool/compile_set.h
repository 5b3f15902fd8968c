// The whole line of the compiler, once, for everyone: files to a checked model and a module's
// bytes. An author's mistakes are diagnostics; a file that cannot be read is a Failure.
#pragma once

#include "compiler/base/console.h"
#include "compiler/base/text.h"
#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/module/bundle.h"
#include "compiler/module/written_clause.h"
#include "compiler/source/load.h"
#include "compiler/syntax/ast.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace curfew::tool {

// What the line made, as far as it came. Errors in the sink end it.
struct Compilation {
  source::SourceMap sources;
  source::FileId first_named = 0;  // files from this one on are there by `use` and `from`
  std::vector<syntax::Ast> files;
  diagnostics::Sink diagnostics;
  bool parses = false;  // what there is to say is said by the checker
  // The rest is there when there are no errors. The module's bytes are as PolicyModule::Load
  // wants them; a set without a file has none.
  std::optional<model::PolicyModel> model;
  Bytes module;
  std::vector<module::WrittenClause> written;  // of that module

  [[nodiscard]] bool is_valid() const { return model.has_value(); }
};

// Whether the line proves each `never` of the set, or leaves that to a caller whose business it is
// to say what came of it.
enum class Proofs : std::uint8_t { Made, LeftToCaller };

struct SetOptions {
  std::string root = {};  // bounds what files may name, as source::Naming has it
  source::Nothing nothing = source::Nothing::Refused;
  Proofs proofs = Proofs::Made;
};

Result<Compilation> CompileSet(std::span<const std::string> paths, const SetOptions& options = {});

// The same of texts that are at hand. Files that they name are read.
Result<Compilation> CompileTexts(source::SourceMap sources, const SetOptions& options = {});

// Diagnostics on standard error, in the console's colour; the exit status that they mean.
int PrintDiagnostics(const Compilation& compilation, Console& console);

// All that a bundle of a valid compilation holds.
module::BundleContent ContentOf(Compilation& made);

// A module's bytes, for whoever runs by them: InvalidPolicy with the diagnostics as its message.
Result<Bytes> CompileModule(std::span<const std::string> paths, const SetOptions& options = {});

}  // namespace curfew::tool
