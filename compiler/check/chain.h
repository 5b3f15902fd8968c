// Chains: what a class narrows, and what it writes held against what it inherits. How kinds of
// statement meet is said by compiler/model/chain.h; here stands what is a mistake between classes.
#pragma once

#include "compiler/check/context.h"
#include "compiler/check/meeting_index.h"
#include "compiler/model/policy_model.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace curfew::check {

// Of the whole set. Made once names are known, before planes are checked: it gives the model's
// classes their chains, and the model its floor.
class Chains {
 public:
  explicit Chains(Context& context);

  // What a class states of what every chain must have, also where it could not be read.
  void NoteStated(model::ClassId of, bool image, bool ttl);

  // After every plane.
  void Check();

 private:
  void Resolve();
  std::vector<std::size_t> CountLinks();
  void ReportCycle(std::span<const model::ClassId> cycle);
  [[nodiscard]] std::optional<model::ClassId> BaseOf(model::ClassId id) const;
  [[nodiscard]] const syntax::Name& NarrowsOf(model::ClassId id) const;
  void CheckObligations(model::ClassId id);

  struct Stated {
    bool image = false;
    bool ttl = false;
  };

  Context& context_;
  std::map<model::ClassId, Stated> stated_;
  std::set<model::ClassId> broken_;  // whose chain has a mistake
};

// What a class writes held against what it inherits.
// An allow that shares nothing with what its base allows.
void CheckGrantsMeet(Context& context, const model::Class& of, ClassIndexes& indexes);
// A token that outlives the largest ttl.
void CheckToken(Context& context, const model::Class& of);
// stream.cpp: a byte stream that goes around a rule.
void CheckStreams(Context& context, const model::Class& of, ClassIndexes& indexes);

}  // namespace curfew::check
