// The lines that the formatter is about to write, and their alignment.
#pragma once

#include "compiler/syntax/ast.h"

#include <cstddef>
#include <string>
#include <vector>

namespace curfew::syntax {

// One line of the result. A line that begins a statement may have up to three cells, which are
// aligned with those of its neighbours: head, body, and in a test the answer from the arrow on.
struct LayoutLine {
  std::size_t indent = 0;  // levels
  bool blank_before = false;
  bool begins_statement = false;
  bool opens_block = false;  // its statement goes on in a block of lines
  bool is_comment = false;   // nothing else stands on it
  bool has_label = false;    // the head is `label:`
  bool may_be_free = false;  // beside labels the head moves into the body
  std::size_t group = 0;     // only lines of one group, which is one block, are neighbours
  Block block = Block::File;
  std::string head;
  std::string body;
  std::string answer;
  std::string comment;

  [[nodiscard]] bool is_ask() const { return !answer.empty(); }
};

// Pads the cells of neighbouring lines. A blank line, or a statement with a block of lines, ends a
// neighbourhood.
void Align(std::vector<LayoutLine>& lines);

// Sets every declaration that is more than a line apart by blank lines.
void Separate(std::vector<LayoutLine>& lines);

std::string Write(const std::vector<LayoutLine>& lines);

}  // namespace curfew::syntax
