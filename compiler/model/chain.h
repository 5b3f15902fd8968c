// What a class inherits, and how what it writes meets that (language.md section 5.3): the one table
// of it, read by check, lowering and plan. A kind of statement either allows or bounds:
//
//   allows   base and class must both allow, as far as both write it: `WritersOf` names the links
//            whose allows must each be satisfied; `KIND none` is writing no allow
//   bounds   they meet: `Meet` makes a plane as tight as a further one says
//
// A new kind of statement that allows has a line in Grant and in Writes, one that bounds a line in
// Meet. Silence is still silence here: what it means, the lowering says (section 5.4).
#pragma once

#include "compiler/model/policy_model.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace curfew::model {

// What stands above a class and itself: `every sandbox`, where the set has it, then what it
// narrows, base first.
std::vector<const Class*> ChainOf(const PolicyModel& model, const Class& of);

// ---- What allows --------------------------------------------------------------------------------

enum class Grant : std::uint8_t {
  Image,
  Exec,
  Access,
  Secrets,
  Env,
  Scratch,
  Persist,
  Snapshot,
  Import,
  Export,
  Egress,
  Expose,
  Renew
};

// Whether the class itself writes allows of the kind, or `KIND none`.
bool Writes(const Class& of, Grant grant);

// The links of the chain that do, base first. None: nobody grants anything of the kind.
std::vector<const Class*> WritersOf(const PolicyModel& model, const Class& of, Grant grant);

// ---- What bounds --------------------------------------------------------------------------------

// The smaller maximum, which keeps its id, and the smaller default.
void Meet(std::optional<Bound>& bound, const std::optional<Bound>& further);
// The smaller of two; of `retain` it is the longer.
void MeetShorter(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& further);
void MeetLonger(std::optional<std::int64_t>& value, const std::optional<std::int64_t>& further);

// What bounds in the planes; allows and denies are left alone.
void Meet(ImagePlane& plane, const ImagePlane& further);
void Meet(IdentityPlane& plane, const IdentityPlane& further);
void Meet(FilesystemPlane& plane, const FilesystemPlane& further);
void Meet(NetworkPlane& plane, const NetworkPlane& further);
void Meet(LifetimePlane& plane, const LifetimePlane& further);
void Meet(EvidencePlane& plane, const EvidencePlane& further);

// What bounds a class, with what it inherits: a class of its name without allows and denies.
Class BoundsOf(const PolicyModel& model, const Class& of);

// Makes `floor` say what it and `part` say: several `every sandbox` all apply.
void Unite(Class& floor, Class part);

}  // namespace curfew::model
