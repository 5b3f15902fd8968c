#include "compiler/import/yaml_reader.h"

#include "compiler/base/json.h"
#include "compiler/import/fields.h"
#include "compiler/source/text_faults.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <fmt/format.h>

namespace curfew::import {
namespace {

// Thrown through the library when an error was reported.
struct Stop {};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(source::FileId file, std::string_view text, diagnostics::Sink& sink)
      : file_(file), text_(text), sink_(sink) {}

  [[nodiscard]] bool has_document() const { return has_document_; }
  Node TakeRoot() { return std::move(root_); }

  // At a place that the library names: it counts bytes, and may be past the end.
  [[nodiscard]] source::Span At(const YAML::Mark& mark) const {
    const auto size = static_cast<std::uint32_t>(text_.size());
    const std::uint32_t begin =
        mark.is_null() ? 0 : std::min(static_cast<std::uint32_t>(std::max(mark.pos, 0)), size);
    return {file_, begin, std::min(begin + 1, size)};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) Refuse(At(mark), "a second document");
    has_document_ = true;
  }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string& /*name*/) override {
    Refuse(At(mark), "an anchor");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    Refuse(At(mark), "an alias");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    Node node;
    node.span = At(mark);
    Add(std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    RefuseTag(mark, tag);
    Node node;
    node.kind = Node::Kind::Scalar;
    node.quoted = tag == "!";
    node.text = value;
    node.span = SpanOf(mark, value);
    Add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(Node::Kind::Sequence, mark, tag);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(Node::Kind::Map, mark, tag);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    Node node;
    std::optional<Node> key;
    std::set<std::string> names;
  };

  [[noreturn]] void Refuse(source::Span span, std::string_view what) {
    sink_.Report(span, diag::FormNotRead, what);
    throw Stop{};
  }
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") Refuse(At(mark), "a tag");
  }

  // The library says where a scalar begins, and not where it ends.
  [[nodiscard]] source::Span SpanOf(const YAML::Mark& mark, const std::string& value) const {
    source::Span span = At(mark);
    const std::string_view rest = text_.substr(span.begin);
    std::size_t length = 0;
    if (!value.empty() && rest.starts_with(value)) {
      length = value.size();
    } else if (rest.starts_with('"') || rest.starts_with('\'')) {
      length = 1;
      while (length < rest.size() && rest[length] != rest.front()) {
        length += rest.front() == '"' && rest[length] == '\\' ? 2 : 1;
      }
      ++length;
    } else {
      length = std::min(rest.find('\n'), rest.size());
    }
    span.end = span.begin + static_cast<std::uint32_t>(std::min(length, rest.size()));
    return span;
  }

  void Open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    RefuseTag(mark, tag);
    if (stack_.size() >= DocumentDepthMax) {
      sink_.Report(At(mark), diag::ImportTooLarge, "nested too deep",
                   fmt::format("{} levels", DocumentDepthMax));
      throw Stop{};
    }
    Frame frame;
    frame.node.kind = kind;
    frame.node.span = At(mark);
    stack_.push_back(std::move(frame));
  }
  void Close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    Add(std::move(node));
  }
  void Add(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.is(Node::Kind::Sequence)) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key) {
      if (!node.is(Node::Kind::Scalar)) Refuse(node.span, "a key that is no text");
      if (!frame.names.insert(node.text).second) {
        sink_.Report(node.span, diag::FieldTwice, ShownName(node.text));
        throw Stop{};
      }
      frame.key = std::move(node);
    } else {
      frame.node.members.push_back({frame.key->text, frame.key->span, std::move(node)});
      frame.key.reset();
    }
  }

  source::FileId file_;
  std::string_view text_;
  diagnostics::Sink& sink_;
  bool has_document_ = false;
  Node root_;
  std::vector<Frame> stack_;
};

// What no reader of the file sees, or what two would read differently.
bool HasTextFault(std::string_view text, source::FileId file, diagnostics::Sink& sink) {
  const auto faults = source::FindTextFaults(text);
  if (faults.empty()) return false;
  const source::TextFault& first = faults.front();
  std::string_view what;
  switch (first.kind) {
    case source::TextFaultKind::NotUtf8:
      what = "it is not UTF-8 from here on";
      break;
    case source::TextFaultKind::Nul:
      what = "a NUL byte stands here";
      break;
    case source::TextFaultKind::ByteOrderMark:
      what = "a byte-order mark stands here";
      break;
    case source::TextFaultKind::LoneCarriageReturn:
      what = "a carriage return without a line feed stands here";
      break;
    case source::TextFaultKind::HiddenCharacter:
      what = "a character that readers cannot see stands here";
      break;
  }
  sink.Report({file, first.begin, first.end}, diag::NotReadable, what);
  return true;
}

}  // namespace

const Node* Node::Find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [name](const Member& member) { return member.name == name; });
  return found == members.end() ? nullptr : &found->value;
}

std::optional<Node> ReadDocument(const source::SourceMap& sources, source::FileId file,
                                 diagnostics::Sink& sink) {
  const std::string_view text = sources.text(file);
  if (text.size() > DocumentBytesMax) {
    sink.Report({file, 0, 0}, diag::ImportTooLarge, "the file is too large",
                fmt::format("{} KiB", DocumentBytesMax / 1024));
    return std::nullopt;
  }
  if (HasTextFault(text, file, sink)) return std::nullopt;
  if (sources.name(file).ends_with(".json")) {
    if (const auto json = ReadJson(text); !json) {
      sink.Report({file, 0, 0}, diag::NotReadable, json.error().message);
      return std::nullopt;
    }
  }
  TreeBuilder builder(file, text, sink);
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& broken) {
    sink.Report(builder.At(broken.mark), diag::NotReadable, broken.msg);
    return std::nullopt;
  }
  if (!builder.has_document()) {
    sink.Report({file, 0, 0}, diag::NotReadable, "it holds nothing");
    return std::nullopt;
  }
  return builder.TakeRoot();
}

}  // namespace curfew::import
