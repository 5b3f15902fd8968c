#include "compiler/syntax/layout.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace curfew::syntax {

namespace {

constexpr std::size_t IndentWidth = 2;

// Columns of UTF-8 text: code points.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void PadTo(std::string& text, std::size_t width) {
  const std::size_t now = WidthOf(text);
  if (now < width) text.append(width - now, ' ');
}

using Run = std::vector<LayoutLine*>;

// One width for the heads of those lines of a run that `belongs` picks.
template <typename Belongs>
void AlignHeads(const Run& run, Belongs&& belongs) {
  std::size_t width = 0;
  for (const LayoutLine* line : run) {
    if (belongs(*line) && !line->body.empty()) width = std::max(width, WidthOf(line->head));
  }
  for (LayoutLine* line : run) {
    if (belongs(*line) && !line->body.empty()) PadTo(line->head, width);
  }
}

void AlignTest(const Run& run) {
  const auto is_given = [](const LayoutLine& line) { return line.head.starts_with("given "); };
  const auto is_egress = [](const LayoutLine& line) { return line.head.starts_with("egress"); };
  AlignHeads(run, is_given);
  AlignHeads(run, is_egress);
  const auto text_of = [](const LayoutLine& line) {
    return line.body.empty() ? line.head : line.head + ' ' + line.body;
  };
  std::size_t width = 0;
  for (const LayoutLine* line : run) {
    if (line->is_ask()) width = std::max(width, WidthOf(text_of(*line)));
  }
  for (LayoutLine* line : run) {
    if (!line->is_ask()) continue;
    line->head = text_of(*line);
    line->body.clear();
    PadTo(line->head, width);
  }
}

void AlignRun(const Run& run) {
  if (run.front()->block == Block::Test) return AlignTest(run);
  const bool has_labels =
      std::any_of(run.begin(), run.end(), [](const LayoutLine* line) { return line->has_label; });
  for (LayoutLine* line : run) {
    if (!has_labels || !line->may_be_free) continue;
    line->body = line->head + ' ' + line->body;
    line->head.clear();
  }
  AlignHeads(run, [](const LayoutLine&) { return true; });
}

}  // namespace

void Align(std::vector<LayoutLine>& lines) {
  // The open run of each group; blocks nest, so several are open at a time.
  std::unordered_map<std::size_t, Run> open;
  const auto close = [&](std::size_t group) {
    const auto found = open.find(group);
    if (found == open.end()) return;
    AlignRun(found->second);
    open.erase(found);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    LayoutLine& line = lines[i];
    if (line.is_comment) {
      if (line.blank_before) close(line.group);
      continue;
    }
    if (!line.begins_statement) continue;
    if (line.blank_before) close(line.group);
    if (line.opens_block) {
      close(line.group);
    } else if (!line.head.empty()) {
      open[line.group].push_back(&line);
    }
  }
  while (!open.empty()) close(open.begin()->first);
}

void Separate(std::vector<LayoutLine>& lines) {
  std::vector<std::size_t> declarations;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].begins_statement && lines[i].block == Block::File) declarations.push_back(i);
  }
  const auto is_long = [&](std::size_t nth) {
    const std::size_t end = nth + 1 < declarations.size() ? declarations[nth + 1] : lines.size();
    for (std::size_t i = declarations[nth] + 1; i < end; ++i) {
      if (!lines[i].is_comment || lines[i].indent > 0) return true;
    }
    return false;
  };
  for (std::size_t nth = 1; nth < declarations.size(); ++nth) {
    if (!is_long(nth - 1) && !is_long(nth)) continue;
    // Comments directly above a declaration go with it.
    std::size_t first = declarations[nth];
    while (!lines[first].blank_before && lines[first - 1].is_comment &&
           lines[first - 1].indent == 0) {
      --first;
    }
    lines[first].blank_before = true;
  }
}

std::string Write(const std::vector<LayoutLine>& lines) {
  std::string out;
  for (const LayoutLine& line : lines) {
    if (line.blank_before && !out.empty()) out += '\n';
    std::string text = line.head;
    for (const std::string* cell : {&line.body, &line.answer, &line.comment}) {
      if (cell->empty()) continue;
      if (!text.empty()) text += cell == &line.body ? " " : "  ";
      text += *cell;
    }
    out.append(IndentWidth * line.indent, ' ');
    out += text;
    out += '\n';
  }
  return out;
}

}  // namespace curfew::syntax
