#include "runtime/evidence/flows.h"

#include "compiler/base/text.h"

#include <map>
#include <utility>

#include <fmt/format.h>

namespace curfew::evidence {
namespace {

constexpr std::size_t TextBytesMax = 4096;

std::string Bounded(const std::string& text) { return Printable(text, TextBytesMax); }

Json RulesJson(const std::vector<NamedRule>& rules) {
  Json list = Json::array();
  for (const NamedRule& rule : rules) {
    Json& json = list.emplace_back(Json::object());
    json["id"] = rule.id;
    json["message"] = Bounded(rule.message);
    json["file"] = rule.file;
    json["line"] = rule.line;
  }
  return list;
}

Outcome ReadRules(const JsonValue& list, std::vector<NamedRule>& rules) {
  for (const JsonValue& item : list.items) {
    ObjectReader reader(item, "a rule of a flow on record");
    rules.push_back({.id = reader.Text("id"),
                     .message = reader.Text("message"),
                     .file = reader.Text("file"),
                     .line = reader.Count("line")});
    CURFEW_TRY_VOID(reader.Finish());
  }
  return Ok();
}

// Only plain refusals are counted together, and one alone says nothing of it.
Outcome CheckTimes(const FlowRecord& flow, bool is_written) {
  const bool is_plain_refusal =
      !flow.allowed && flow.bytes_out == 0 && flow.bytes_in == 0 && flow.end.empty();
  if (!is_written || (is_plain_refusal && flow.times > 1)) return Ok();
  return Failure(FailureCode::Malformed,
                 "a flow on record has `times`, and is not several refusals that are alike");
}

Result<FlowReading> ReadFacts(const JsonValue& facts) {
  ObjectReader reader(facts, "a flow on record");
  if (facts.Find("lost") != nullptr) {
    const std::uint64_t lost = reader.Count("lost");
    CURFEW_TRY_VOID(reader.Finish());
    return FlowReading{.flow = std::nullopt, .lost = lost};
  }
  FlowRecord flow;
  flow.scheme = reader.Text("scheme");
  flow.host = reader.Text("host");
  flow.ip = reader.Text("ip");
  flow.port = reader.Count("port");
  flow.method = reader.Text("method");
  flow.path = reader.Text("path");
  if (facts.Find("query") != nullptr) flow.query = reader.Text("query");
  flow.stage = reader.Text("stage");
  flow.allowed = reader.Flag("allowed");
  CURFEW_TRY_VOID(ReadRules(reader.Array("rules"), flow.rules));
  CURFEW_TRY_VOID(ReadRules(reader.Array("trials"), flow.trials));
  flow.class_name = reader.Text("class");
  flow.generation = reader.Count("generation");
  flow.started_ms = reader.Integer("started_ms");
  flow.duration_ms = reader.Count("duration_ms");
  flow.bytes_out = reader.Count("bytes_out");
  flow.bytes_in = reader.Count("bytes_in");
  flow.status = reader.Count("status");
  flow.end = reader.Text("end");
  if (facts.Find("times") != nullptr) flow.times = reader.Count("times");
  CURFEW_TRY_VOID(reader.Finish());
  CURFEW_TRY_VOID(CheckTimes(flow, facts.Find("times") != nullptr));
  return FlowReading{.flow = std::move(flow), .lost = 0};
}

// Sums up flows by what tells them apart, and keeps the first FlowPlacesMax of it.
template <typename Row>
class Rows {
 public:
  Rows(std::vector<Row>& rows, std::uint64_t& omitted) : rows_(rows), omitted_(omitted) {}

  // Nothing where there is no room for another.
  Row* At(const std::string& key) {
    const auto [found, is_new] = places_.emplace(key, rows_.size());
    if (is_new) {
      if (rows_.size() == FlowPlacesMax) {
        found->second = FlowPlacesMax;
        ++omitted_;
      } else {
        rows_.emplace_back();
      }
    }
    return found->second < FlowPlacesMax ? &rows_[found->second] : nullptr;
  }

 private:
  std::vector<Row>& rows_;
  std::uint64_t& omitted_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

std::string Place(const NamedRule& rule) {
  if (rule.file.empty()) return rule.id;
  return fmt::format("{} ({}:{})", rule.id, rule.file, rule.line);
}

Json FlowFacts(const FlowRecord& flow) {
  // Member by member: one is written for each request, and a list of pairs costs twice as much.
  Json facts = Json::object();
  facts["scheme"] = flow.scheme;
  facts["host"] = flow.host;
  facts["ip"] = flow.ip;
  facts["port"] = flow.port;
  facts["method"] = Bounded(flow.method);
  facts["path"] = Bounded(flow.path);
  facts["stage"] = flow.stage;
  facts["allowed"] = flow.allowed;
  facts["rules"] = RulesJson(flow.rules);
  facts["trials"] = RulesJson(flow.trials);
  facts["class"] = flow.class_name;
  facts["generation"] = flow.generation;
  facts["started_ms"] = flow.started_ms;
  facts["duration_ms"] = flow.duration_ms;
  facts["bytes_out"] = flow.bytes_out;
  facts["bytes_in"] = flow.bytes_in;
  facts["status"] = flow.status;
  facts["end"] = Bounded(flow.end);
  if (flow.query) facts["query"] = Bounded(*flow.query);
  if (flow.times > 1) facts["times"] = flow.times;
  return facts;
}

Json LostFlowsFacts(std::uint64_t count) { return {{"lost", count}}; }

std::string PlaceOf(const FlowRecord& flow) {
  const std::string& name = flow.host.empty() ? flow.ip : flow.host;
  const bool is_ipv6 = name.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", flow.scheme.empty() ? "connect" : flow.scheme,
                     is_ipv6 ? "[" : "", name, is_ipv6 ? "]" : "", flow.port);
}

Result<FlowReading> ReadFlow(const Record& record) {
  CURFEW_TRY(const std::string text, Canonical(record.facts));
  CURFEW_TRY(const JsonValue facts, ParseCanonical(text));
  return ReadFacts(facts);
}

Result<FlowSummary> SummariseFlows(std::span<const Record> records) {
  FlowSummary summary;
  Rows<ReachedPlace> reached(summary.reached, summary.reached_omitted);
  Rows<RefusedPlace> refused(summary.refused, summary.refused_omitted);
  for (const Record& record : records) {
    if (record.kind != RecordKind::Flow) continue;
    CURFEW_TRY(const FlowReading reading, ReadFlow(record));
    summary.lost += reading.lost;
    if (!reading.flow) continue;
    const FlowRecord& flow = *reading.flow;
    const std::string place = PlaceOf(flow);
    if (flow.allowed || flow.bytes_in + flow.bytes_out > 0) {
      if (ReachedPlace* row = reached.At(place)) {
        row->place = place;
        ++row->requests;
        if (!flow.end.empty()) ++row->failed;
        row->bytes_out += flow.bytes_out;
        row->bytes_in += flow.bytes_in;
      }
    }
    if (!flow.allowed) {
      const std::string rule = flow.rules.empty() ? std::string() : Place(flow.rules.front());
      if (RefusedPlace* row = refused.At(place + "\n" + rule)) {
        row->place = place;
        row->rule = rule;
        row->requests += flow.times;
      }
    }
  }
  return summary;
}

Json EncodeFlowSummary(const FlowSummary& summary) {
  Json reached = Json::array();
  for (const ReachedPlace& row : summary.reached) {
    reached.push_back({{"place", row.place},
                       {"requests", row.requests},
                       {"failed", row.failed},
                       {"bytes_out", row.bytes_out},
                       {"bytes_in", row.bytes_in}});
  }
  Json refused = Json::array();
  for (const RefusedPlace& row : summary.refused) {
    refused.push_back({{"place", row.place}, {"rule", row.rule}, {"requests", row.requests}});
  }
  return {{"reached", std::move(reached)},
          {"reached_omitted", summary.reached_omitted},
          {"refused", std::move(refused)},
          {"refused_omitted", summary.refused_omitted},
          {"lost", summary.lost}};
}

Result<FlowSummary> DecodeFlowSummary(const JsonValue& value) {
  ObjectReader reader(value, "the summary of flows");
  FlowSummary summary;
  for (const JsonValue& item : reader.Array("reached").items) {
    ObjectReader row(item, "a place that was reached");
    summary.reached.push_back({.place = row.Text("place"),
                               .requests = row.Count("requests"),
                               .failed = row.Count("failed"),
                               .bytes_out = row.Count("bytes_out"),
                               .bytes_in = row.Count("bytes_in")});
    CURFEW_TRY_VOID(row.Finish());
  }
  for (const JsonValue& item : reader.Array("refused").items) {
    ObjectReader row(item, "a place that was refused");
    summary.refused.push_back(
        {.place = row.Text("place"), .rule = row.Text("rule"), .requests = row.Count("requests")});
    CURFEW_TRY_VOID(row.Finish());
  }
  summary.reached_omitted = reader.Count("reached_omitted");
  summary.refused_omitted = reader.Count("refused_omitted");
  summary.lost = reader.Count("lost");
  CURFEW_TRY_VOID(reader.Finish());
  return summary;
}

}  // namespace curfew::evidence
