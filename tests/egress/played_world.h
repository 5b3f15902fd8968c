// The world that a gateway is tested in: an anonymous network namespace with public and private
// addresses of its own, upstreams that write down what they saw, and a resolver that counts its
// questions and answers as it is told to. Nothing here reaches another machine.
#pragma once

#include "compiler/base/owned_fd.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace curfew::egress {

// Puts the calling thread, and those that it starts from then on, into a fresh namespace whose
// loopback has all of 198.51.100.0/24, 203.0.113.0/24, 10.20.0.0/16, 198.18.0.0/15 and
// 127.0.0.0/8. Once is enough. Needs root.
void EnterPlayedWorld();

// A socket of the test that blocks, but never for more than ten seconds.
class Stream {
 public:
  Stream() = default;
  explicit Stream(int fd);
  // To an IPv4 address.
  static Stream To(const std::string& address, std::uint16_t port);

  static Stream Listening(const std::string& address, std::uint16_t port);
  [[nodiscard]] Stream Accept() const;

  bool Send(std::string_view bytes) const;
  // What comes until the text is there (in what is returned), or the stream ends.
  std::string ReadUntil(std::string_view text);
  std::string ReadBytes(std::size_t size);
  // All that comes until the stream ends, in one way or another.
  std::string ReadAll();
  // After ReadAll and its like: whether the end was a reset.
  [[nodiscard]] bool was_reset() const { return was_reset_; }
  void Shut() const;
  void Reset();
  void Close() { fd_.Reset(); }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::uint16_t local_port() const;

 private:
  bool Fill();
  OwnedFd fd_;
  std::string pending_;
  bool was_reset_ = false;
};

// A server: each connection runs the script in a thread of its own.
class Upstream {
 public:
  using Script = std::function<void(Stream&)>;
  Upstream(const std::string& address, std::uint16_t port, Script script);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  [[nodiscard]] std::size_t connections() const { return connections_; }

 private:
  void Serve();
  Script script_;
  OwnedFd listener_;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// A server of HTTP that is strict in what it takes, and writes down every request as it came.
class HttpUpstream {
 public:
  // Answers each request with `answer`, or with a short body of its own.
  HttpUpstream(const std::string& address, std::uint16_t port = 80, std::string answer = {});
  // Heads and bodies in the order in which they came.
  std::vector<std::string> seen();
  std::string last();
  [[nodiscard]] std::size_t connections() const { return server_.connections(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> seen_;
  std::string answer_;
  Upstream server_;
};

// A server of streams: takes what comes, says `done` at its end, and keeps it.
struct Sink {
  std::mutex mutex;
  std::vector<std::string> seen;
  Upstream server;
  explicit Sink(std::uint16_t port, std::string first = {})
      : server("198.51.100.7", port, [this, first](Stream& stream) {
          if (!first.empty()) stream.Send(first);
          std::string all = stream.ReadAll();
          {
            const std::lock_guard lock(mutex);
            seen.push_back(std::move(all));
          }
          stream.Send("done");
        }) {}
  std::string last() {
    const std::lock_guard lock(mutex);
    return seen.empty() ? std::string() : seen.back();
  }
};

// A question as it came: as it stands on the wire, with type and class.
struct PlayedQuestion {
  std::string wire;
  bool wants_v6 = false;
  bool is_tcp = false;
};

// The authority for every name there is, over UDP and TCP.
class PlayedResolver {
 public:
  struct Records {
    std::vector<std::string> addresses = {};  // IPv4, or IPv6 with its colons
    std::string alias = {};                   // CNAME to this name, which has the addresses
    bool silent = false;                      // no answer at all
    bool cut = false;                         // over UDP: come by TCP
    std::string raw = {};                     // these bytes behind the question's id
    // All behind the question's id, made by the test.
    std::function<std::string(const PlayedQuestion&)> reply = {};
    std::vector<std::string> then = {};  // addresses from the second question on
    unsigned code = 0;
  };
  PlayedResolver();
  ~PlayedResolver();
  void Say(const std::string& name, Records records);
  // The names that were asked for, A and AAAA as one each, in the order of asking.
  std::vector<std::string> asked();
  static constexpr const char* Address = "198.51.100.53";

 private:
  void Serve();
  std::string AnswerTo(const std::string& query, bool tcp);
  std::mutex mutex_;
  std::map<std::string, Records> records_;
  std::map<std::string, int> count_;
  std::vector<std::string> asked_;
  OwnedFd datagrams_;
  OwnedFd listener_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace curfew::egress
