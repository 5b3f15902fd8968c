#include "compiler/prove/differ.h"

#include <algorithm>
#include <array>
#include <dlfcn.h>

#include <fmt/format.h>

namespace curfew::prove {
namespace {

std::string TextOf(const RawText& raw) { return {raw.data, raw.size}; }

Direction DirectionOf(const RawDirection& raw) {
  const auto differs = raw.differs <= static_cast<std::uint32_t>(Differs::Undecided)
                           ? static_cast<Differs>(raw.differs)
                           : Differs::Undecided;
  return {differs, TextOf(raw.request), TextOf(raw.other), TextOf(raw.why)};
}

void Take(void* into, const RawDifference* raw) {
  auto& difference = *static_cast<SetDifference*>(into);
  if (raw->is_plan != 0) {
    difference.plans.push_back(
        {TextOf(raw->class_name), TextOf(raw->now_class), DirectionOf(raw->tightens)});
    return;
  }
  difference.actions.push_back(
      {static_cast<schema::Action>(std::min<std::uint32_t>(raw->action, schema::ActionCount - 1)),
       TextOf(raw->class_name), DirectionOf(raw->tightens), DirectionOf(raw->relaxes)});
}

}  // namespace

Result<SetDifference> DiffSets(const std::string& path, ByteView before, ByteView after,
                               std::uint64_t steps) {
  // Z3 keeps what it once set up, so it is never closed again.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    return Failure(FailureCode::Unsupported, fmt::format("no prover: {}", dlerror()));
  }
  void* symbol = dlsym(library, DiffSetsName);
  if (symbol == nullptr) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("no prover: {} is of another version of Curfew", path));
  }
  SetDifference difference;
  std::array<char, 1024> message{};
  const auto diff = reinterpret_cast<DiffSetsFunction>(symbol);
  if (diff(before.data(), before.size(), after.data(), after.size(), steps, Take, &difference,
           message.data(), message.size()) != 0) {
    return Failure(FailureCode::Unsupported, fmt::format("no comparison: {}", message.data()));
  }
  return difference;
}

}  // namespace curfew::prove
