// What is known of one request on its way out, and the interface to whoever judges it. A request is
// judged in stages: `name` (where it wants to go), `address` (where that would lead), `request`
// (all of it). What a stage cannot know yet is unknown to the rules, never absent.
#pragma once

#include "compiler/module/request.h"
#include "compiler/values/address.h"
#include "runtime/gate/gate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace curfew::egress {

// In the order of schema::Enum::Scheme.
enum class Scheme : std::uint8_t { Http, Https, Tcp };
std::string_view WordOf(Scheme scheme);

// How much of HTTP can be seen.
enum class Visible : std::uint8_t {
  NotYet,  // nobody knows whether it is HTTP
  Hidden,  // a byte stream, or inside TLS: method, path and query are not there to be read
  Seen
};

struct EgressFacts {
  schema::Stage stage = schema::Stage::Name;
  std::optional<Scheme> scheme;       // nothing: not known yet
  std::string host;                   // canonical; empty: an address was asked for
  std::optional<values::Address> ip;  // nothing: not known yet
  std::uint16_t port = 0;
  Visible http = Visible::NotYet;
  std::string method;
  std::string path;                  // canonical
  std::optional<std::string> query;  // as sent
  std::int64_t bytes = 0;            // of the body; of a stream, what left so far
  std::int64_t requests = 1;         // in the sliding window, this one included
  std::int64_t total = 0;            // bytes of the sandbox's whole life, both ways
};

// "GET http://files.example/a" or "tcp db.example:5432", for people. Safe to print, as
// every part of it is canonical.
std::string Describe(const EgressFacts& facts);

// Sets the facts of `egress.*`; caller, task and sandbox are the keeper's to state. `facts` must
// outlive the decision: the request borrows its texts.
void State(const EgressFacts& facts, module::Request& request);

// The gate, as the gateway sees it. Both are called on the gateway's own thread: whoever implements
// them locks what he shares with another.
class Judge {
 public:
  virtual ~Judge() = default;
  // What the rules say of what is known so far. It opens nothing and leaves no record: a denial
  // reaches the records as the gateway's Flow.
  virtual gate::Answer Consider(const EgressFacts& facts) = 0;
  // The last stage, on record before it takes effect. Only its permit makes the gateway dial.
  virtual gate::Decision<schema::Action::Egress> Decide(const EgressFacts& facts) = 0;
  // How long a request counts among `requests`; asked at the start, and whenever live flows are
  // judged again.
  virtual std::int64_t WindowMs() { return 60'000; }
};

}  // namespace curfew::egress
