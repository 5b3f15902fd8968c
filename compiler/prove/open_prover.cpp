#include "compiler/base/program_folder.h"
#include "compiler/prove/prover.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>

#include <fmt/format.h>

namespace curfew::prove {
namespace {

void Take(void* into, const RawAnswer* raw) {
  const auto outcome = raw->outcome <= static_cast<std::uint32_t>(Outcome::Undecided)
                           ? static_cast<Outcome>(raw->outcome)
                           : Outcome::Undecided;
  static_cast<std::vector<Answer>*>(into)->push_back(
      {.never = raw->never,
       .outcome = outcome,
       .text = {raw->text, raw->text_bytes},
       .allows = {raw->allows, raw->allows + raw->allow_count}});
}

bool AnswersAll(std::span<const Answer> answers, std::span<const module::RuleIndex> nevers) {
  return std::ranges::equal(answers, nevers, {}, &Answer::never);
}

}  // namespace

std::vector<module::RuleIndex> NeversOf(const module::PolicyModule& policy) {
  std::vector<module::RuleIndex> nevers;
  for (module::RuleIndex rule = 0; rule < policy.rule_count(); ++rule) {
    if (policy.rule(rule).never) nevers.push_back(rule);
  }
  return nevers;
}

Result<std::vector<Answer>> ProveNevers(const std::string& path, ByteView module,
                                        std::span<const module::RuleIndex> nevers,
                                        std::uint64_t steps) {
  // Z3 keeps what it once set up, so it is never closed again.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return Failure(FailureCode::Unsupported, fmt::format("no prover: {}", dlerror()));
  }
  void* symbol = dlsym(library, ProveNeversName);
  if (symbol == nullptr) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("no prover: {} is of another version of Curfew", path));
  }
  std::vector<Answer> answers;
  std::array<char, 1024> message{};
  const auto prove = reinterpret_cast<ProveNeversFunction>(symbol);
  if (prove(module.data(), module.size(), nevers.data(), nevers.size(), steps, Take, &answers,
            message.data(), message.size()) != 0) {
    return Failure(FailureCode::Unsupported, fmt::format("no proof: {}", message.data()));
  }
  if (!AnswersAll(answers, nevers)) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("no proof: {} answers something else than it was asked", path));
  }
  return answers;
}

std::string LibraryBesideProgram() { return BesideProgram(LibraryName); }

}  // namespace curfew::prove
