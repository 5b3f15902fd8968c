// Rules that no index finds, so that every request is asked each of them.
#pragma once

#include "compiler/module/tables.h"
#include "compiler/schema/schema.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace curfew::lint {

// So many cost less than a look into another table would say.
inline constexpr std::size_t UnfoundRulesMax = 32;

// What every request of an action is asked in one class.
struct UnfoundRules {
  std::string_view class_name;  // the module's
  schema::Action action = schema::Action::Create;
  std::vector<std::string_view>
      ids;  // of allows and denials, in their order; an id may stand twice
};

// Where there are more than UnfoundRulesMax of them, built-in ones left out.
std::vector<UnfoundRules> FindUnfoundRules(const module::Tables& code);

}  // namespace curfew::lint
