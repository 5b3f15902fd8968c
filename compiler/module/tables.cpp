#include "compiler/module/tables.h"

namespace curfew::module {

ValueClass ClassOf(schema::TypeKind kind, schema::Collection collection) {
  using schema::TypeKind;
  bool is_integer = false;
  switch (kind) {
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
    case TypeKind::Enum:
      is_integer = true;
      break;
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Ip:
    case TypeKind::Cidr:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
    case TypeKind::Digest:
      break;
  }
  if (collection == schema::Collection::One) {
    return is_integer ? ValueClass::Integer : ValueClass::Text;
  }
  return is_integer ? ValueClass::IntegerItems : ValueClass::TextItems;
}

}  // namespace curfew::module
