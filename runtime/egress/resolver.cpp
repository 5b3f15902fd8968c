#include "runtime/egress/resolver.h"

#include "compiler/values/host.h"

#include <algorithm>
#include <ares.h>
#include <arpa/inet.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace curfew::egress {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

constexpr std::size_t kAddressesMax = 64;
constexpr std::size_t kAliasesMax = 16;
constexpr std::chrono::milliseconds kTick{100};

// One question that is open.
struct Waiting {
  explicit Waiting(asio::io_context& io)
      : wake(io, asio::steady_timer::time_point::max()),
        result(Failure(FailureCode::TimedOut, "no resolver answered")) {}
  asio::steady_timer wake;
  bool done = false;
  Result<Resolved> result;
};

Result<Resolved> ReadAnswer(int status, const ares_addrinfo* answer) {
  switch (status) {
    case ARES_SUCCESS:
      break;
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
      return Failure(FailureCode::NotFound, "the name has no address");
    case ARES_ETIMEOUT:
      return Failure(FailureCode::TimedOut, "no resolver answered in time");
    case ARES_EBADRESP:
      return Failure(FailureCode::Malformed, "the resolver's answer is malformed");
    default:
      return Failure(FailureCode::PeerGone,
                     fmt::format("the resolver failed: {}", ares_strerror(status)));
  }
  Resolved resolved;
  for (const ares_addrinfo_cname* alias = answer->cnames; alias != nullptr; alias = alias->next) {
    if (alias->name == nullptr) continue;
    auto name = values::ParseHost(alias->name);
    if (!name) return Failure(FailureCode::Malformed, "the name has an alias that is no host name");
    if (resolved.aliases.size() == kAliasesMax) {
      return Failure(FailureCode::Malformed, "the name has too many aliases");
    }
    resolved.aliases.push_back(*std::move(name));
  }
  for (const ares_addrinfo_node* node = answer->nodes; node != nullptr; node = node->ai_next) {
    values::Address address;
    if (node->ai_family == AF_INET) {
      address.bytes[10] = address.bytes[11] = 0xff;
      std::memcpy(address.bytes.data() + 12,
                  &reinterpret_cast<const sockaddr_in*>(node->ai_addr)->sin_addr, 4);
    } else if (node->ai_family == AF_INET6) {
      std::memcpy(address.bytes.data(),
                  &reinterpret_cast<const sockaddr_in6*>(node->ai_addr)->sin6_addr, 16);
      address = values::Unwrap(address);
    } else {
      continue;
    }
    if (resolved.addresses.size() == kAddressesMax) {
      return Failure(FailureCode::Malformed, "the name has too many addresses");
    }
    if (std::ranges::find(resolved.addresses, address) == resolved.addresses.end()) {
      resolved.addresses.push_back(address);
    }
  }
  if (resolved.addresses.empty()) {
    return Failure(FailureCode::NotFound, "the name has no address");
  }
  std::ranges::stable_partition(resolved.addresses, values::IsIpv4);
  return resolved;
}

extern "C" void OnAnswer(void* argument, int status, int /*timeouts*/, ares_addrinfo* answer) {
  const std::unique_ptr<std::shared_ptr<Waiting>> held(
      static_cast<std::shared_ptr<Waiting>*>(argument));
  Waiting& waiting = **held;
  waiting.result = ReadAnswer(status, answer);
  waiting.done = true;
  waiting.wake.cancel();
  if (answer != nullptr) ares_freeaddrinfo(answer);
}

// What c-ares calls in place of the kernel.
extern "C" ares_socket_t OpenSocket(int family, int type, int /*protocol*/, void* argument) {
  Result<OwnedFd> socket = static_cast<Outside*>(argument)->Socket(family, type);
  if (!socket) {
    errno = EMFILE;
    return ARES_SOCKET_BAD;
  }
  return socket->Release();
}
extern "C" int CloseSocket(ares_socket_t socket, void*) { return ::close(socket); }
extern "C" int ConnectSocket(ares_socket_t socket, const sockaddr* to, ares_socklen_t size, void*) {
  return ::connect(socket, to, size);
}
extern "C" ares_ssize_t ReceiveFrom(ares_socket_t socket, void* bytes, std::size_t size, int flags,
                                    sockaddr* from, ares_socklen_t* from_size, void*) {
  return ::recvfrom(socket, bytes, size, flags, from, from_size);
}
extern "C" ares_ssize_t SendVector(ares_socket_t socket, const iovec* vectors, int count, void*) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(vectors);
  message.msg_iovlen = static_cast<std::size_t>(count);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

constexpr ares_socket_functions Sockets = {OpenSocket, CloseSocket, ConnectSocket, ReceiveFrom,
                                           SendVector};

}  // namespace

struct Resolver::State {
  // A socket of c-ares that is watched; c-ares closes it.
  struct Watched {
    explicit Watched(asio::io_context& io) : descriptor(io) {}
    Descriptor descriptor;
    bool reads = false;
    bool writes = false;
  };

  State(asio::io_context& the_io, std::int64_t the_resolve_ms)
      : io(the_io), timer(the_io), resolve_ms(the_resolve_ms) {}
  ~State() {
    if (channel != nullptr) ares_destroy(channel);
  }

  Outcome Open(Outside& outside, const std::vector<Endpoint>& servers);
  void OnSocketState(ares_socket_t socket, bool reads, bool writes);
  void Watch(const std::shared_ptr<Watched>& watched, bool reads);
  void Tick();

  asio::io_context& io;
  asio::steady_timer timer;
  std::int64_t resolve_ms;
  ares_channel channel = nullptr;
  std::map<ares_socket_t, std::shared_ptr<Watched>> watched;
  std::size_t open = 0;
  bool ticking = false;
};

Outcome Resolver::State::Open(Outside& outside, const std::vector<Endpoint>& servers) {
  ares_options options{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.timeout = static_cast<int>(std::max<std::int64_t>(resolve_ms / 4, 50));
  options.tries = 2;  // the second waits twice as long
  char lookups[] = "b";
  options.lookups = lookups;  // never the host's own file of names
  options.sock_state_cb = [](void* self, ares_socket_t socket, int reads, int writes) {
    static_cast<State*>(self)->OnSocketState(socket, reads != 0, writes != 0);
  };
  options.sock_state_cb_data = this;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS |
                   ARES_OPT_SOCK_STATE_CB;
  int status = ares_init_options(&channel, &options, mask);
  if (status != ARES_SUCCESS) {
    channel = nullptr;
    return Failure(FailureCode::System,
                   fmt::format("prepare to ask resolvers: {}", ares_strerror(status)));
  }
  ares_set_socket_functions(channel, &Sockets, &outside);
  if (servers.empty()) return Ok();
  std::vector<ares_addr_port_node> nodes(servers.size());
  for (std::size_t i = 0; i < servers.size(); ++i) {
    ares_addr_port_node& node = nodes[i];
    node.next = i + 1 < servers.size() ? &nodes[i + 1] : nullptr;
    node.udp_port = node.tcp_port = servers[i].port;
    const auto& bytes = servers[i].address.bytes;
    if (values::IsIpv4(servers[i].address)) {
      node.family = AF_INET;
      std::memcpy(&node.addr.addr4, bytes.data() + 12, 4);
    } else {
      node.family = AF_INET6;
      std::memcpy(&node.addr.addr6, bytes.data(), 16);
    }
  }
  status = ares_set_servers_ports(channel, nodes.data());
  if (status != ARES_SUCCESS) {
    return Failure(FailureCode::System,
                   fmt::format("set the resolvers: {}", ares_strerror(status)));
  }
  return Ok();
}

void Resolver::State::OnSocketState(ares_socket_t socket, bool reads, bool writes) {
  if (!reads && !writes) {
    // c-ares closes it next. Its number may come again at once, so nothing may watch it any more.
    const auto found = watched.find(socket);
    if (found == watched.end()) return;
    (void)found->second->descriptor.release();
    watched.erase(found);
    return;
  }
  std::shared_ptr<Watched>& entry = watched[socket];
  if (!entry) {
    entry = std::make_shared<Watched>(io);
    boost::system::error_code error;
    entry->descriptor.assign(socket, error);
    if (error) {
      watched.erase(socket);
      return;  // its questions time out
    }
  }
  // By value: watching may end the entry.
  const std::shared_ptr<Watched> held = entry;
  if (reads && !std::exchange(held->reads, true)) Watch(held, true);
  if (writes && !std::exchange(held->writes, true)) Watch(held, false);
  held->reads = reads;
  held->writes = writes;
}

void Resolver::State::Watch(const std::shared_ptr<Watched>& entry, bool reads) {
  entry->descriptor.async_wait(reads ? Descriptor::wait_read : Descriptor::wait_write,
                               [this, entry, reads](const boost::system::error_code& error) {
                                 bool& wanted = reads ? entry->reads : entry->writes;
                                 if (error || !entry->descriptor.is_open() || !wanted) {
                                   wanted = false;
                                   return;
                                 }
                                 const ares_socket_t socket = entry->descriptor.native_handle();
                                 ares_process_fd(channel, reads ? socket : ARES_SOCKET_BAD,
                                                 reads ? ARES_SOCKET_BAD : socket);
                                 const auto found = watched.find(socket);
                                 if (found != watched.end() && found->second == entry && wanted)
                                   Watch(entry, reads);
                               });
}

void Resolver::State::Tick() {
  if (ticking || open == 0) return;
  ticking = true;
  timer.expires_after(kTick);
  timer.async_wait([this](const boost::system::error_code& error) {
    ticking = false;
    if (error) return;
    ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    Tick();
  });
}

Resolver::Resolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
Resolver::~Resolver() = default;

Result<std::unique_ptr<Resolver>> Resolver::Make(asio::io_context& io, Outside& outside,
                                                 const std::vector<Endpoint>& servers,
                                                 std::int64_t resolve_ms) {
  auto state = std::make_unique<State>(io, resolve_ms);
  CURFEW_TRY_VOID(state->Open(outside, servers));
  return std::unique_ptr<Resolver>(new Resolver(std::move(state)));
}

asio::awaitable<Result<Resolved>> Resolver::Resolve(std::string name) {
  const auto waiting = std::make_shared<Waiting>(state_->io);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_flags = ARES_AI_NOSORT | ARES_AI_CANONNAME;
  ++asked_;
  ++state_->open;
  ares_getaddrinfo(state_->channel, name.c_str(), nullptr, &hints, OnAnswer,
                   new std::shared_ptr<Waiting>(waiting));
  state_->Tick();
  if (!waiting->done) {
    const auto [error] = co_await waiting->wake.async_wait(asio::as_tuple(asio::use_awaitable));
    (void)error;
  }
  --state_->open;
  co_return std::move(waiting->result);
}

void Resolver::Cancel() {
  ares_cancel(state_->channel);
  state_->timer.cancel();
}

}  // namespace curfew::egress
