// The egress workload that other engines were measured on, in Curfew's terms: the policy as a
// person would write it, and each request as `curfew eval` reads it. The workload is JSON: an array
// of `rules` (host, wild, port, methods, path prefix, window of the day), a list of `blocked`
// hosts, requests `reqs`, and the `expected` answers.
#pragma once

#include "compiler/base/json.h"
#include "compiler/base/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace curfew::bench {

struct Workload {
  std::size_t rule_count = 0;
  std::string policy;                 // one .curfew file
  std::vector<std::string> requests;  // JSON documents
  std::vector<bool> allowed;          // the expected answers
};

// Malformed names what the text lacks.
Result<Workload> ReadWorkload(std::string_view json);

}  // namespace curfew::bench
