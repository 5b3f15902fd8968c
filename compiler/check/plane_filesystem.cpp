// The plane `filesystem`: what a task may write to, and what may leave with the result.
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/rule.h"
#include "compiler/model/print.h"
#include "compiler/values/path.h"

#include <algorithm>

#include <fmt/format.h>

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

std::optional<std::string> PlaneChecker::ReadMountPath(const syntax::String& text) {
  auto path = values::ParseFilePath(text.text);
  if (!path) {
    ReportWrong(context_, text.span, "a file path", path.error(), Quoted);
    return std::nullopt;
  }
  if (IsSystemFolder(*path)) {
    context_.sink.Report(text.span, diag::ReservedFolder, *path);
    return std::nullopt;
  }
  if (!Once("\"" + *path + "\"", text.span)) return std::nullopt;
  return *std::move(path);
}

void PlaneChecker::operator()(const syntax::ScratchStatement& statement) {
  const auto bytes = ReadPositive(statement.size, Unit::Size, "scratch");
  auto path = ReadMountPath(statement.path);
  if (!path || !bytes) return;
  class_.filesystem.scratch.push_back({*std::move(path), *bytes, statement.span});
}

void PlaneChecker::operator()(const syntax::TransferStatement& statement) {
  const bool is_import = statement.direction == syntax::TransferStatement::Direction::Import;
  const std::string word = is_import ? "import" : "export";
  model::FilesystemPlane& plane = class_.filesystem;
  auto& rules = is_import ? plane.imports : plane.exports;
  auto& none = is_import ? plane.imports_none : plane.exports_none;
  if (statement.none) {
    if (!Once(word + " none", statement.span)) return;
    if (!rules.empty()) context_.sink.Report(statement.span, diag::NoneBesideGrant, word);
    none = statement.span;
    return;
  }
  if (none) context_.sink.Report(*none, diag::NoneBesideGrant, word);
  model::TransferRule rule;
  rule.direction =
      is_import ? model::TransferRule::Direction::Import : model::TransferRule::Direction::Export;
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
                          "at most", fmt::format("filesystem.{}.size", word));
    whole = whole && size;
    if (size) rule.size = *std::move(size);
  }
  const auto tail = CheckTail(context_, statement.tail,
                              is_import ? schema::Action::Import : schema::Action::Export);
  if (!whole || !tail) return;
  rule.condition = tail->condition;
  rule.message = tail->message;
  auto id = ClaimId(context_, IdOf("filesystem"), statement.label, word,
                    model::RuleText(context_.model, rule), statement.span);
  if (!id) return;
  rule.id = *std::move(id);
  rules.push_back(std::move(rule));
}

}  // namespace curfew::check
