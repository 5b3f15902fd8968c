// Typed expressions: nodes in one vector, each with its type and span, linked by 32-bit ids; a node
// stands behind its operands. No expression can fail: what could (an absent fact, a wrong unit) was
// excluded when it was checked.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/schema/schema.h"
#include "compiler/source/source.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path.h"

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace curfew::model {

using source::Span;

enum class ExprId : std::uint32_t {};
inline constexpr ExprId NoExpr{0xffffffff};
enum class ConstantId : std::uint32_t {};
enum class AttributeId : std::uint32_t {};
enum class EnumId : std::uint32_t {};  // the schema's enumerations have their schema::Enum as id

struct EnumType {
  std::string name;  // the schema's name, or the path of the attribute that declares it
  bool ordered = false;
  std::vector<std::string> values;
};

struct Type {
  schema::TypeKind kind = schema::TypeKind::Bool;
  schema::Collection collection = schema::Collection::One;
  bool optional = false;
  EnumId enumeration{0};            // where kind is Enum
  std::uint32_t elements_max = 64;  // of a set or list
  friend bool operator==(const Type&, const Type&) = default;
};

// A canonical value. Which member follows from the type's kind:
//   Bool, Int, Duration (ms), Size (bytes), Time (ms since 1970), Enum (ordinal): int64
//   Text, Principal, Host, UrlPath, FilePath: string      Digest, Ip, Cidr: their own
// A set or list is a vector of such; a set is sorted, without doubles.
using Scalar = std::variant<std::int64_t, std::string, Digest, values::Address, values::Cidr>;
struct Constant {
  Type type;
  std::variant<Scalar, std::vector<Scalar>> value;
  friend bool operator==(const Constant&, const Constant&) = default;
};

// The right side of `matches`.
using Pattern = std::variant<values::TextGlob, values::HostPattern, values::PathGlob>;

// An attribute that some expression reads. Its slot depends on the action.
struct AttributeUse {
  std::string path;
  Type type;
  bool declared = false;
  std::uint32_t declared_index = 0;  // into PolicyModel::declared
};

enum class ExprKind : std::uint8_t {
  Constant,   // constant
  Attribute,  // attribute; where it is optional, only reached where `has` it holds
  Variable,   // of the quantifier around it (they do not nest)
  Has,        // attribute
  Not,        // 1 operand
  And,        // 2 or more
  Or,         // 2 or more
  Equal,      // 2, of one type (sets compare as sets)
  NotEqual,
  Less,  // 2: int, duration, size, time, string (byte by byte), or an ordered enum
  LessEqual,
  Greater,
  GreaterEqual,
  In,          // element in set or list; ip in cidr, ip in set of cidr (within any of them)
  Matches,     // 1: text, host, file_path or url_path against `pattern`
  Starts,      // list starts with constant list
  SubsetOf,    // set, set
  Intersects,  // set, set
  Count,       // of a set or list: int
  Plus,        // 2, of like units; time + duration
  Minus,       // time - time is a duration
  AnyOf,       // set, condition on Variable
  AllOf,
  NoneOf
};
std::string_view NameOf(ExprKind kind);

struct Expr {
  ExprKind kind = ExprKind::Constant;
  Type type;
  std::uint32_t first_operand = 0;  // into Expressions::operands
  std::uint32_t operand_count = 0;
  // The constant, attribute or pattern, by kind.
  std::uint32_t leaf = 0;
  Span span;
};

struct Expressions {
  std::vector<Expr> nodes;
  std::vector<ExprId> operands;
  std::vector<Constant> constants;
  std::vector<AttributeUse> attributes;
  std::vector<Pattern> patterns;

  [[nodiscard]] const Expr& at(ExprId id) const { return nodes[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::span<const ExprId> OperandsOf(ExprId id) const {
    const Expr& expr = at(id);
    return std::span(operands).subspan(expr.first_operand, expr.operand_count);
  }
  [[nodiscard]] const Constant& ConstantOf(ExprId id) const { return constants[at(id).leaf]; }
  [[nodiscard]] const AttributeUse& AttributeOf(ExprId id) const { return attributes[at(id).leaf]; }
  [[nodiscard]] const Pattern& PatternOf(ExprId id) const { return patterns[at(id).leaf]; }

  ExprId Add(ExprKind kind, const Type& type, Span span, std::span<const ExprId> of,
             std::uint32_t leaf = 0);
};

// Where a request of `action` carries the attribute. The action has it: the checker saw to that.
schema::Slot SlotOf(const AttributeUse& attribute, schema::Action action);

}  // namespace curfew::model
