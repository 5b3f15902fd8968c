#include "compiler/prove/domain.h"
#include "compiler/prove/path_shape.h"
#include "compiler/values/path.h"
#include "compiler/values/url.h"

#include <algorithm>

namespace curfew::prove {
namespace {

constexpr std::size_t kShapesMost = 512;
constexpr std::size_t kValuesMost = 8192;

// Every shape of the atoms, and of what any of them have in common.
std::vector<PathShape> ShapesOf(const Atoms& atoms, bool& is_whole) {
  std::set<PathShape> known;
  std::vector<PathShape> shapes;
  const auto add = [&](PathShape shape) {
    if (known.insert(shape).second) shapes.push_back(std::move(shape));
  };
  for (const std::string& glob : atoms.paths) add(ShapeOfGlob(glob));
  for (const std::string& path : atoms.constants) add(ShapeOfPath(path));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      for (PathShape& shape : Common(shapes[i], shapes[j])) add(std::move(shape));
      if (shapes.size() <= kShapesMost) continue;
      is_whole = false;
      return shapes;
    }
  }
  add(ShapeOfGlob("/**"));
  return shapes;
}

bool IsCanonical(const std::string& path, bool of_url) {
  const auto parsed = of_url ? values::ParseUrlPath(path, values::EscapedSlashes::Kept)
                             : values::ParseFilePath(path);
  return parsed && *parsed == path;
}

}  // namespace

// A path that meets the globs of a set and no others meets what they have in common; there stands a
// path like it whose stars are a letter that is in no glob. If that met another glob, so would
// every path of the shape. `**` is tried with each number of segments that a glob can count.
Domain PathDomain(const Atoms& atoms, bool of_url) {
  Domain domain;
  const std::vector<PathShape> shapes = ShapesOf(atoms, domain.is_whole);
  domain.why_not = "too many patterns of paths that meet each other";
  std::string taken;
  std::size_t longest = 1;
  for (const PathShape& shape : shapes) longest = std::max(longest, shape.size() + 1);
  for (const std::string& glob : atoms.paths) taken += glob;
  for (const std::string& path : atoms.constants) taken += path;
  const std::vector<std::string> fresh = FreshTexts(taken, 1);
  if (fresh.empty()) {
    domain.is_whole = false;
    domain.why_not = "the patterns leave no letter that is in none of them";
  }
  const std::string text = fresh.empty() ? "x" : fresh.front();
  std::set<std::string> known;
  const auto add = [&](std::string path) {
    if (path.empty() || !IsCanonical(path, of_url) || !known.insert(path).second) return;
    domain.values.push_back(std::move(path));
  };
  add("/");
  const bool sees_slashes = !atoms.globs.empty();
  for (const PathShape& shape : shapes) {
    for (std::size_t spanned = 0; spanned <= (shape.spans ? longest : 0); ++spanned) {
      add(PathOf(shape, spanned, text));
      if (sees_slashes) {
        add(PathOf(shape, spanned, text + std::string(values::EscapedSlash) + text));
      }
      // `/**` at the end also meets an empty segment there.
      const bool ends_open = shape.spans && shape.back.empty();
      if (of_url && ends_open && spanned > 0) add(PathOf(shape, spanned - 1, text) + "/");
    }
    if (domain.values.size() > kValuesMost) {
      domain.is_whole = false;
      break;
    }
  }
  const std::string slash = "*" + std::string(values::EscapedSlash) + "*";
  const bool knows_globs = std::all_of(atoms.globs.begin(), atoms.globs.end(),
                                       [&](const std::string& glob) { return glob == slash; });
  if (!knows_globs || atoms.copies > 1) {
    domain.is_whole = false;
    domain.why_not = "paths are compared with other facts, or by the patterns of texts";
  }
  return domain;
}

}  // namespace curfew::prove
