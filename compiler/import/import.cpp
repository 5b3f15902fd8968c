#include "compiler/import/import.h"

#include "compiler/import/shapes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::import {
namespace {

constexpr std::array Known = {&FlatRules,      &OpenShell, &E2b,
                              &SandboxRuntime, &Vercel,    &Microsandbox};

std::string KnownShapes() {
  std::string text;
  for (const Shape* shape : Shapes()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", shape->name, shape->fields);
  }
  return text;
}

void Hide(const std::vector<source::Span>& secrets, std::string& text) {
  for (const source::Span span : secrets) {
    for (std::size_t i = span.begin; i < span.end && i < text.size(); ++i) {
      if (text[i] != '\n' && text[i] != '\r') text[i] = '*';
    }
  }
}

std::optional<std::string> Convert(source::FileId file, std::string_view class_name,
                                   const Options& options, Reading& reading) {
  const auto root = ReadDocument(reading.sources, file, reading.sink);
  if (!root) return std::nullopt;
  const auto shape = std::find_if(Known.begin(), Known.end(),
                                  [&root](const Shape* one) { return one->knows(*root); });
  if (shape == Known.end()) {
    reading.sink.Report(root->span, diag::ShapeUnknown, KnownShapes());
    return std::nullopt;
  }
  reading.shape = (*shape)->name;
  Draft draft;
  (*shape)->read(*root, class_name, draft, reading);
  if (draft.classes.empty()) return std::nullopt;
  return Write(draft, options, reading);
}

}  // namespace

std::span<const Shape* const> Shapes() { return Known; }

Imported Import(source::SourceText text, std::string_view class_name, const Options& options) {
  Imported made;
  source::SourceMap sources;
  const std::string name = text.name;
  const source::FileId file = sources.Add(std::move(text));
  Reading reading{sources, made.diagnostics, {}};
  // Before anything else: also of a file that is not read.
  reading.HideCredentials(file);
  made.policy = Convert(file, class_name, options, reading);
  std::string shown(sources.text(file));
  Hide(reading.credentials, shown);
  Hide(reading.secrets, shown);
  made.sources.Add({name, std::move(shown)});
  return made;
}

}  // namespace curfew::import
