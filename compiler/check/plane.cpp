#include "compiler/check/plane.h"

#include "compiler/base/check.h"
#include "compiler/check/floor.h"
#include "compiler/check/literal.h"
#include "compiler/values/quantity.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {

bool PlaneChecker::Once(std::string_view keyword, Span span) {
  const auto [place, fresh] = stated_.emplace(std::string(keyword), span);
  if (!fresh) {
    context_.sink.Report(span, diag::StatedTwice, keyword).Note(place->second, diag::FirstHere);
  }
  return fresh;
}

std::string PlaneChecker::IdOf(std::string_view path) const {
  return fmt::format("{}.{}", class_.name, path);
}

void PlaneChecker::Check(const syntax::Plane& plane) {
  // Planes are told apart from statements by their braces.
  Once(fmt::format("{} {{ }}", syntax::NameOf(plane.kind)), plane.keyword);
  for (const syntax::Statement& statement : plane.statements) std::visit(*this, statement);
}

void PlaneChecker::CheckOfFloor(const syntax::Plane& plane) {
  syntax::Plane standing = plane;
  std::erase_if(standing.statements, [this](const syntax::Statement& statement) {
    if (!AllowsSomething(statement)) return false;
    ReportInFloor(context_, statement);
    return true;
  });
  Check(standing);
}

void PlaneChecker::Finish() {
  FinishNetwork();
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  std::sort(class_.image.allow.begin(), class_.image.allow.end(), by_id);
  std::sort(class_.filesystem.persists.begin(), class_.filesystem.persists.end(), by_id);
  std::sort(class_.filesystem.snapshots.begin(), class_.filesystem.snapshots.end(), by_id);
  std::sort(class_.filesystem.imports.begin(), class_.filesystem.imports.end(), by_id);
  std::sort(class_.filesystem.exports.begin(), class_.filesystem.exports.end(), by_id);
  std::sort(class_.network.rules.begin(), class_.network.rules.end(), by_id);
  std::sort(class_.network.trials.begin(), class_.network.trials.end(), by_id);
  FinishEvidence();
  std::sort(class_.filesystem.scratch.begin(), class_.filesystem.scratch.end(),
            [](const model::Scratch& a, const model::Scratch& b) { return a.path < b.path; });
}

std::optional<std::int64_t> PlaneChecker::ReadPositive(const syntax::Quantity& quantity, Unit unit,
                                                       std::string_view keyword) {
  std::optional<std::int64_t> value;
  switch (unit) {
    case Unit::Count:
      value = ReadInteger(context_, quantity);
      break;
    case Unit::Size:
      value = ReadSize(context_, quantity);
      break;
    case Unit::Duration:
      value = ReadDuration(context_, quantity);
      break;
  }
  if (!IsPositive(context_, value, quantity.span, keyword)) return std::nullopt;
  return value;
}

std::optional<model::Bound> PlaneChecker::ReadBound(const syntax::Bound& bound, Unit unit,
                                                    std::string_view keyword,
                                                    std::string_view path) {
  std::optional<std::int64_t> standard;
  std::optional<std::int64_t> most;
  bool whole = true;
  if (bound.value) {
    standard = ReadPositive(*bound.value, unit, keyword);
    whole = standard.has_value();
  }
  if (bound.at_most) {
    most = ReadPositive(*bound.at_most, unit, keyword);
    whole = whole && most;
  }
  if (!whole || (!standard && !most)) return std::nullopt;
  model::Bound read;
  read.id = IdOf(path);
  read.span = bound.span;
  read.value.standard = standard;
  read.value.most = most ? *most : *standard;
  if (standard && *standard > read.value.most) {
    context_.sink.Report(bound.span, diag::DefaultOverMaximum, bound.value->text,
                         bound.at_most->text);
    return std::nullopt;
  }
  return read;
}

}  // namespace curfew::check
