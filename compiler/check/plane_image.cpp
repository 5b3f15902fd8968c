// The plane `image`: what runs.
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/values/path.h"

#include <algorithm>

namespace curfew::check {

void PlaneChecker::operator()(const syntax::AllowImages& statement) {
  if (!Once("image allow", statement.span)) return;
  class_.image.allow_none = statement.none;
  for (const syntax::Name& name : statement.images) {
    const auto found = context_.names.images.find(name.text);
    if (found == context_.names.images.end()) {
      if (!context_.partial)
        ReportUnknown(context_, "image", name, [&] { return context_.names.ImageNames(); });
      continue;
    }
    const auto& allow = class_.image.allow;
    const bool again = std::any_of(allow.begin(), allow.end(), [&](const model::ImageGrant& grant) {
      return grant.image == found->second;
    });
    if (again) {
      context_.sink.Report(name.span, diag::StatedTwice, name.text);
      continue;
    }
    class_.image.allow.push_back({IdOf("image." + name.text), found->second, name.span});
  }
}

void PlaneChecker::operator()(const syntax::ExecStatement& statement) {
  if (!Once("exec", statement.span)) return;
  model::ExecGrant grant;
  grant.id = IdOf("image.exec");
  grant.span = statement.span;
  switch (statement.kind) {
    case syntax::ExecStatement::Kind::Any:
      grant.reach = model::ExecGrant::Reach::Any;
      break;
    case syntax::ExecStatement::Kind::None:
      grant.reach = model::ExecGrant::Reach::None;
      break;
    case syntax::ExecStatement::Kind::Patterns:
      grant.reach = model::ExecGrant::Reach::Patterns;
      for (const syntax::String& text : statement.patterns) {
        auto glob = values::ParseFileGlob(text.text);
        if (glob) {
          grant.patterns.push_back(*std::move(glob));
        } else {
          ReportWrong(context_, text.span, "a path pattern", glob.error(), Quoted);
        }
      }
      std::sort(grant.patterns.begin(), grant.patterns.end());
      break;
  }
  class_.image.exec = std::move(grant);
}

void PlaneChecker::operator()(const syntax::SizeStatement& statement) {
  if (!Once("size", statement.span)) return;
  constexpr std::string_view kItems[] = {"cpu", "memory", "disk"};
  for (const syntax::SizeItem& item : statement.items) {
    const std::string& what = item.what.text;
    std::optional<model::Bound>* place = nullptr;
    if (what == "cpu") place = &class_.image.cpu;
    if (what == "memory") place = &class_.image.memory;
    if (what == "disk") place = &class_.image.disk;
    if (place == nullptr) {
      ReportUnknown(context_, "size", item.what, kItems);
      continue;
    }
    if (!Once("size " + what, item.span)) continue;
    *place =
        ReadBound(item.bound, what == "cpu" ? Unit::Count : Unit::Size, what, "image.size." + what);
  }
}

void PlaneChecker::operator()(const syntax::IsolationStatement& statement) {
  if (!Once("isolation", statement.span)) return;
  constexpr std::string_view kLevels[] = {"kvm", "any"};
  if (statement.level.text == "kvm") {
    class_.image.isolation = module::Isolation::Kvm;
  } else if (statement.level.text == "any") {
    class_.image.isolation = module::Isolation::Any;
  } else {
    ReportUnknown(context_, "isolation", statement.level, kLevels);
  }
}

}  // namespace curfew::check
