// What libcurfew_prove.so shows: functions of C, as prover.h says them.
#include "compiler/prove/diff_sets.h"
#include "compiler/prove/differ.h"
#include "compiler/prove/find_use.h"
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

prove::RawText RawOf(const std::string& text) { return {text.data(), text.size()}; }
prove::RawDirection RawOf(const prove::Direction& direction) {
  return {static_cast<std::uint32_t>(direction.differs), RawOf(direction.request),
          RawOf(direction.other), RawOf(direction.why)};
}

Result<Unit> Diff(ByteView before, ByteView after, std::uint64_t steps, prove::TakeDifference take,
                  void* into) {
  CURFEW_TRY(module::PolicyModule old_policy, module::PolicyModule::Load(before, 0));
  CURFEW_TRY(module::PolicyModule new_policy, module::PolicyModule::Load(after, 0));
  const interpret::Interpreter old_engine(std::move(old_policy));
  const interpret::Interpreter new_engine(std::move(new_policy));
  prove::Solver solver;
  const prove::SetDifference difference = prove::Diff(old_engine, new_engine, solver, steps);
  for (const prove::Difference& one : difference.actions) {
    const prove::RawDifference raw{0,
                                   static_cast<std::uint32_t>(one.action),
                                   RawOf(one.class_name),
                                   {},
                                   RawOf(one.tightens),
                                   RawOf(one.relaxes)};
    take(into, &raw);
  }
  for (const prove::PlanDifference& plan : difference.plans) {
    const prove::RawDifference raw{
        1, 0, RawOf(plan.class_name), RawOf(plan.now_class), RawOf(plan.example), {}};
    take(into, &raw);
  }
  return Unit{};
}

Result<Unit> FindUses(ByteView bytes, std::span<const std::uint32_t> rules, prove::UseBudget budget,
                      std::span<std::uint8_t> into) {
  CURFEW_TRY(module::PolicyModule policy, module::PolicyModule::Load(bytes, 0));
  const interpret::Interpreter engine(std::move(policy));
  prove::Solver solver;
  const std::vector<prove::Use> uses = prove::FindUsesOf(engine, rules, solver, budget);
  std::ranges::transform(uses, into.begin(),
                         [](prove::Use use) { return static_cast<std::uint8_t>(use); });
  return Unit{};
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int curfew_find_uses_1(
    const std::uint8_t* module, std::size_t bytes, const std::uint32_t* rules, std::size_t count,
    std::uint64_t steps_each, std::uint64_t steps_all, std::uint8_t* uses, char* message,
    std::size_t room) {
  try {
    const auto found =
        FindUses({module, bytes}, {rules, count}, {steps_each, steps_all}, {uses, count});
    if (found) return 0;
    Say(found.error().message, message, room);
  } catch (const std::exception& failure) {
    Say(failure.what(), message, room);
  }
  return -1;
}

extern "C" __attribute__((visibility("default"))) int curfew_diff_sets_2(
    const std::uint8_t* before, std::size_t before_bytes, const std::uint8_t* after,
    std::size_t after_bytes, std::uint64_t steps, prove::TakeDifference take, void* into,
    char* message, std::size_t room) {
  try {
    const auto diffed = Diff({before, before_bytes}, {after, after_bytes}, steps, take, into);
    if (diffed) return 0;
    Say(diffed.error().message, message, room);
  } catch (const std::exception& failure) {
    Say(failure.what(), message, room);
  }
  return -1;
}

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
