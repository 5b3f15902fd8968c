// The attributes that a rule can read: the schema's, and those that a set declares. Made from
// trees, so that it is there for a set with errors too.
#pragma once

#include "compiler/schema/schema.h"
#include "compiler/syntax/ast.h"

#include <bitset>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::lsp {

using Actions = std::bitset<schema::ActionCount>;

// What a path means in the requests of some actions. A path of several types has several.
struct Attribute {
  std::string path;
  std::string type;  // as policy text spells it: `set of principal`, `low < medium < high`
  schema::TypeKind kind = schema::TypeKind::Text;
  std::vector<std::string> values;  // of an enum, in order
  std::string origin;               // "verified by the runtime"
  std::string doc;
  Actions actions;
  bool declared = false;
};

class Vocabulary {
 public:
  explicit Vocabulary(std::span<const syntax::Ast> files);

  [[nodiscard]] std::vector<const Attribute*> Find(std::string_view path) const;
  // What all of `actions` have, or, where there are none, what any has.
  [[nodiscard]] std::vector<const Attribute*> ReadableBy(Actions actions) const;

 private:
  void AddBuiltin(schema::Action action, const schema::Attribute& attribute);
  void AddDeclared(const std::string& subject, const syntax::AttributeDecl& attribute);

  std::vector<Attribute> attributes_;
};

// "every action", "`create` and `resume`".
std::string Describe(Actions actions);

}  // namespace curfew::lsp
