// What one sandbox may take of the gateway. A bound that is met refuses what met it, and nothing
// else.
#pragma once

#include "runtime/egress/http_message.h"

#include <cstddef>
#include <cstdint>

namespace curfew::egress {

struct Limits {
  std::size_t connections = 4096;               // open at once
  std::size_t dns_connections = 64;             // open at once, of them
  std::size_t memory_bytes = 64 * 1024 * 1024;  // held for peers that are slow to take it
  HttpBounds http;                              // of one head
  std::int64_t first_byte_ms = 30'000;          // for the guest to say what it wants
  std::int64_t head_ms = 30'000;                // from its first byte to the end of a head
  std::int64_t kept_ms = 75'000;                // a kept connection without a request
  std::int64_t dns_ms = 10'000;                 // for a question on a connection to come whole
  std::int64_t resolve_ms = 10'000;             // for a name's addresses
  std::int64_t connect_ms = 10'000;             // for each address
  std::int64_t answer_ms = 10 * 60'000;         // for the head of an answer: models think long
  std::int64_t idle_ms = 10 * 60'000;           // without a byte in either direction
  std::int64_t rejudge_ms = 5'000;              // live flows are judged again so often
};

}  // namespace curfew::egress
