#include "compiler/schema/schema.h"

#include "compiler/base/check.h"
#include "compiler/base/limits.h"

#include <algorithm>
#include <vector>

namespace curfew::schema {
namespace {

constexpr ActionInfo kActions[] = {
#define CURFEW_ACTION(name, word, asked, granted) {Action::name, word, asked, granted},
#include "compiler/schema/actions.def"
#undef CURFEW_ACTION
};
static_assert(std::size(kActions) == ActionCount);

#define CURFEW_ENUM(name, ordered, ...) \
  constexpr std::string_view k##name##Values[] = {__VA_ARGS__};
#include "compiler/schema/enums.def"
#undef CURFEW_ENUM
constexpr EnumInfo kEnums[] = {
#define CURFEW_ENUM(name, ordered, ...) {#name, ordered, k##name##Values},
#include "compiler/schema/enums.def"
#undef CURFEW_ENUM
};

// The spelling of types in attributes.def.
constexpr Type Bool{TypeKind::Bool};
constexpr Type Int{TypeKind::Int};
constexpr Type Text{TypeKind::Text};
constexpr Type Principal{TypeKind::Principal};
constexpr Type Duration{TypeKind::Duration};
constexpr Type Size{TypeKind::Size};
constexpr Type Time{TypeKind::Time};
constexpr Type Ip{TypeKind::Ip};
constexpr Type Host{TypeKind::Host};
constexpr Type UrlPath{TypeKind::UrlPath};
constexpr Type FilePath{TypeKind::FilePath};
constexpr Type Digest{TypeKind::Digest};
constexpr Type OneOf(Enum which) { return {TypeKind::Enum, Collection::One, false, which}; }
constexpr Type SetOf(Type element) {
  element.collection = Collection::Set;
  return element;
}
constexpr Type ListOf(Type element) {
  element.collection = Collection::List;
  return element;
}
constexpr Type Optional(Type type) {
  type.optional = true;
  return type;
}

constexpr Attribute kShared[] = {
#define CURFEW_EVERY(name, path, type, origin, doc) {path, type, Origin::origin, slot::name, doc},
#define CURFEW_SANDBOX(name, path, type, origin, doc) {path, type, Origin::origin, slot::name, doc},
#include "compiler/schema/attributes.def"
};

struct OwnRow {
  Action action;
  Attribute attribute;
};
constexpr OwnRow kOwn[] = {
#define CURFEW_OWN(action, name, path, type, origin, doc) \
  {Action::action, {path, type, Origin::origin, slot::action##name, doc}},
#include "compiler/schema/attributes.def"
};

constexpr std::size_t OwnCount(Action action) {
  std::size_t count = 0;
  for (const OwnRow& row : kOwn) count += row.action == action ? 1 : 0;
  return count;
}

template <Action action>
constexpr auto TableOf() {
  std::array<Attribute, slot::SharedCount + OwnCount(action)> table{};
  std::copy(std::begin(kShared), std::end(kShared), table.begin());
  for (const OwnRow& row : kOwn) {
    if (row.action == action) table[row.attribute.slot] = row.attribute;
  }
  return table;
}

template <Action action>
constexpr auto kTable = TableOf<action>();

}  // namespace

std::span<const ActionInfo> Actions() { return kActions; }

std::string_view WordOf(Action action) { return kActions[static_cast<std::size_t>(action)].word; }

std::optional<Action> ActionOf(std::string_view word) {
  for (const ActionInfo& info : kActions) {
    if (info.word == word) return info.action;
  }
  return std::nullopt;
}

std::string_view WordOf(Stage stage) {
  switch (stage) {
    case Stage::Name:
      return "name";
    case Stage::Address:
      return "address";
    case Stage::Request:
      return "request";
  }
  CURFEW_UNREACHABLE("the switch names every stage");
}

namespace {
constexpr std::string_view kTypeWords[] = {
    "bool", "int",  "string", "principal", "duration",  "size",   "time",
    "ip",   "cidr", "host",   "url_path",  "file_path", "digest", "enum"};
}

std::string_view WordOf(TypeKind kind) { return kTypeWords[static_cast<std::size_t>(kind)]; }

std::optional<TypeKind> TypeKindOf(std::string_view word) {
  for (std::size_t i = 0; i + 1 < std::size(kTypeWords); ++i) {
    if (kTypeWords[i] == word) return static_cast<TypeKind>(i);
  }
  return std::nullopt;
}

const EnumInfo& InfoOf(Enum which) { return kEnums[static_cast<std::size_t>(which)]; }

std::span<const Attribute> AttributesOf(Action action) {
  switch (action) {
#define CURFEW_ACTION(name, word, asked, granted) \
  case Action::name:                              \
    return kTable<Action::name>;
#include "compiler/schema/actions.def"
#undef CURFEW_ACTION
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

const Attribute* FindAttribute(Action action, std::string_view path) {
  for (const Attribute& attribute : AttributesOf(action)) {
    const bool of_sandbox =
        attribute.slot >= slot::FirstOfSandbox && attribute.slot < slot::SharedCount;
    if (action == Action::Create && of_sandbox) continue;
    if (attribute.path == path) return &attribute;
  }
  return nullptr;
}

Slot DeclaredSlot(Action action, std::size_t n) {
  const std::size_t place = AttributesOf(action).size() + n;
  CURFEW_CHECK(place < limits::AttributesPerActionMax,
               "the checker bounds the declared attributes");
  return static_cast<Slot>(place);
}

bool LastsWithSandbox(Action action, Slot slot) {
  if (action == Action::Create) return false;
  switch (slot) {
    case slot::TaskId:
    case slot::TaskOwner:
    case slot::TaskTeam:
    case slot::TaskKind:
    case slot::TaskTrigger:
    case slot::SandboxId:
    case slot::SandboxClass:
    case slot::SandboxImage:
    case slot::SandboxIsolation:
    case slot::SandboxCreator:
      return true;
    default:
      // What a set declares is of the task.
      return slot >= DeclaredSlot(action, 0);
  }
}

}  // namespace curfew::schema
