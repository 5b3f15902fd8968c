#include "compiler/module/request_axioms.h"

#include "compiler/base/text.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/variable.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace curfew::module {
namespace {

using schema::Action;
using schema::Axiom;
using schema::Slot;
using schema::TypeKind;

constexpr std::string_view kGroup = "group:";

std::string NumberText(TypeKind kind, std::int64_t number) {
  if (kind == TypeKind::Duration) return values::DurationText(number);
  if (kind == TypeKind::Size) return values::SizeText(number);
  return std::to_string(number);
}

// Nothing where the axiom holds.
std::optional<std::string> Broken(const Request& request, const Axiom& axiom) {
  const auto attributes = schema::AttributesOf(request.action());
  const TypeKind kind = attributes[axiom.slot].type.kind;
  const Value& value = request.value(axiom.slot);
  switch (axiom.kind) {
    case Axiom::Kind::AtLeast:
    case Axiom::Kind::AtMost: {
      const bool holds = axiom.kind == Axiom::Kind::AtLeast ? value.integer >= axiom.number
                                                            : value.integer <= axiom.number;
      if (holds) return std::nullopt;
      return fmt::format("{} is out of range; it must be {}", NumberText(kind, value.integer),
                         RangeText(axiom, kind));
    }
    case Axiom::Kind::NotBelow:
      if (!request.is_present(axiom.other) || value.integer >= request.value(axiom.other).integer) {
        return std::nullopt;
      }
      return fmt::format("{} is less than `{}`, {}, which it includes",
                         NumberText(kind, value.integer), attributes[axiom.other].path,
                         NumberText(kind, request.value(axiom.other).integer));
    case Axiom::Kind::NoGroup:
      if (!value.text().starts_with(kGroup)) return std::nullopt;
      return fmt::format("`{}` is a group; whoever acts is one user, service or agent",
                         Printable(value.text(), 60));
    case Axiom::Kind::OnlyGroups:
      for (const Value& element : value.elements()) {
        if (element.text().starts_with(kGroup)) continue;
        return fmt::format("`{}` is no group; every element is one, as in \"group:platform\"",
                           Printable(element.text(), 60));
      }
      return std::nullopt;
    case Axiom::Kind::NoNul:
      for (const Value& element : value.elements()) {
        if (element.text().find('\0') != std::string_view::npos) {
          return "a NUL byte, which ends a text for the kernel";
        }
      }
      return std::nullopt;
    case Axiom::Kind::FreeVariables:
      for (const Value& element : value.elements()) {
        const std::string_view name = element.text();
        if (!values::IsVariableName(name)) {
          return fmt::format("`{}` is no name of an environment variable", Printable(name, 60));
        }
        if (const std::string_view entry = values::ReservedBy(name); !entry.empty()) {
          return fmt::format(
              "`{}` is reserved (`{}`); it would change what the judged program does", name, entry);
        }
      }
      return std::nullopt;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

// An HTTP request has one of the methods that pass; a byte stream has neither method nor path.
void CheckMethod(const Request& request, std::vector<RequestProblem>& problems) {
  namespace slot = schema::slot;
  if (request.is_present(slot::EgressMethod)) {
    const auto method = values::ParseMethod(request.value(slot::EgressMethod).text());
    if (!method) problems.push_back({"/egress/method", method.error().message});
  }
  if (!request.is_present(slot::EgressScheme)) return;
  const auto words = schema::InfoOf(schema::Enum::Scheme).values;
  const auto scheme = static_cast<std::size_t>(request.value(slot::EgressScheme).integer);
  if (scheme >= words.size() || words[scheme] != "tcp") return;
  for (const Slot of_http :
       {slot::EgressMethod, slot::EgressPath, slot::EgressQuery, slot::EgressUpgrade}) {
    if (!request.is_present(of_http)) continue;
    const std::string_view path = schema::AttributesOf(Action::Egress)[of_http].path;
    problems.push_back({PointerOf(path), fmt::format("a byte stream (`tcp`) has no {}",
                                                     path.substr(path.find('.') + 1))});
  }
}

}  // namespace

std::vector<RequestProblem> BrokenAxioms(const Request& request) {
  std::vector<RequestProblem> problems;
  for (const Axiom& axiom : schema::AxiomsOf(request.action())) {
    if (!request.is_present(axiom.slot)) continue;
    if (std::optional<std::string> broken = Broken(request, axiom)) {
      const std::string_view path = schema::AttributesOf(request.action())[axiom.slot].path;
      problems.push_back({PointerOf(path), *std::move(broken)});
    }
  }
  if (request.action() == Action::Egress) CheckMethod(request, problems);
  return problems;
}

std::string RangeText(const Axiom& axiom, TypeKind kind) {
  const bool measures = kind == TypeKind::Duration || kind == TypeKind::Size;
  if (axiom.kind == Axiom::Kind::AtMost) {
    return "at most " + NumberText(kind, axiom.number);
  }
  if (measures && axiom.number == 1) return "more than nothing";
  return "at least " + NumberText(kind, axiom.number);
}

std::string PointerOf(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

}  // namespace curfew::module
