// A compiled policy set as tables, one for each class and plane: what holds in the end, whichever
// class of a chain said it. For people and programs that look at a set as a whole.
#pragma once

#include "compiler/module/plan_template.h"
#include "compiler/module/policy_module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace curfew::inspect {

struct PlaneRow {
  std::string what;     // ttl, image, allow, deny, …
  std::string value;    // "1h at most 8h"; of a rule its message
  std::string id = {};  // of a rule
  std::string file = {};
  std::uint32_t line = 0;
};
struct PlaneTable {
  std::string name;  // a plane; "rules" for what stands in a class but in no plane
  std::vector<PlaneRow> rows;
};
struct ClassTable {
  std::string name;  // "set" for the rules of the set
  std::vector<PlaneTable> planes;
};

// What a class grants and bounds, without the rules.
ClassTable TableOf(const module::PlanTemplate& plan);
// In the module's order of classes, the set's own rules last; built-in rules are not told.
std::vector<ClassTable> TablesOf(const module::PolicyModule& policy);
std::string RenderText(const ClassTable& table);

}  // namespace curfew::inspect
