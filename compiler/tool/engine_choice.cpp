#include "compiler/tool/engine_choice.h"

#include "compiler/interpret/interpreter.h"
#include "compiler/ir/decision_ir.h"
#include "compiler/ir/encode.h"
#include "compiler/native/native_compiler.h"
#include "compiler/native/native_engine.h"

namespace curfew::tool {
namespace {

Result<std::unique_ptr<module::DecisionEngine>> NativeFor(ByteView bytes) {
  CURFEW_TRY(const OwnedFd image, MakeNativeCode(bytes));
  CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(bytes, 0));
  auto engine = native::NativeEngine::Make(std::move(policy), image.get());
  if (!engine) return std::move(engine).error();
  return std::unique_ptr<module::DecisionEngine>(*std::move(engine));
}

}  // namespace

Result<OwnedFd> MakeNativeCode(ByteView module) {
  return native::CompileNative(native::LibraryBesideProgram(), module);
}

Result<std::string> NativeCodeMaker() { return native::MakerOf(native::LibraryBesideProgram()); }

Result<EngineChoice> ChooseEngine(ByteView bytes, EngineWish wish) {
  EngineChoice choice;
  if (wish != EngineWish::Interpreter) {
    auto native = NativeFor(bytes);
    if (native) {
      choice.engine = *std::move(native);
      return choice;
    }
    if (wish == EngineWish::Native) {
      return native.error().In("`--engine interpreter` needs no native code");
    }
    choice.why_not_native = native.error().message;
  }
  CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(bytes, 0));
  choice.engine = std::make_unique<interpret::Interpreter>(std::move(policy));
  return choice;
}

// A set without classes denies what is asked of a sandbox, here by a condition that is true.
Outcome TryNativeCode() {
  ir::Builder b;
  const auto denial = b.Rule({"class.gone", module::Effect::Deny, "nothing is granted", "", 0, 0});
  b.SetSelection({denial, denial, denial, denial, denial});
  ir::Block denies;
  denies.denials.push_back({denial});
  denies.denials.push_back({denial, b.Has(schema::slot::SandboxClass)});
  for (std::size_t i = 0; i < schema::ActionCount; ++i) {
    b.SetBlock(module::GoneBlock(0, static_cast<schema::Action>(i)), denies);
  }
  const Bytes bytes = ir::Encode(std::move(b).Finish());
  CURFEW_TRY(const std::unique_ptr<module::DecisionEngine> engine, NativeFor(bytes));
  module::Request request(schema::Action::Exec);
  request.SetText(schema::slot::SandboxClass, "none");
  module::VerdictRoom room;
  engine->Decide(request, room.verdict);
  if (room.verdict.effect == module::Effect::Deny && !room.verdict.undecided) return Ok();
  return Failure(FailureCode::Unsupported, "native code does not answer as it should");
}

}  // namespace curfew::tool
