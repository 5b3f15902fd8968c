// Which facts of a request go on record: those that the rules of a set can read, for each action,
// so that whoever reads the record can ask again and must get the same answer. Derived once for
// each module, beside it.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/limits.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request.h"

#include <array>
#include <cstdint>

namespace curfew::record {

// Tells modules apart whose policy set is the same and whose rules may be numbered in another way:
// the first bytes of the digest of its bytes.
std::uint64_t ModuleMark(const module::PolicyModule& policy);

class RecordedFacts {
 public:
  using Bits = module::Facts::Bits;

  // By what is in the request: the masks do not overlap, and `read` has all of them, and `now`.
  struct OfAction {
    Bits read{};
    Bits numbers{};
    Bits texts{};
    Bits number_lists{};
    Bits text_lists{};
  };
  // For the writer: where the values of the numbers lie, in bytes from the first value.
  struct NumberPlaces {
    std::array<std::uint16_t, limits::AttributesPerActionMax> offsets{};
    std::size_t count = 0;
  };

  explicit RecordedFacts(const module::PolicyModule& policy);

  [[nodiscard]] const OfAction& of(schema::Action action) const {
    return actions_[static_cast<std::size_t>(action)];
  }
  [[nodiscard]] const NumberPlaces& places(schema::Action action) const {
    return places_[static_cast<std::size_t>(action)];
  }
  [[nodiscard]] const Digest& policy() const { return policy_; }
  [[nodiscard]] std::uint64_t module_mark() const { return module_mark_; }

 private:
  std::array<OfAction, schema::ActionCount> actions_;
  std::array<NumberPlaces, schema::ActionCount> places_;
  Digest policy_;
  std::uint64_t module_mark_ = 0;
};

}  // namespace curfew::record
