#include "compiler/values/path_meet.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace curfew::values {
namespace {

// A segment of a glob: literal, or two literals around a star.
struct Segment {
  bool spans = false;  // `**`
  bool star = false;
  std::string before;  // the star; without one, all of it
  std::string after;
};

std::vector<Segment> SegmentsOf(std::string_view glob) {
  std::vector<Segment> segments;
  glob.remove_prefix(std::min<std::size_t>(1, glob.size()));
  while (true) {
    const std::size_t end = std::min(glob.find('/'), glob.size());
    const std::string_view text = glob.substr(0, end);
    Segment segment;
    segment.spans = text == "**";
    for (std::size_t i = 0; i < text.size() && !segment.spans; ++i) {
      if (text[i] == '*') {
        segment.star = true;
        continue;
      }
      if (text[i] == '\\') ++i;
      (segment.star ? segment.after : segment.before) += text[i];
    }
    segments.push_back(std::move(segment));
    if (end == glob.size()) return segments;
    glob.remove_prefix(end + 1);
  }
}

// The shortest text of the segment; a lone star needs a byte.
std::string TextOf(const Segment& segment) {
  const std::string text = segment.before + segment.after;
  return segment.star && text.empty() ? "x" : text;
}

bool Meets(const Segment& segment, std::string_view text) {
  if (!segment.star) return text == segment.before;
  return text.size() >= std::max<std::size_t>(1, segment.before.size() + segment.after.size()) &&
         text.starts_with(segment.before) && text.ends_with(segment.after);
}

std::optional<std::string> MeetingText(const Segment& a, const Segment& b) {
  // The longer beginning and the longer end are what both can agree on.
  const std::string& before = a.before.size() < b.before.size() ? b.before : a.before;
  const std::string& after = a.after.size() < b.after.size() ? b.after : a.after;
  const std::string text = !a.star                           ? a.before
                           : !b.star                         ? b.before
                           : before.empty() && after.empty() ? "x"
                                                             : before + after;
  if (Meets(a, text) && Meets(b, text)) return text;
  return std::nullopt;
}

// The segments before and behind a glob's `**`; without one all stand before it.
struct Shape {
  std::vector<Segment> before;
  std::vector<Segment> after;
  bool spans = false;
};

Shape ShapeOf(std::string_view glob) {
  Shape shape;
  for (Segment& segment : SegmentsOf(glob)) {
    if (segment.spans) {
      shape.spans = true;
    } else {
      (shape.spans ? shape.after : shape.before).push_back(std::move(segment));
    }
  }
  return shape;
}

// Two runs laid upon each other from their first segments on; the rest of the longer one stands as
// it is.
std::optional<std::vector<std::string>> Laid(const std::vector<Segment>& a,
                                             const std::vector<Segment>& b) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i >= a.size() || i >= b.size()) {
      texts.push_back(TextOf(i < a.size() ? a[i] : b[i]));
      continue;
    }
    auto text = MeetingText(a[i], b[i]);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return texts;
}

// A glob without `**` has a path's every segment: the other's ends are laid upon it.
std::optional<std::vector<std::string>> LaidWhole(const Shape& whole, const Shape& other) {
  const std::vector<Segment>& all = whole.before;
  const std::size_t ends = other.before.size() + other.after.size();
  if (other.spans ? ends > all.size() : ends != all.size()) return std::nullopt;
  std::vector<Segment> laid = all;
  std::copy(other.before.begin(), other.before.end(), laid.begin());
  std::copy(other.after.rbegin(), other.after.rend(), laid.rbegin());
  return Laid(all, laid);
}

std::optional<std::vector<std::string>> LaidApart(Shape a, Shape b) {
  auto before = Laid(a.before, b.before);
  std::reverse(a.after.begin(), a.after.end());
  std::reverse(b.after.begin(), b.after.end());
  const auto after = Laid(a.after, b.after);
  if (!before || !after) return std::nullopt;
  before->insert(before->end(), after->rbegin(), after->rend());
  return before;
}

}  // namespace

std::optional<std::string> MeetingPath(const PathGlob& a, const PathGlob& b) {
  const Shape first = ShapeOf(a.text);
  const Shape second = ShapeOf(b.text);
  const auto segments = !first.spans    ? LaidWhole(first, second)
                        : !second.spans ? LaidWhole(second, first)
                                        : LaidApart(first, second);
  if (!segments) return std::nullopt;
  std::string path;
  for (const std::string& segment : *segments) path += "/" + segment;
  return path.empty() ? "/" : path;
}

bool Meet(const PathGlob& a, const PathGlob& b) { return MeetingPath(a, b).has_value(); }

}  // namespace curfew::values
