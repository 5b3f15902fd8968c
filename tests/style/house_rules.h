// The house as a newcomer meets it: folders, links, promises, the package list.
#pragma once

#include "tests/style/tree.h"

namespace curfew::style {

Findings CheckTopLevel(const Tree& tree);
// Another language than C++ stands only where its users live: examples, and peers of the benchmark.
Findings CheckLanguages(const Tree& tree);
// Relative links of every README (and of the other .md files) lead to something.
Findings CheckLinks(const Tree& tree);
// Each row of the table under "## Promises" in README.md names a test: a link to a file that holds
// the quoted name, or the word pending.
Findings CheckPromises(const Tree& tree);
// Each example has README, policy and task; each shipped policy has a test in the language.
Findings CheckExamplesAndPolicies(const Tree& tree);

}  // namespace curfew::style
