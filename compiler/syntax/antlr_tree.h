// From ANTLR's tree of one piece to our structs, without ANTLR's header. What the grammar lets
// through and the language does not mean is refused here, once a piece.
#pragma once

#include "compiler/syntax/antlr_engine.h"
#include "compiler/syntax/ast.h"

namespace curfew::syntax {

// Reads the tree of one piece; a new reader for each. `tokens` and `sink` outlive it. Heads yield
// their declaration without its block; spans of those end with the head.
class TreeReader {
 public:
  using Tree = antlr4::ParserRuleContext;

  TreeReader(const TokenSequence& tokens, diagnostics::Sink& sink)
      : tokens_(&tokens), sink_(&sink) {}

  Declaration ReadHeader(Tree& tree);
  AttributesDecl ReadAttributesHead(Tree& tree);
  AttributeDecl ReadAttribute(Tree& tree);
  ImageDecl ReadImageHead(Tree& tree);
  void ReadImageField(Tree& tree, ImageDecl& image);
  SecretDecl ReadSecretHead(Tree& tree);
  void ReadSecretField(Tree& tree, SecretDecl& secret);
  ListDecl ReadList(Tree& tree);
  SandboxDecl ReadSandboxHead(Tree& tree);
  Plane ReadPlaneHead(Tree& tree);
  Statement ReadImageStatement(Tree& tree);
  Statement ReadIdentityStatement(Tree& tree);
  Statement ReadFilesystemStatement(Tree& tree);
  Statement ReadKeepHead(Tree& tree);
  KeepItem ReadKeepItem(Tree& tree);
  Statement ReadNetworkStatement(Tree& tree);
  Statement ReadLifetimeStatement(Tree& tree);
  Statement ReadEvidenceStatement(Tree& tree);
  Rule ReadRule(Tree& tree);
  TestDecl ReadTestHead(Tree& tree);
  TestItem ReadTestItem(Tree& tree);

 private:
  friend class TreeReading;
  const TokenSequence* tokens_;
  diagnostics::Sink* sink_;
};

}  // namespace curfew::syntax
