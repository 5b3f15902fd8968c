// The fields of a source document as a shape takes them: each is asked for by name, and what nobody
// asked for is a finding, never dropped in silence. A secret that stands in clear is found here and
// kept from every output.
#pragma once

#include "compiler/import/yaml_reader.h"

#include <initializer_list>
#include <set>

namespace curfew::import {

// What all readers of one document share.
struct Reading {
  const source::SourceMap& sources;
  diagnostics::Sink& sink;
  std::string_view shape;  // "a flat sandbox policy"
  // To be hidden wherever the source is shown: what its form shows, in order, and what its field
  // does.
  std::vector<source::Span> credentials = {};
  std::vector<source::Span> secrets = {};

  // Reports every credential that its own form shows, wherever it stands.
  void HideCredentials(source::FileId file);
  // Reports it, but for one that is reported already, and hides it. `pointer` is where it stands.
  void Secret(source::Span span, std::string_view pointer);
};

// Text that is a credential by its own form (`ghp_…`, `sk-…`, `Bearer …`, a private key), anywhere.
std::vector<source::Span> FindCredentials(std::string_view text, source::FileId file);
// The name of a field for messages; a credential that stands there by mistake is not shown.
std::string ShownName(std::string_view name);
// Whether a field of that name holds a credential, as `token`, `apiKey`, `authorization`.
bool NamesCredential(std::string_view name);

// A map's fields. Its pointer, as "/rules/0", is for messages.
class Fields {
 public:
  Fields(const Node& node, std::string pointer, Reading& reading);

  // False where the node is no map, which is reported.
  [[nodiscard]] bool is_map() const { return is_map_; }
  [[nodiscard]] const std::string& pointer() const { return pointer_; }
  [[nodiscard]] std::string PointerOf(std::string_view name) const;

  // The first of the names that is there, or nullptr; a second spelling beside it is reported.
  const Node* Take(std::initializer_list<std::string_view> names);
  const Node* Take(std::string_view name) { return Take({name}); }
  // Nothing where the field is not there, or is of another type, which is reported.
  std::optional<std::string> TakeText(std::initializer_list<std::string_view> names);
  std::optional<bool> TakeBool(std::initializer_list<std::string_view> names);
  std::optional<std::int64_t> TakeNumber(std::initializer_list<std::string_view> names);
  // Reports that the field, if it is there, is not carried over, and why.
  void TakeNotCarried(std::initializer_list<std::string_view> names, std::string_view why);

  // Reports every field that nobody took; whether there was none and every type was right.
  bool Finish();

 private:
  const Node& node_;
  std::string pointer_;
  Reading& reading_;
  bool is_map_;
  bool is_right_ = true;
  std::set<std::string_view> taken_;
};

// The text of a scalar; nothing, and reported, where it is none.
std::optional<std::string> TextOf(const Node& node, std::string_view pointer, Reading& reading);
std::optional<std::int64_t> NumberOf(const Node& node, std::string_view pointer, Reading& reading);
// The items of a sequence; none, and reported, where it is none.
const std::vector<Node>& ItemsOf(const Node& node, std::string_view pointer, Reading& reading);
std::string ItemPointer(std::string_view pointer, std::size_t index);

}  // namespace curfew::import
