#include "runtime/client/native_code.h"

#include "compiler/module/policy_module.h"

namespace curfew::client {
namespace {

bool LetsAnythingOut(const module::PolicyModule& policy) {
  for (module::ClassIndex i = 0; i < policy.class_count(); ++i) {
    if (policy.plan(i).network) return true;
  }
  return false;
}

}  // namespace

Result<OwnedFd> NativeCodeFor(const Means& means, ByteView module) {
  CURFEW_TRY(const module::PolicyModule policy, module::PolicyModule::Load(module, 1));
  if (!LetsAnythingOut(policy)) {
    return Failure(FailureCode::Unsupported, std::string(NothingGoesOut));
  }
  return means.make_native_code(module);
}

}  // namespace curfew::client
