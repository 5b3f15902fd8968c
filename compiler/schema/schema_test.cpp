#include "compiler/schema/schema.h"

#include "compiler/base/limits.h"

#include <catch2/catch.hpp>

namespace curfew::schema {
namespace {

TEST_CASE("slot i of an action stands at index i, and shared facts keep their slots") {
  for (const ActionInfo& info : Actions()) {
    const auto attributes = AttributesOf(info.action);
    CHECK(attributes.size() < limits::AttributesPerActionMax / 2);
    for (std::size_t i = 0; i < attributes.size(); ++i) CHECK(attributes[i].slot == i);
    CHECK(attributes[slot::CallerId].path == "caller.id");
    CHECK(ActionOf(info.word) == info.action);
  }
  CHECK(AttributesOf(Action::Egress)[slot::EgressHost].path == "egress.host");
  CHECK(AttributesOf(Action::Resume)[slot::ResumeSnapshotAge].path == "snapshot.age");
}

TEST_CASE("a path means what its action gives it") {
  CHECK(FindAttribute(Action::Snapshot, "snapshot.owner")->type.optional);
  CHECK_FALSE(FindAttribute(Action::Resume, "snapshot.owner")->type.optional);
  CHECK(FindAttribute(Action::Create, "sandbox.age") == nullptr);
  CHECK(FindAttribute(Action::Exec, "sandbox.age")->type.kind == TypeKind::Duration);
  CHECK(FindAttribute(Action::Exec, "egress.host") == nullptr);
}

TEST_CASE("types have one word each") {
  CHECK(TypeKindOf("url_path") == TypeKind::UrlPath);
  CHECK_FALSE(TypeKindOf("enum"));
  CHECK(InfoOf(Enum::Weekday).values[6] == "sun");
}

}  // namespace
}  // namespace curfew::schema
