#include "compiler/prove/uses.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>

#include <fmt/format.h>

namespace curfew::prove {

Result<std::vector<Use>> FindUses(const std::string& path, ByteView module,
                                  std::span<const module::RuleIndex> rules, UseBudget budget) {
  // Z3 keeps what it once set up, so it is never closed again.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return Failure(FailureCode::Unsupported, fmt::format("no prover: {}", dlerror()));
  }
  void* symbol = dlsym(library, FindUsesName);
  if (symbol == nullptr) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("no prover: {} is of another version of Curfew", path));
  }
  std::vector<std::uint8_t> raw(rules.size());
  std::array<char, 1024> message{};
  const auto find = reinterpret_cast<FindUsesFunction>(symbol);
  if (find(module.data(), module.size(), rules.data(), rules.size(), budget.each, budget.all,
           raw.data(), message.data(), message.size()) != 0) {
    return Failure(FailureCode::Unsupported, fmt::format("no proof: {}", message.data()));
  }
  std::vector<Use> uses;
  for (const std::uint8_t use : raw) {
    const bool is_known = use <= static_cast<std::uint8_t>(Use::CoveredAllow);
    uses.push_back(is_known ? static_cast<Use>(use) : Use::Unknown);
  }
  return uses;
}

}  // namespace curfew::prove
