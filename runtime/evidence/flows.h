// What left a sandbox and what was kept from leaving: the record of one flow, and the summary of
// all of them that stands in a receipt. The summary follows from the records and from nothing
// else, so whoever holds the records makes it again.
#pragma once

#include "runtime/evidence/canonical_json.h"
#include "runtime/evidence/chain.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace curfew::evidence {

// A rule that decided.
struct NamedRule {
  std::string id;
  std::string message;
  std::string file;  // empty where no line of policy stands behind it
  std::uint64_t line = 0;
};
// "id (file:line)".
std::string Place(const NamedRule& rule);

// One request, or one stream, as it was judged and how it went. Record kind `flow`.
struct FlowRecord {
  std::string scheme;  // "http", "https", "tcp"; empty where it was never known
  std::string host;    // empty: an address was asked for
  std::string ip;      // empty: never known
  std::uint64_t port = 0;
  std::string method;  // empty where there is no HTTP to be seen
  std::string path;
  std::optional<std::string> query;
  std::string stage;  // how far it was judged
  bool allowed = false;
  std::vector<NamedRule> rules;  // every denial, or every rule that allowed
  std::vector<NamedRule> trials;
  std::string class_name;
  std::uint64_t generation = 0;
  std::int64_t started_ms = 0;  // wall
  std::uint64_t duration_ms = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t status = 0;  // what the guest was answered in HTTP; 0 without
  std::string end;           // how it ended, where not as it should
  // How many refusals it stands for, alike in all the rest: from the first's start, so long.
  std::uint64_t times = 1;
};
// Texts that a guest can make long are cut, the cut marked with an ellipsis.
Json FlowFacts(const FlowRecord& flow);
// Instead of flows that ended when no record could be written: how many.
Json LostFlowsFacts(std::uint64_t count);

// "http://packages.example:80", "tcp://203.0.113.7:5432".
std::string PlaceOf(const FlowRecord& flow);

struct ReachedPlace {
  std::string place;
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;  // of them: allowed, and did not end as they should
  std::uint64_t bytes_out = 0;
  std::uint64_t bytes_in = 0;
  friend bool operator==(const ReachedPlace&, const ReachedPlace&) = default;
};
struct RefusedPlace {
  std::string place;
  std::string rule;  // the first that refused it
  std::uint64_t requests = 0;
  friend bool operator==(const RefusedPlace&, const RefusedPlace&) = default;
};
// In the order in which they first ended. A flow that was cut under way has reached its place and
// was refused.
struct FlowSummary {
  std::vector<ReachedPlace> reached;
  std::uint64_t reached_omitted = 0;  // places
  std::vector<RefusedPlace> refused;
  std::uint64_t refused_omitted = 0;  // pairs of place and rule
  std::uint64_t lost = 0;             // flows that no record tells of
  friend bool operator==(const FlowSummary&, const FlowSummary&) = default;
};
inline constexpr std::size_t FlowPlacesMax = 256;

// What one record of kind `flow` tells: a flow, or that some were lost.
struct FlowReading {
  std::optional<FlowRecord> flow;
  std::uint64_t lost = 0;
};
// Malformed when it is not as this file writes it.
Result<FlowReading> ReadFlow(const Record& record);
// Passes over records of other kinds.
Result<FlowSummary> SummariseFlows(std::span<const Record> records);

Json EncodeFlowSummary(const FlowSummary& summary);
Result<FlowSummary> DecodeFlowSummary(const JsonValue& value);

}  // namespace curfew::evidence
