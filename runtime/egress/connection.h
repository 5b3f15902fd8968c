// One TCP connection of the guest, and the upstream's that may stand behind it. What it is for is
// found out here (connection.cpp); then it is a stream (stream_flow.cpp) or a row of HTTP requests
// (http_flow.cpp). Its coroutines hold it; when the last one ends, it is gone.
#pragma once

#include "runtime/egress/client_hello.h"
#include "runtime/egress/core.h"
#include "runtime/egress/http_request.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace curfew::egress {

// A refusal that no rule of policy stands behind: the request does not fit, or the gateway cannot.
gate::Answer OwnDenial(std::string_view id, std::string message);
inline constexpr std::string_view InvalidId = "request.invalid";
inline constexpr std::string_view LimitId = "gateway.limit";
inline constexpr std::string_view ClosingId = "gateway.closing";

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  static void Begin(Core& core, OwnedFd socket);
  Connection(Core& core);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Ends what has waited too long, and what nobody waits for any more.
  void OnTick(std::int64_t now_ms);
  // Judges a live flow by what is known of it, and cuts it if it is denied now. Whether it was.
  bool Rejudge();
  void Cut(const gate::Answer& why);

 private:
  using Task = boost::asio::awaitable<void>;
  template <typename T>
  using Asks = boost::asio::awaitable<T>;

  // Why there is no upstream.
  struct Trouble {
    bool denied = false;
    gate::Answer answer = {};  // where denied
    unsigned status = 502;
    std::string message = {};  // where not
  };

  // connection.cpp
  static Task Serve(std::shared_ptr<Connection> self);
  Task ServePlace();
  Asks<bool> SeesHttp();
  void BeginFlow(const Place& place);
  void EndFlow(unsigned status, std::string end = {});
  // egress.total: all that was relayed, and what of this body is still to come (its length is
  // judged before it is sent, so the total is never below it).
  [[nodiscard]] std::int64_t TotalWithThis() const;
  gate::Answer Consider(schema::Stage stage);
  // The last stage, with everything that has to be allowed beside the request itself. What it
  // permits counts as let out, and is live: a reload cuts it, also while it is being dialled.
  gate::Decision<schema::Action::Egress> Decide();
  std::optional<gate::Answer> DenialBeside();
  Asks<std::optional<Trouble>> OpenUpstream(const Place& place);
  Asks<bool> Dial(const gate::Permit<schema::Action::Egress>& permit);
  // Before bytes move on: counts them.
  void Count(std::size_t out, std::size_t in);
  // Judges the flow again where much has moved since: whether it was cut.
  bool IsCutByCount();
  std::optional<gate::Answer> DenialNow();
  void Expect(std::int64_t ms);
  Task LetGo();

  // stream_flow.cpp
  Task ServeStream(Scheme scheme);
  Asks<bool> ReadHello();
  Task RefuseStream(gate::Answer answer, Alert alert);
  Task Relay();
  static Task PumpOut(std::shared_ptr<Connection> self);
  Asks<bool> Pump(Peer& from, Peer& to);

  // http_flow.cpp
  struct Exchange {
    HttpRequest request;
    std::string head;  // as it is sent
    Framing framing = Framing::None;
    std::uint64_t length = 0;
    unsigned version = 11;
    bool keep_alive = false;
    unsigned status = 0;    // of the answer, once it began
    bool reused = false;    // the upstream was open before
    bool is_stale = false;  // and had gone away without a word, so that nothing was asked yet
  };
  // The body of a request on its way out, beside the answer on its way in.
  struct Upload {
    MessageReader reader;
    Framing framing;
    bool running = true;
    std::optional<gate::Answer> denial;  // what ended it
  };
  enum class Took : std::uint8_t { Some, End, Refused, Gone };

  Task ServeHttp(std::optional<Place> direct);
  Asks<MessageReader::Event> ReadHead(Peer& from, MessageReader& reader, std::size_t& size);
  Task ServeConnect(const HttpRequest& request);
  std::optional<gate::Answer> BeginRequest(const Exchange& exchange);
  // One that nothing refused so far. Whether another request may follow.
  Asks<bool> ServeRequest(Exchange& exchange, MessageReader& reader);
  Asks<std::optional<Trouble>> Send(Exchange& exchange);
  Asks<bool> Answer(Exchange& exchange);
  Asks<bool> SendAnswer(Exchange& exchange, MessageReader& reader, std::size_t head_size);
  static Task RunUpload(std::shared_ptr<Connection> self);
  Asks<Took> Take(Peer& from, MessageReader& reader, bool chunked);
  // A refusal, in two parts: false, and FinishResponse has the rest to do, which may be nothing but
  // to let the guest go.
  bool RespondNow(unsigned status, gate::Answer answer, bool keep_alive);
  Asks<bool> FinishResponse(bool keep_alive);
  Asks<bool> Respond(unsigned status, gate::Answer answer, bool keep_alive);
  Asks<bool> RespondTrouble(const Exchange& exchange, Trouble trouble);

  Core& core_;
  Peer guest_;
  Peer upstream_;
  Place place_;

  // The flow that runs or is judged.
  EgressFacts facts_;
  gate::Answer answer_;
  std::vector<std::string> overrides_;
  std::int64_t flow_started_ms_ = 0;
  std::int64_t flow_wall_ms_ = 0;
  std::uint64_t flow_out_ = 0;
  std::uint64_t flow_in_ = 0;
  std::size_t unjudged_ = 0;
  bool in_flow_ = false;
  bool live_ = false;
  bool is_counted_ = false;  // in the window of requests
  bool body_grows_ = false;  // nobody said how many bytes there will be
  bool cut_ = false;

  // Of the upstream that is open.
  Place upstream_place_;
  std::optional<values::Address> upstream_ip_;
  std::vector<std::string> aliases_;

  std::int64_t deadline_ms_ = 0;
  bool timed_out_ = false;
  bool awaits_answer_ = false;  // and nothing else of the guest
  bool guest_left_ = false;
  bool sniffed_ = false;
  std::optional<boost::asio::steady_timer> joined_;
  bool out_ended_ = false;
  std::optional<Upload> upload_;
  std::size_t piece_bytes_ = 0;
};

}  // namespace curfew::egress
