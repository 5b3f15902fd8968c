// The first pass: what a set declares, under which name. Names are unique over the set; what the
// second pass looks up, it finds here.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::check {

using syntax::Span;

// What an unknown name is most likely meant to be.
struct Guess {
  std::string_view name;  // of a candidate; empty where none is near
  // No other candidate is as near, and most letters are the same: a tool may write it.
  bool is_sure = false;
};
Guess Nearest(std::string_view name, std::span<const std::string_view> candidates);
// Of dotted paths: those that differ in one segment, which alone is measured.
Guess NearestPath(std::string_view path, std::span<const std::string_view> candidates);

// "; did you mean `x`?" or nothing; what the messages of unknown names end in.
std::string DidYouMean(const Guess& guess);
// The fix that goes with it, where the guess is sure.
void OfferGuess(diagnostics::Draft draft, Span span, const Guess& guess);

// Words that ids of built-in reasons use (language.md section 5.7).
[[nodiscard]] bool IsFreeClassName(std::string_view name);
[[nodiscard]] bool IsFreeImageName(std::string_view name);
[[nodiscard]] bool IsFreeLabel(std::string_view name);

inline constexpr std::size_t ClassesMax = 10'000;

// Names become parts of ids, and ids travel.
inline constexpr std::size_t NameBytesMax = 64;

struct Names {
  // Where each declared name of the set stands.
  std::map<std::string, Span, std::less<>> declared;
  std::map<std::string, model::ImageId, std::less<>> images;
  std::map<std::string, model::SecretId, std::less<>> secrets;
  std::map<std::string, model::ClassId, std::less<>> classes;
  std::map<std::string, const syntax::ListDecl*, std::less<>> lists;
  // The declaration of each class of the model, by ClassId.
  std::vector<const syntax::SandboxDecl*> class_declarations;
  std::vector<const syntax::SandboxDecl*> floors;  // `every sandbox`
  std::vector<const syntax::Rule*> rules;          // of the whole set
  std::vector<const syntax::TestDecl*> tests;
  // Declared with a mistake, and so neither known nor misspelt: paths of attributes, and names of
  // secrets of which nobody can say where they go.
  std::set<std::string, std::less<>> unread_attributes;
  std::set<std::string, std::less<>> unread_secrets;
  bool has_too_many_classes = false;  // which was reported; nothing else is worth a look

  [[nodiscard]] std::vector<std::string_view> ImageNames() const;
};

// Fills language, packages, enums, declared attributes, images, and the names of classes. What is
// not supported yet is refused here.
Names CollectNames(std::span<const syntax::Ast* const> files, model::PolicyModel& model,
                   diagnostics::Sink& sink);

}  // namespace curfew::check
