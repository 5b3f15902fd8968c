// Asks a gateway every hostile request, and prints what it passed on beside what it had judged, one
// line each: method, target, authority and bytes of body as judged, and in hexadecimal all that the
// upstream was sent. For foreign_parsers_test.py.
#include "tests/egress/hostile_requests.h"
#include "tests/egress/rig.h"

#include <cstdio>

#include <fmt/format.h>

namespace curfew::egress {
namespace {

// Chunks to their end, as they stand. Whether the end came.
bool ReadChunks(Stream& stream, std::string& raw) {
  for (;;) {
    const std::string line = stream.ReadUntil("\r\n");
    raw += line;
    if (!line.ends_with("\r\n")) return false;
    const std::size_t size = std::strtoull(line.c_str(), nullptr, 16);
    raw += stream.ReadBytes(size + 2);
    if (!raw.ends_with("\r\n")) return false;
    if (size == 0) return true;
  }
}

// What one connection was sent.
struct Seen {
  std::string raw;
  bool is_whole = false;
};

// Takes one request as it stands, and then whatever else comes before the gateway ends the stream.
class Recorder {
 public:
  Recorder(const std::string& address, std::uint16_t port)
      : server_(address, port, [this](Stream& stream) {
          Seen seen{.raw = stream.ReadUntil("\r\n\r\n"), .is_whole = true};
          const std::size_t length = seen.raw.find("\r\nContent-Length: ");
          if (seen.raw.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos) {
            seen.is_whole = ReadChunks(stream, seen.raw);
          } else if (length != std::string::npos) {
            const std::size_t size = std::strtoull(seen.raw.c_str() + length + 18, nullptr, 10);
            const std::string body = stream.ReadBytes(size);
            seen.raw += body;
            seen.is_whole = body.size() == size;
          }
          stream.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
          seen.raw += stream.ReadAll();
          const std::lock_guard lock(mutex_);
          seen_.push_back(std::move(seen));
        }) {}

  // What the next connection sent, once it is over.
  Seen Next() {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (seen_.size() > taken_) return seen_[taken_++];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }
  [[nodiscard]] bool HasMore() const { return server_.connections() > taken_; }

 private:
  std::mutex mutex_;
  std::vector<Seen> seen_;
  std::size_t taken_ = 0;
  Upstream server_;
};

void Print(const Flow& flow, const Seen& seen) {
  std::string hex;
  for (const char byte : seen.raw) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  const EgressFacts& facts = flow.facts;
  fmt::print("{}\t{}{}\t{}{}\t{}\t{}\n", facts.method, facts.path,
             facts.query ? "?" + *facts.query : std::string(), facts.host,
             facts.port == 80 ? std::string() : fmt::format(":{}", facts.port), flow.bytes_out,
             hex);
}

// Whether what is odd but of one meaning passes, each request that was let out came to one upstream
// connection of its own, and nothing else came to any, but for the begin of one whose body was then
// refused.
bool AskAll() {
  Recorder upstream("198.51.100.7", 80);
  Rig rig;
  std::size_t flows_seen = 0;
  std::size_t must_pass = hostile::OddButOne().size();  // they come first
  for (const std::string& request : hostile::Requests()) {
    const std::string reply = rig.Ask(rig.DialName("files.example"), request);
    if (must_pass > 0 && (--must_pass, !reply.starts_with("HTTP/1.1 200 "))) return false;
    const std::vector<Flow> flows = rig.Flows(0);
    for (; flows_seen < flows.size(); ++flows_seen) {
      if (flows[flows_seen].answer.allowed) {
        const Seen seen = upstream.Next();
        if (!seen.is_whole) return false;
        Print(flows[flows_seen], seen);
      } else if (upstream.HasMore() && upstream.Next().is_whole) {
        return false;
      }
    }
    if (upstream.HasMore()) return false;
  }
  return true;
}

}  // namespace
}  // namespace curfew::egress

int main() {
  if (curfew::egress::AskAll()) return 0;
  std::fputs("forwarded: a request did not pass, or an upstream was sent what no flow speaks of\n",
             stderr);
  return 1;
}
