#include "compiler/prove/path_shape.h"

#include <algorithm>

namespace curfew::prove {
namespace {

const PathSegment kAny{true, true, "", ""};

bool Meets(const PathSegment& segment, std::string_view text) {
  if (segment.is_any) return true;
  if (!segment.has_star) return text == segment.before;
  return text.size() >= std::max<std::size_t>(1, segment.before.size() + segment.behind.size()) &&
         text.starts_with(segment.before) && text.ends_with(segment.behind);
}

PathSegment Literal(std::string text) { return {false, false, std::move(text), ""}; }

// What both meet.
std::vector<PathSegment> CommonSegments(const PathSegment& a, const PathSegment& b) {
  if (a.is_any) return {b};
  if (b.is_any) return {a};
  if (!a.has_star) return Meets(b, a.before) ? std::vector{a} : std::vector<PathSegment>{};
  if (!b.has_star) return Meets(a, b.before) ? std::vector{b} : std::vector<PathSegment>{};
  const std::string& before = a.before.size() >= b.before.size() ? a.before : b.before;
  const std::string& behind = a.behind.size() >= b.behind.size() ? a.behind : b.behind;
  const bool agree = before.starts_with(a.before) && before.starts_with(b.before) &&
                     behind.ends_with(a.behind) && behind.ends_with(b.behind);
  std::vector<PathSegment> common;
  if (agree) common.push_back({true, false, before, behind});
  // Short texts in which the two literals overlap.
  for (std::size_t shared = 1; shared <= std::min(before.size(), behind.size()); ++shared) {
    if (!before.ends_with(std::string_view(behind).substr(0, shared))) continue;
    std::string text = before + behind.substr(shared);
    if (Meets(a, text) && Meets(b, text)) common.push_back(Literal(std::move(text)));
  }
  return common;
}

// Every shape whose segments are one of each list.
void Multiply(const std::vector<std::vector<PathSegment>>& lists, std::size_t front, bool spans,
              std::vector<PathShape>& shapes) {
  std::vector<PathShape> partial(1);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::vector<PathShape> next;
    for (const PathShape& shape : partial) {
      for (const PathSegment& segment : lists[i]) {
        next.push_back(shape);
        (i < front ? next.back().front : next.back().back).push_back(segment);
      }
    }
    partial = std::move(next);
  }
  for (PathShape& shape : partial) {
    shape.spans = spans;
    shapes.push_back(std::move(shape));
  }
}

// With `**` as so many segments that there are `size` in all.
std::vector<PathSegment> Expanded(const PathShape& shape, std::size_t size) {
  std::vector<PathSegment> segments = shape.front;
  segments.insert(segments.end(), size - shape.size(), kAny);
  segments.insert(segments.end(), shape.back.begin(), shape.back.end());
  return segments;
}

bool CanHave(const PathShape& shape, std::size_t size) {
  return shape.spans ? size >= shape.size() : size == shape.size();
}

void CommonOfSize(const PathShape& a, const PathShape& b, std::size_t size,
                  std::vector<PathShape>& shapes) {
  if (size == 0 || !CanHave(a, size) || !CanHave(b, size)) return;
  const auto one = Expanded(a, size);
  const auto other = Expanded(b, size);
  std::vector<std::vector<PathSegment>> lists;
  for (std::size_t i = 0; i < size; ++i) lists.push_back(CommonSegments(one[i], other[i]));
  Multiply(lists, size, false, shapes);
}

}  // namespace

PathShape ShapeOfGlob(std::string_view glob) {
  PathShape shape;
  glob.remove_prefix(std::min<std::size_t>(1, glob.size()));
  while (true) {
    const std::size_t end = std::min(glob.find('/'), glob.size());
    const std::string_view text = glob.substr(0, end);
    if (text == "**") {
      shape.spans = true;
    } else {
      PathSegment segment;
      for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '*') {
          segment.has_star = true;
          continue;
        }
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        (segment.has_star ? segment.behind : segment.before).push_back(text[i]);
      }
      (shape.spans ? shape.back : shape.front).push_back(std::move(segment));
    }
    if (end == glob.size()) return shape;
    glob.remove_prefix(end + 1);
  }
}

PathShape ShapeOfPath(std::string_view path) {
  PathShape shape;
  path.remove_prefix(std::min<std::size_t>(1, path.size()));
  while (true) {
    const std::size_t end = std::min(path.find('/'), path.size());
    shape.front.push_back(Literal(std::string(path.substr(0, end))));
    if (end == path.size()) return shape;
    path.remove_prefix(end + 1);
  }
}

std::vector<PathShape> Common(const PathShape& a, const PathShape& b) {
  std::vector<PathShape> shapes;
  if (!a.spans || !b.spans) {
    CommonOfSize(a, b, a.spans ? b.size() : a.size(), shapes);
    return shapes;
  }
  const std::size_t front = std::max(a.front.size(), b.front.size());
  const std::size_t back = std::max(a.back.size(), b.back.size());
  for (std::size_t size = std::max(a.size(), b.size()); size < front + back; ++size) {
    CommonOfSize(a, b, size, shapes);
  }
  std::vector<std::vector<PathSegment>> lists;
  const auto at = [](const std::vector<PathSegment>& segments, std::size_t i) {
    return i < segments.size() ? segments[i] : kAny;
  };
  for (std::size_t i = 0; i < front; ++i) {
    lists.push_back(CommonSegments(at(a.front, i), at(b.front, i)));
  }
  for (std::size_t i = back; i-- > 0;) {
    const auto from_end = [&](const std::vector<PathSegment>& segments) {
      return i < segments.size() ? segments[segments.size() - 1 - i] : kAny;
    };
    lists.push_back(CommonSegments(from_end(a.back), from_end(b.back)));
  }
  Multiply(lists, front, true, shapes);
  return shapes;
}

std::string PathOf(const PathShape& shape, std::size_t spanned, std::string_view text) {
  std::string path;
  const auto append = [&](const PathSegment& segment) {
    path.append("/").append(segment.before);
    if (segment.has_star) path.append(text).append(segment.behind);
  };
  for (const PathSegment& segment : shape.front) append(segment);
  for (std::size_t i = 0; i < spanned && shape.spans; ++i) append(kAny);
  for (const PathSegment& segment : shape.back) append(segment);
  return path;
}

}  // namespace curfew::prove
