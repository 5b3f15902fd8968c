#include "tests/conformance/back_ends.h"

#include "compiler/check/check.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/ir/encode.h"
#include "compiler/jit/compile.h"
#include "compiler/lower/lower.h"
#include "compiler/module/bundle.h"
#include "compiler/module/capability.h"
#include "compiler/module/request_json.h"
#include "compiler/native/native_engine.h"
#include "compiler/prove/check_nevers.h"
#include "compiler/syntax/parse.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::conformance {
namespace {

using module::PolicyModule;

// 2026-11-30T12:00:00Z, a Monday: the time where a request says none.
constexpr std::int64_t NowMs = 1'796'040'000'000;

std::vector<std::string> ErrorsOf(const diagnostics::Sink& sink, const source::SourceMap& sources) {
  std::vector<std::string> errors;
  for (const diagnostics::Diagnostic& diagnostic : sink.Sorted()) {
    if (diagnostic.severity != diagnostics::Severity::Error) continue;
    std::string text = diagnostics::CodeName(diagnostic.code);
    if (!diagnostic.span.is_nowhere()) {
      const std::string_view file = sources.name(diagnostic.span.file);
      if (file != PolicyName) text += fmt::format(" {}", file);
      const auto at = sources.PositionOf(diagnostic.span.file, diagnostic.span.begin);
      text += fmt::format(" {}:{}", at.line, at.column);
    }
    errors.push_back(std::move(text));
  }
  return errors;
}

// The module as it comes out of a bundle, which holds the texts as well.
Result<Bytes> ThroughBundle(const Bytes& bytes, const source::SourceMap& sources) {
  CURFEW_TRY(const PolicyModule loaded, PolicyModule::Load(bytes, 1));
  module::BundleContent content;
  content.language = loaded.manifest().language;
  content.compiler = loaded.manifest().compiler;
  content.policy = loaded.manifest().policy;
  content.module = bytes;
  for (source::FileId file = 0; file < sources.size(); ++file) {
    content.files.push_back(
        {.name = std::string(sources.name(file)), .text = std::string(sources.text(file))});
  }
  CURFEW_TRY(module::Bundle bundle,
             module::ReadBundle(module::WriteBundle(std::move(content)), {}));
  return std::move(bundle.content.module);
}

Outcome AddInterpreter(Compiled& made, std::string name, const Bytes& bytes,
                       interpret::UseIndex use_index) {
  CURFEW_TRY(PolicyModule policy, PolicyModule::Load(bytes, 1));
  made.has_index = made.has_index || !policy.tables().indexes.empty();
  made.back_ends.push_back(
      {std::move(name), std::make_unique<interpret::Interpreter>(std::move(policy), use_index)});
  return Ok();
}

Outcome AddNative(Compiled& made, std::string name, const Bytes& bytes, int image) {
  CURFEW_TRY(PolicyModule policy, PolicyModule::Load(bytes, 1));
  CURFEW_TRY(auto engine, native::NativeEngine::Make(std::move(policy), image));
  made.back_ends.push_back({std::move(name), std::move(engine)});
  return Ok();
}

std::vector<std::string> IdsOf(const PolicyModule& policy, const module::RuleList& rules) {
  std::vector<std::string> ids;
  for (const module::RuleIndex rule : rules.written()) ids.emplace_back(policy.rule(rule).id);
  // One id may be of several rows, each with its message.
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::string PathOf(const PolicyModule& policy, schema::Action action, schema::Slot slot) {
  const auto built_in = schema::AttributesOf(action);
  if (slot < built_in.size()) return std::string(built_in[slot].path);
  return std::string(policy.declared()[slot - built_in.size()].path);
}

// What a request leaves out and the README fixes.
void Complete(module::DecodedRequest& decoded) {
  module::Request& request = decoded.request;
  if (!request.is_known(schema::slot::Now)) request.SetNow(NowMs);
  if (request.is_known(schema::slot::HostCapabilities)) return;
  std::vector<module::Value> all;
  for (const std::string_view word : module::capability::All) {
    all.push_back(module::Value::OfText(word));
  }
  request.Set(schema::slot::HostCapabilities,
              module::Value::OfItems(decoded.arena.Keep(std::move(all))));
}

}  // namespace

Result<std::unique_ptr<Compiled>> CompileCase(const Case& what) {
  auto made = std::make_unique<Compiled>();
  source::SourceMap sources;
  for (const source::SourceText& file : what.policy) sources.Add(file);
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  model::PolicyModel model;
  if (!sink.has_errors()) model = check::Check(trees, sources, sink);
  made->errors = ErrorsOf(sink, sources);
  if (!made->errors.empty()) return made;

  CURFEW_TRY(const ir::DecisionIr code, lower::Lower(model, sources));
  made->bytes = ir::Encode(code);
  prove::CheckNevers(model, made->bytes, prove::LibraryBesideProgram(), sink);
  made->errors = ErrorsOf(sink, sources);
  if (!made->errors.empty()) return made;
  CURFEW_TRY(made->bundled, ThroughBundle(made->bytes, sources));
  CURFEW_TRY(const PolicyModule policy, PolicyModule::Load(made->bytes, 1));
  CURFEW_TRY(const Bytes image, jit::CompileImage(policy));
  CURFEW_TRY(const OwnedFd sealed, native::SealImage(image));

  using interpret::UseIndex;
  CURFEW_TRY_VOID(AddInterpreter(*made, "interpreter", made->bytes, UseIndex::No));
  CURFEW_TRY_VOID(AddInterpreter(*made, "indexed", made->bytes, UseIndex::Yes));
  CURFEW_TRY_VOID(AddNative(*made, "native", made->bytes, sealed.get()));
  CURFEW_TRY_VOID(AddInterpreter(*made, "bundle", made->bundled, UseIndex::Yes));
  CURFEW_TRY_VOID(AddNative(*made, "bundle, native", made->bundled, sealed.get()));
  return made;
}

Answer Ask(const module::DecisionEngine& engine, const std::string& request) {
  const PolicyModule& policy = engine.module();
  auto decoding = module::DecodeRequestText(request, policy.declared(), module::StatedBy::Author);
  if (!decoding) return {"unreadable", {}, {}};
  if (!*decoding) {
    Answer answer{"invalid", {}, {}};
    for (const module::RequestProblem& problem : decoding->problems) {
      answer.names.push_back(problem.pointer.empty() ? "document" : problem.pointer);
    }
    std::ranges::sort(answer.names);
    return answer;
  }
  Complete(*decoding->decoded);
  const module::Request& asked = decoding->decoded->request;
  module::VerdictRoom room;
  engine.Decide(asked, room.verdict);
  const module::Verdict& verdict = room.verdict;
  std::vector<std::string> trials = IdsOf(policy, verdict.trials);
  if (verdict.effect == module::Effect::Allow) {
    return {"allow", IdsOf(policy, verdict.allows), std::move(trials)};
  }
  if (verdict.undecided) {
    return {"undecided", {PathOf(policy, asked.action(), verdict.undecided_slot)}, {}};
  }
  return {"deny", IdsOf(policy, verdict.denials), std::move(trials)};
}

}  // namespace curfew::conformance
