// PathShape: a glob of paths taken apart by segments, so that what two globs have in common can be
// written down. With one star in a segment and one `**` in a glob it is finitely many shapes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::prove {

struct PathSegment {
  bool has_star = false;
  bool is_any = false;  // from `**`: also the empty one at the end of a path
  std::string before;   // the star; without one, all of it
  std::string behind;
  friend auto operator<=>(const PathSegment&, const PathSegment&) = default;
};

struct PathShape {
  std::vector<PathSegment> front;
  bool spans = false;  // `**` between front and back; without it there is no back
  std::vector<PathSegment> back;
  friend auto operator<=>(const PathShape&, const PathShape&) = default;

  [[nodiscard]] std::size_t size() const { return front.size() + back.size(); }
};

PathShape ShapeOfGlob(std::string_view glob);
PathShape ShapeOfPath(std::string_view path);

// The paths that both meet are those that one of these meets.
std::vector<PathShape> Common(const PathShape& a, const PathShape& b);

// The shape of `segments` segments, each star a text and `**` as many segments as are wanted.
std::string PathOf(const PathShape& shape, std::size_t spanned, std::string_view text);

}  // namespace curfew::prove
