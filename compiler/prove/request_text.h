// A request that a witness describes: for the interpreter, and as the JSON that `curfew eval
// --request` reads.
#pragma once

#include "compiler/module/request_json.h"
#include "compiler/prove/encoding.h"

#include <string>

namespace curfew::prove {

// Facts that the witness says nothing of are what they mostly are. The request is that of one side;
// it views what the witness views, and the arena.
module::Request RequestOf(const FactSpace& space, Side side, const Witness& witness,
                          module::ValueArena& arena);

// What no document states (the class of a create that is left out, what follows from the time, what
// the host can do) is left out.
std::string TextOf(const FactSpace& space, Side side, const module::Request& request);

}  // namespace curfew::prove
