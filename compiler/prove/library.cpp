// What libcurfew_prove.so shows: functions of C, as prover.h says them.
#include "compiler/prove/prove_never.h"
#include "compiler/prove/prover.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>

namespace {

using namespace curfew;

void Say(std::string_view text, char* message, std::size_t room) {
  const std::size_t size = std::min(text.size(), room - 1);
  std::memcpy(message, text.data(), size);
  message[size] = '\0';
}

Result<Unit> Prove(ByteView bytes, std::span<const std::uint32_t> nevers, std::uint64_t steps,
                   prove::TakeAnswer take, void* into) {
  CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(bytes, 0));
  const interpret::Interpreter engine(std::move(policy));
  prove::Solver solver;
  for (const std::uint32_t never : nevers) {
    const prove::Answer answer = prove::ProveNever(engine, never, solver, steps);
    const prove::RawAnswer raw{never,
                               static_cast<std::uint32_t>(answer.outcome),
                               answer.text.data(),
                               answer.text.size(),
                               answer.allows.data(),
                               answer.allows.size()};
    take(into, &raw);
  }
  return Unit{};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int curfew_prove_nevers_1(
    const std::uint8_t* module, std::size_t bytes, const std::uint32_t* nevers, std::size_t count,
    std::uint64_t steps, prove::TakeAnswer take, void* into, char* message, std::size_t room) {
  try {
    const auto proved = Prove({module, bytes}, {nevers, count}, steps, take, into);
    if (proved) return 0;
    Say(proved.error().message, message, room);
  } catch (const std::exception& failure) {
    Say(failure.what(), message, room);
  }
  return -1;
}
