#include "compiler/syntax/ast.h"

#include "compiler/base/check.h"

namespace curfew::syntax {

std::string_view NameOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::String:
      return "string";
    case ExprKind::Quantity:
      return "quantity";
    case ExprKind::Time:
      return "time";
    case ExprKind::Digest:
      return "digest";
    case ExprKind::True:
      return "true";
    case ExprKind::False:
      return "false";
    case ExprKind::Name:
      return "name";
    case ExprKind::Path:
      return "path";
    case ExprKind::Has:
      return "has";
    case ExprKind::List:
      return "list";
    case ExprKind::Count:
      return "count";
    case ExprKind::Not:
      return "not";
    case ExprKind::And:
      return "and";
    case ExprKind::Or:
      return "or";
    case ExprKind::Equal:
      return "==";
    case ExprKind::NotEqual:
      return "!=";
    case ExprKind::Less:
      return "<";
    case ExprKind::LessEqual:
      return "<=";
    case ExprKind::Greater:
      return ">";
    case ExprKind::GreaterEqual:
      return ">=";
    case ExprKind::In:
      return "in";
    case ExprKind::NotIn:
      return "not in";
    case ExprKind::Matches:
      return "matches";
    case ExprKind::Starts:
      return "starts";
    case ExprKind::SubsetOf:
      return "subset of";
    case ExprKind::Intersects:
      return "intersects";
    case ExprKind::Plus:
      return "+";
    case ExprKind::Minus:
      return "-";
    case ExprKind::Any:
      return "any";
    case ExprKind::All:
      return "all";
    case ExprKind::None:
      return "none";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string_view NameOf(Action action) {
  switch (action) {
    case Action::Create:
      return "create";
    case Action::Resume:
      return "resume";
    case Action::Exec:
      return "exec";
    case Action::Egress:
      return "egress";
    case Action::Expose:
      return "expose";
    case Action::Snapshot:
      return "snapshot";
    case Action::Import:
      return "import";
    case Action::Export:
      return "export";
    case Action::Extend:
      return "extend";
    case Action::Observe:
      return "observe";
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

std::string_view NameOf(ListDecl::Kind kind) {
  switch (kind) {
    case ListDecl::Kind::Hosts:
      return "hosts";
    case ListDecl::Kind::Addresses:
      return "addresses";
    case ListDecl::Kind::Digests:
      return "digests";
    case ListDecl::Kind::Strings:
      return "strings";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string_view NameOf(KeepItem::Kind kind) {
  switch (kind) {
    case KeepItem::Kind::Reason:
      return "reason";
    case KeepItem::Kind::Owner:
      return "owner";
    case KeepItem::Kind::Expires:
      return "expires";
    case KeepItem::Kind::Size:
      return "size";
    case KeepItem::Kind::Keep:
      return "keep";
    case KeepItem::Kind::Branches:
      return "branches";
    case KeepItem::Kind::From:
      return "from";
    case KeepItem::Kind::Renews:
      return "renews";
    case KeepItem::Kind::SharedByClass:
      return "shared by class";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::string_view NameOf(PlaneKind kind) {
  switch (kind) {
    case PlaneKind::Image:
      return "image";
    case PlaneKind::Identity:
      return "identity";
    case PlaneKind::Filesystem:
      return "filesystem";
    case PlaneKind::Network:
      return "network";
    case PlaneKind::Lifetime:
      return "lifetime";
    case PlaneKind::Evidence:
      return "evidence";
  }
  CURFEW_UNREACHABLE("the switch names every plane");
}

}  // namespace curfew::syntax
