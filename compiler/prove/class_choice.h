// ClassChoice: which class of one set a create is given (compiler/ir/README.md, step 2), as claims;
// and which classes two sets choose alike. The rules within a class are not its matter.
#pragma once

#include "compiler/prove/claim.h"

#include <span>
#include <string>
#include <vector>

namespace curfew::prove {

// Of creates that name the class `named`, or none.
class ClassChoice {
 public:
  ClassChoice(const FactSpace& space, Side side, std::string named)
      : space_(space), side_(side), named_(std::move(named)) {}

  // It is a candidate, and none that narrows it is: all of these. A class that only a name selects,
  // another one than `named`, never is.
  [[nodiscard]] std::vector<Claim> Remains(module::ClassIndex of_class) const;
  // For all that is known it may remain, or need not.
  [[nodiscard]] Claim MayRemain(module::ClassIndex of_class) const;
  [[nodiscard]] Claim MayNotRemain(module::ClassIndex of_class) const;

 private:
  [[nodiscard]] Claim Candidate(module::ClassIndex of_class, Claim::Kind kind) const;
  [[nodiscard]] Claim NoCandidate(module::ClassIndex of_class) const;
  [[nodiscard]] bool IsNeverNamed(module::ClassIndex of_class) const;
  [[nodiscard]] std::span<const module::ClassIndex> Narrowers(module::ClassIndex of_class) const;

  const FactSpace& space_;
  Side side_;
  std::string named_;
};

// Of each class of side 1 whether side 0 has one of its name that remains for the same creates.
std::vector<bool> ChosenAlike(const FactSpace& space);

}  // namespace curfew::prove
