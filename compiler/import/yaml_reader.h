// One YAML or JSON document as a plain tree, with the place of each value. Strict: what a reader of
// the file could overlook (a key stated twice, an anchor, an alias, a tag, a second document, a
// hidden character) is an error and not a tree. What a document means is not judged here. The only
// user of the YAML library.
#pragma once

#include "compiler/diagnostics/sink.h"
#include "compiler/source/source.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::import {

inline constexpr std::size_t DocumentBytesMax = std::size_t{1024} * 1024;
inline constexpr std::size_t DocumentDepthMax = 32;

struct Member;

struct Node {
  enum class Kind : std::uint8_t { Null, Scalar, Sequence, Map };

  Kind kind = Kind::Null;
  bool quoted = false;  // Scalar: written in quotes or as a block, so text whatever it looks like
  std::string text;     // Scalar
  source::Span span;    // a Scalar as written; else where it begins
  std::vector<Node> items;      // Sequence
  std::vector<Member> members;  // Map, in the order of the text; names are unique

  [[nodiscard]] bool is(Kind other) const { return kind == other; }
  // The member of that name, or nullptr; nullptr too where this is no map.
  [[nodiscard]] const Node* Find(std::string_view name) const;
};

struct Member {
  std::string name;
  source::Span span;  // of the name
  Node value;
};

// The document of the file; nothing where the sink got an error. A file whose name ends in `.json`
// must be JSON too.
std::optional<Node> ReadDocument(const source::SourceMap& sources, source::FileId file,
                                 diagnostics::Sink& sink);

}  // namespace curfew::import
