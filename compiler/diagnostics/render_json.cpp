#include "compiler/diagnostics/render.h"

#include <nlohmann/json.hpp>

namespace curfew::diagnostics {

namespace {

using source::Position;
using source::SourceMap;
using source::Span;

nlohmann::json JsonOf(const SourceMap& sources, Span span) {
  const auto point = [&](std::uint32_t offset) {
    const Position at = sources.PositionOf(span.file, offset);
    return nlohmann::json{{"line", at.line}, {"column", at.column}, {"offset", offset}};
  };
  return {{"start", point(span.begin)}, {"end", point(span.end)}};
}

void AddPlace(nlohmann::json& object, const SourceMap& sources, Span span) {
  if (span.is_nowhere()) return;
  object["file"] = sources.name(span.file);
  object["range"] = JsonOf(sources, span);
}

}  // namespace

std::string RenderJson(const Sink& sink, const SourceMap& sources) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    nlohmann::json object{{"code", CodeName(diagnostic.code)},
                          {"severity", NameOf(diagnostic.severity)},
                          {"message", diagnostic.message},
                          {"notes", nlohmann::json::array()},
                          {"fixes", nlohmann::json::array()}};
    AddPlace(object, sources, diagnostic.span);
    for (const Note& note : diagnostic.notes) {
      nlohmann::json entry{{"message", note.message}};
      AddPlace(entry, sources, note.span);
      object["notes"].push_back(std::move(entry));
    }
    for (const Fix& fix : diagnostic.fixes) {
      nlohmann::json entry{{"replacement", fix.replacement}};
      AddPlace(entry, sources, fix.span);
      object["fixes"].push_back(std::move(entry));
    }
    list.push_back(std::move(object));
  }
  const nlohmann::json document{{"version", 1}, {"diagnostics", std::move(list)}};
  // A name of a file, or a byte of a broken one, need not be UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace curfew::diagnostics
