// The plane `filesystem`: what a task may write to, and what may leave with the result.
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/rule.h"
#include "compiler/model/print.h"
#include "compiler/values/path.h"

#include <algorithm>

namespace curfew::check {
namespace {

// Folders that the guest's own system lives in: nothing is mounted over them or into them.
constexpr std::string_view kSystemFolders[] = {"/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib64",
                                               "/proc", "/run",  "/sbin", "/sys", "/usr"};

bool IsSystemFolder(std::string_view path) {
  if (path == "/") return true;
  return std::any_of(
      std::begin(kSystemFolders), std::end(kSystemFolders), [&](std::string_view folder) {
        return path == folder ||
               (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
      });
}

}  // namespace

void PlaneChecker::operator()(const syntax::ScratchStatement& statement) {
  const auto bytes = ReadPositive(statement.size, Unit::Size, "scratch");
  auto path = values::ParseFilePath(statement.path.text);
  if (!path) {
    return ReportWrong(context_, statement.path.span, "a file path", path.error(), Quoted);
  }
  if (IsSystemFolder(*path)) {
    context_.sink.Report(statement.path.span, diag::ReservedFolder, *path);
    return;
  }
  if (!Once("scratch \"" + *path + "\"", statement.span) || !bytes) return;
  class_.filesystem.scratch.push_back({*std::move(path), *bytes, statement.span});
}

void PlaneChecker::operator()(const syntax::TransferStatement& statement) {
  if (statement.direction == syntax::TransferStatement::Direction::Import) {
    return RefuseYet(context_, statement.span, "import");
  }
  model::FilesystemPlane& plane = class_.filesystem;
  if (statement.none) {
    if (!Once("export none", statement.span)) return;
    if (!plane.exports.empty()) {
      context_.sink.Report(statement.span, diag::NoneBesideGrant, "export");
    }
    plane.exports_none = statement.span;
    return;
  }
  if (plane.exports_none) {
    context_.sink.Report(*plane.exports_none, diag::NoneBesideGrant, "export");
  }
  model::TransferRule rule;
  rule.each = statement.each;
  rule.span = statement.span;
  bool whole = true;
  for (const syntax::String& text : statement.patterns) {
    auto glob = values::ParseFileGlob(text.text);
    if (glob) {
      rule.patterns.push_back(*std::move(glob));
    } else {
      whole = false;
      ReportWrong(context_, text.span, "a path pattern", glob.error(), Quoted);
    }
  }
  std::sort(rule.patterns.begin(), rule.patterns.end());
  rule.patterns.erase(std::unique(rule.patterns.begin(), rule.patterns.end()), rule.patterns.end());
  if (statement.at_most) {
    auto size = ReadBound({std::nullopt, statement.at_most, statement.at_most->span}, Unit::Size,
                          "at most", "filesystem.export.size");
    whole = whole && size;
    if (size) rule.size = *std::move(size);
  }
  const auto tail = CheckTail(context_, statement.tail, schema::Action::Export);
  if (!whole || !tail) return;
  rule.condition = tail->condition;
  rule.message = tail->message;
  auto id = ClaimId(context_, IdOf("filesystem"), statement.label, "export",
                    model::RuleText(context_.model, rule), statement.span);
  if (!id) return;
  rule.id = *std::move(id);
  plane.exports.push_back(std::move(rule));
}

void PlaneChecker::operator()(const syntax::PersistStatement& statement) {
  RefuseYet(context_, statement.span, "persist");
}

void PlaneChecker::operator()(const syntax::SnapshotStatement& statement) {
  RefuseYet(context_, statement.span, "snapshot");
}

}  // namespace curfew::check
