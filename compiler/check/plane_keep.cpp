// What outlives its task, in the plane `filesystem`: volumes and snapshots. Each says why, whose it
// is and when it ends (language.md section 7).
#include "compiler/base/check.h"
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/values/principal.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using syntax::KeepItem;

bool IsOfPersist(KeepItem::Kind kind) {
  return kind == KeepItem::Kind::Reason || kind == KeepItem::Kind::Owner ||
         kind == KeepItem::Kind::Expires || kind == KeepItem::Kind::SharedByClass;
}
bool IsOfSnapshot(KeepItem::Kind kind) {
  return kind == KeepItem::Kind::Expires || !IsOfPersist(kind);
}

// The items of one block, each at most once; what belongs into the other block, or stands twice,
// is reported and left out.
class Items {
 public:
  Items(Context& context, const std::vector<KeepItem>& items, bool of_persist) {
    for (const KeepItem& item : items) {
      if (of_persist ? !IsOfPersist(item.kind) : !IsOfSnapshot(item.kind)) {
        context.sink.Report(item.span, diag::MisplacedStatement, NameOf(item.kind),
                            of_persist ? "`snapshot`" : "`persist`",
                            of_persist ? "`persist`" : "`snapshot`");
        continue;
      }
      const KeepItem* first = Find(item.kind);
      if (first != nullptr) {
        context.sink.Report(item.span, diag::StatedTwice, NameOf(item.kind))
            .Note(first->span, diag::FirstHere);
        continue;
      }
      items_.push_back(&item);
    }
  }
  [[nodiscard]] const KeepItem* Find(KeepItem::Kind kind) const {
    const auto found = std::find_if(items_.begin(), items_.end(),
                                    [kind](const KeepItem* item) { return item->kind == kind; });
    return found == items_.end() ? nullptr : *found;
  }

 private:
  std::vector<const KeepItem*> items_;
};

constexpr std::string_view kSaysAll =
    "what outlives its task says why, whose it is and when it ends";

}  // namespace

// ---- persist ------------------------------------------------------------------------------------

void PlaneChecker::operator()(const syntax::PersistStatement& statement) {
  model::FilesystemPlane& plane = class_.filesystem;
  if (statement.none) {
    if (!Once("persist none", statement.span)) return;
    if (!plane.persists.empty()) {
      context_.sink.Report(statement.span, diag::NoneBesideGrant, "persist");
    }
    plane.persist_none = statement.span;
    return;
  }
  if (plane.persist_none) {
    context_.sink.Report(*plane.persist_none, diag::NoneBesideGrant, "persist");
  }
  if (!statement.name || !statement.path || !statement.size) return;  // reported by the parser
  const std::string& name = statement.name->text;
  const std::string keyword = "persist " + name;
  if (name.size() > NameBytesMax) {
    context_.sink.Report(statement.name->span, diag::NameTooLong,
                         static_cast<std::int64_t>(NameBytesMax));
    return;
  }
  if (!Once(keyword, statement.span)) return;
  const Items items(context_, statement.items, true);
  const auto needs = [&](KeepItem::Kind kind) {
    const KeepItem* item = items.Find(kind);
    if (item == nullptr && !context_.partial) {
      context_.sink.Report(statement.name->span, diag::MissingItem, keyword, NameOf(kind),
                           kSaysAll);
    }
    return item;
  };
  model::Persist persist{IdOf("filesystem.persist." + name), {}, statement.span};
  persist.volume.name = name;
  persist.volume.shared_by_class = items.Find(KeepItem::Kind::SharedByClass) != nullptr;
  bool whole = true;
  if (const KeepItem* reason = needs(KeepItem::Kind::Reason); reason != nullptr) {
    persist.volume.reason = reason->text->text;
    if (persist.volume.reason.empty()) {
      context_.sink.Report(reason->text->span, diag::WrongLiteral, "a reason",
                           "it cannot be empty");
    }
  } else {
    whole = false;
  }
  if (const KeepItem* owner = needs(KeepItem::Kind::Owner); owner != nullptr) {
    auto principal = values::ParsePrincipal(owner->text->text);
    if (principal) {
      persist.volume.owner = *std::move(principal);
    } else {
      ReportWrong(context_, owner->text->span, "a principal", principal.error(), Quoted);
      whole = false;
    }
  } else {
    whole = false;
  }
  if (const KeepItem* expires = needs(KeepItem::Kind::Expires); expires != nullptr) {
    if (!expires->bound->value || expires->bound->at_most) {
      context_.sink.Report(expires->span, diag::BoundForm, "expires", "one time", "expires 7d");
      whole = false;
    } else if (const auto ms = ReadPositive(*expires->bound->value, Unit::Duration, "expires")) {
      persist.volume.expires_ms = *ms;
    } else {
      whole = false;
    }
  } else {
    whole = false;
  }
  const auto bytes = ReadPositive(*statement.size, Unit::Size, keyword);
  auto path = ReadMountPath(*statement.path);
  if (!whole || !bytes || !path) return;
  persist.volume.path = *std::move(path);
  persist.volume.bytes = *bytes;
  plane.persists.push_back(std::move(persist));
}

// ---- snapshot -----------------------------------------------------------------------------------

// A limit of something that nobody wishes for has no default.
std::optional<model::Bound> PlaneChecker::ReadMaximum(const syntax::Bound& bound, Unit unit,
                                                      std::string_view keyword) {
  if (bound.value || !bound.at_most) {
    const std::string example = fmt::format("{} at most {}", keyword, bound.value->text);
    auto draft = context_.sink.Report(bound.span, diag::BoundForm, keyword, "a maximum", example);
    if (!bound.at_most) draft.Fix(bound.span, "at most " + bound.value->text);
    return std::nullopt;
  }
  return ReadBound(bound, unit, keyword, fmt::format("filesystem.snapshot.{}", keyword));
}

void PlaneChecker::operator()(const syntax::SnapshotStatement& statement) {
  model::FilesystemPlane& plane = class_.filesystem;
  if (statement.none) {
    if (!Once("snapshot none", statement.span)) return;
    if (!plane.snapshots.empty()) {
      context_.sink.Report(statement.span, diag::NoneBesideGrant, "snapshot");
    }
    plane.snapshot_none = statement.span;
    return;
  }
  if (plane.snapshot_none) {
    context_.sink.Report(*plane.snapshot_none, diag::NoneBesideGrant, "snapshot");
  }
  if (!statement.kind) return;  // reported by the parser
  constexpr std::string_view kKinds[] = {"disk", "memory"};
  const auto* kind = std::find(std::begin(kKinds), std::end(kKinds), statement.kind->text);
  if (kind == std::end(kKinds)) {
    return ReportUnknown(context_, "kind of snapshot", *statement.kind, kKinds);
  }
  const std::string keyword = fmt::format("snapshot {}", *kind);
  if (!Once(keyword, statement.span)) return;
  const Items items(context_, statement.items, false);
  model::SnapshotRule rule;
  rule.id = IdOf(fmt::format("filesystem.snapshot.{}", *kind));
  rule.kind = static_cast<module::SnapshotKind>(kind - std::begin(kKinds));
  rule.renews = items.Find(KeepItem::Kind::Renews) != nullptr;
  rule.span = statement.span;
  bool whole = true;
  const KeepItem* expires = items.Find(KeepItem::Kind::Expires);
  if (expires == nullptr || !expires->bound->at_most) {
    whole = false;
    if (!context_.partial) {
      context_.sink.Report(statement.kind->span, diag::MissingItem, keyword, "expires … at most …",
                           "what outlives its task has an end");
    }
  } else if (auto bound = ReadBound(*expires->bound, Unit::Duration, "expires",
                                    "filesystem.snapshot.expires")) {
    rule.expires = *std::move(bound);
  } else {
    whole = false;
  }
  if (const KeepItem* size = items.Find(KeepItem::Kind::Size); size != nullptr) {
    rule.size = ReadMaximum(*size->bound, Unit::Size, "size");
    whole = whole && rule.size;
  }
  if (const KeepItem* branches = items.Find(KeepItem::Kind::Branches); branches != nullptr) {
    rule.branches = ReadMaximum(*branches->bound, Unit::Count, "branches");
    whole = whole && rule.branches;
  }
  if (const KeepItem* keep = items.Find(KeepItem::Kind::Keep); keep != nullptr) {
    const auto most = ReadPositive(*keep->bound->value, Unit::Count, "keep");
    whole = whole && most;
    if (most) {
      rule.keep = model::Bound{IdOf("filesystem.snapshot.keep"), {std::nullopt, *most}, keep->span};
    }
  }
  if (const KeepItem* from = items.Find(KeepItem::Kind::From); from != nullptr) {
    for (const syntax::Name& name : from->classes) {
      const auto found = context_.names.classes.find(name.text);
      if (found != context_.names.classes.end()) {
        rule.from.push_back(found->second);
      } else if (!context_.partial) {
        std::vector<std::string_view> classes;
        for (const auto& [known, id] : context_.names.classes) classes.push_back(known);
        ReportUnknown(context_, "class", name, classes);
      }
    }
    std::sort(rule.from.begin(), rule.from.end());
    rule.from.erase(std::unique(rule.from.begin(), rule.from.end()), rule.from.end());
  }
  if (whole) plane.snapshots.push_back(std::move(rule));
}

}  // namespace curfew::check
