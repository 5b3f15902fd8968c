// Who may include whom: tests/style/layers.txt for rooms, tests/style/confined.txt for headers of
// libraries and of the kernel.
#pragma once

#include "tests/style/tree.h"

namespace curfew::style {

// layers.txt itself: rooms named above their line only, no room twice, the two halves apart.
Findings CheckLayers(const Tree& tree);
// Every #include of a room is one that its line allows.
Findings CheckIncludesFollowLayers(const Tree& tree);
// The rooms that CMake builds are those of layers.txt, and link what their line allows.
Findings CheckRoomsAreBuilt(const Tree& tree);
// Every #include of a header named in confined.txt stands where that line allows it.
Findings CheckConfinedHeaders(const Tree& tree);
// Own header first; quotes name a file from the root; `#pragma once` in headers.
Findings CheckIncludeForm(const Tree& tree);

}  // namespace curfew::style
