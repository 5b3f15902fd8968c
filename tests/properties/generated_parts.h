// Parts of generated policy sets that several of their makers use.
#pragma once

#include "tests/properties/generated_policy.h"
#include "tests/properties/random.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::properties {

// A condition that requests of every action of `actions` can be asked; `depth` nestings at most.
std::string Condition(Random& random, const std::vector<std::string>& actions, std::size_t depth);

// `deny` or `require`; sometimes it bears the label.
std::string Rule(Random& random, const std::string& label);

// `X at most Y`, `X` or `at most Y`.
std::string BoundText(Random& random, std::size_t least, std::size_t most, std::string_view unit);

// An allow or a deny of the network plane; where it bears a label, it is of the number.
std::string NetworkStatement(Random& random, std::size_t number);

// A class that narrows `base`. What it allows is most often something that its base allows too.
ClassText GenerateNarrowing(Random& random, const ClassText& base, const std::string& name);

// `every sandbox`.
ClassText GenerateFloor(Random& random, std::size_t number);

}  // namespace curfew::properties
