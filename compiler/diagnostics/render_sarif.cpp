// The sections named here are those of SARIF 2.1.0 with errata 01.
#include "compiler/base/check.h"
#include "compiler/diagnostics/help.h"
#include "compiler/diagnostics/render.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::diagnostics {

namespace {

using Json = nlohmann::ordered_json;
using source::SourceMap;
using source::Span;

constexpr std::string_view kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr std::string_view kRoot = "%SRCROOT%";

std::string_view LevelOf(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Info:
      return "note";
  }
  CURFEW_UNREACHABLE("the switch names every severity");
}

// 3.11.5 and 3.11.6: braces are doubled, and `](` would make a link out of somebody's text.
Json MessageOf(std::string_view text) {
  std::string message;
  for (const char c : text) {
    if (c == '(' && message.ends_with(']')) message += ' ';
    if (c == '{' || c == '}') message += c;
    message += c;
  }
  return {{"text", std::move(message)}};
}

// RFC 3986: a path, each byte outside the unreserved characters as %XX. A colon too, which would
// make a scheme of the first segment.
std::string PathAsUri(std::string_view path) {
  constexpr std::string_view kUnreserved = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kUnreserved.find(c) != kUnreserved.npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// 3.4.4: only what is relative has a base.
Json ArtifactOf(std::string_view name) {
  const std::string path = std::filesystem::path(name).lexically_normal().string();
  if (path.starts_with('/')) return {{"uri", "file://" + PathAsUri(path)}};
  return {{"uri", PathAsUri(path)}, {"uriBaseId", kRoot}};
}

// The end is exclusive (3.30.8), as ours is.
Json RegionOf(const SourceMap& sources, Span span) {
  const source::Position begin = sources.PositionOf(span.file, span.begin);
  const source::Position end = sources.PositionOf(span.file, span.end);
  return {{"startLine", begin.line},
          {"startColumn", begin.column},
          {"endLine", end.line},
          {"endColumn", end.column}};
}

Json LocationOf(const SourceMap& sources, Span span) {
  return {{"physicalLocation",
           {{"artifactLocation", ArtifactOf(sources.name(span.file))},
            {"region", RegionOf(sources, span)}}}};
}

// The fixes of a diagnostic belong together: one fix, with a change for each file.
Json FixOf(const std::vector<Fix>& fixes, const SourceMap& sources) {
  std::string description;
  std::vector<source::FileId> files;
  for (const Fix& fix : fixes) {
    description += (description.empty() ? "" : ", and ") + HelpOf(fix, sources);
    if (std::find(files.begin(), files.end(), fix.span.file) == files.end()) {
      files.push_back(fix.span.file);
    }
  }
  Json changes = Json::array();
  for (const source::FileId file : files) {
    Json replacements = Json::array();
    for (const Fix& fix : fixes) {
      if (fix.span.file != file) continue;
      replacements.push_back({{"deletedRegion", RegionOf(sources, fix.span)},
                              {"insertedContent", {{"text", fix.replacement}}}});
    }
    changes.push_back({{"artifactLocation", ArtifactOf(sources.name(file))},
                       {"replacements", std::move(replacements)}});
  }
  return {{"description", MessageOf(description)}, {"artifactChanges", std::move(changes)}};
}

std::size_t RuleIndexOf(std::uint16_t code) {
  const auto rules = Registry();
  const auto rule = std::lower_bound(
      rules.begin(), rules.end(), code,
      [](const RegistryEntry& entry, std::uint16_t wanted) { return entry.code < wanted; });
  CURFEW_CHECK(rule != rules.end() && rule->code == code, "a diagnostic is of the registry");
  return static_cast<std::size_t>(rule - rules.begin());
}

Json ResultOf(const Diagnostic& diagnostic, const SourceMap& sources) {
  Json result = {{"ruleId", CodeName(diagnostic.code)},
                 {"ruleIndex", RuleIndexOf(diagnostic.code)},
                 {"level", LevelOf(diagnostic.severity)},
                 {"message", MessageOf(diagnostic.message)}};
  if (!diagnostic.span.is_nowhere()) {
    result["locations"] = Json::array({LocationOf(sources, diagnostic.span)});
  }
  Json related = Json::array();
  for (const Note& note : diagnostic.notes) {
    Json location = note.span.is_nowhere() ? Json::object() : LocationOf(sources, note.span);
    location["message"] = MessageOf(note.message);
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  if (!diagnostic.fixes.empty()) {
    result["fixes"] = Json::array({FixOf(diagnostic.fixes, sources)});
  }
  return result;
}

// The full description and the help are what GitHub's code scanning refuses to be without.
Json Rules() {
  Json rules = Json::array();
  for (const RegistryEntry& entry : Registry()) {
    const Json description = MessageOf(PatternOf(entry));
    rules.push_back({{"id", CodeName(entry.code)},
                     {"name", entry.name},
                     {"shortDescription", description},
                     {"fullDescription", description},
                     {"help", description},
                     {"defaultConfiguration", {{"level", LevelOf(entry.severity)}}}});
  }
  return rules;
}

}  // namespace

std::string RenderSarif(const Sink& sink, const SourceMap& sources, std::string_view version) {
  Json results = Json::array();
  for (const Diagnostic& diagnostic : sink.Sorted()) {
    results.push_back(ResultOf(diagnostic, sources));
  }
  Json run = {
      {"tool", {{"driver", {{"name", "curfew"}, {"version", version}, {"rules", Rules()}}}}},
      {"originalUriBaseIds",
       {{kRoot, {{"description", {{"text", "the folder in which curfew was called"}}}}}}},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)}};
  const Json document = {
      {"version", "2.1.0"}, {"$schema", kSchema}, {"runs", Json::array({std::move(run)})}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace curfew::diagnostics
