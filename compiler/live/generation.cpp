#include "compiler/live/generation.h"

#include "compiler/native/native_engine.h"

namespace curfew::live {

Generation::Generation(Bytes bytes, module::PolicyModule policy)
    : bytes_(std::move(bytes)),
      interpreter_(std::move(policy)),
      digest_(ToString(interpreter_.module().manifest().policy)) {
  for (const schema::ActionInfo& info : schema::Actions()) {
    facts_[static_cast<std::size_t>(info.action)] =
        module::FactsOf(info.action, interpreter_.module().declared());
  }
}

Result<std::shared_ptr<Generation>> Generation::Open(Bytes module, std::uint64_t number) {
  CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(module, number));
  return std::make_shared<Generation>(std::move(module), std::move(policy));
}

Outcome Generation::BecomeNative(int image) {
  CURFEW_CHECK(native_ == nullptr && !stays_, "native code takes the interpreter's place once");
  CURFEW_TRY(native_, native::NativeEngine::Make(policy(), image));
  engine_.store(native_.get(), std::memory_order_release);
  return Ok();
}

void Generation::StayInterpreted(std::string why) {
  CURFEW_CHECK(native_ == nullptr && !stays_, "it has been said already what decides");
  why_not_native_ = std::move(why);
  stays_.store(true, std::memory_order_release);
}

}  // namespace curfew::live
