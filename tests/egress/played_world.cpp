#include "tests/egress/played_world.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace curfew::egress {
namespace {

constexpr int kPatienceMs = 10'000;

void Must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "the played world: %s: %s\n", what, std::strerror(errno));
  std::abort();
}

sockaddr_in At(const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  Must(inet_pton(AF_INET, address.c_str(), &at.sin_addr) == 1, "an address");
  return at;
}

sockaddr_in6 AtV6(const std::string& address, std::uint16_t port) {
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_port = htons(port);
  Must(inet_pton(AF_INET6, address.c_str(), &at.sin6_addr) == 1, "an address");
  return at;
}

int Bound(int type, const std::string& address, std::uint16_t port) {
  EnterPlayedWorld();
  const bool is_v6 = address.find(':') != std::string::npos;
  const int fd = socket(is_v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC, 0);
  Must(fd >= 0, "a socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (is_v6) {
    const sockaddr_in6 at = AtV6(address, port);
    Must(bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "bind");
  } else {
    const sockaddr_in at = At(address, port);
    Must(bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "bind");
  }
  if (type == SOCK_STREAM) Must(listen(fd, 4096) == 0, "listen");
  return fd;
}

void AddToLoopback(int fd, const char* label, const char* address, const char* mask) {
  ifreq request{};
  std::strncpy(request.ifr_name, label, IFNAMSIZ - 1);
  sockaddr_in at = At(address, 0);
  std::memcpy(&request.ifr_addr, &at, sizeof(at));
  Must(ioctl(fd, SIOCSIFADDR, &request) == 0, "an address of the loopback");
  at = At(mask, 0);
  std::memcpy(&request.ifr_netmask, &at, sizeof(at));
  Must(ioctl(fd, SIOCSIFNETMASK, &request) == 0, "a mask of the loopback");
}

void AddToLoopback(int fd, const char* address) {
  in6_ifreq request{};
  request.ifr6_addr = AtV6(address, 0).sin6_addr;
  request.ifr6_prefixlen = 64;
  request.ifr6_ifindex = static_cast<int>(if_nametoindex("lo"));
  Must(ioctl(fd, SIOCSIFADDR, &request) == 0, "an IPv6 address of the loopback");
}

}  // namespace

void EnterPlayedWorld() {
  static const bool entered = [] {
    Must(unshare(CLONE_NEWNET) == 0, "a namespace (this test needs root)");
    const OwnedFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    Must(ioctl(fd.get(), SIOCSIFFLAGS, &request) == 0, "raise the loopback");
    AddToLoopback(fd.get(), "lo:1", "198.51.100.1", "255.255.255.0");
    AddToLoopback(fd.get(), "lo:2", "203.0.113.1", "255.255.255.0");
    AddToLoopback(fd.get(), "lo:3", "10.20.0.1", "255.255.0.0");
    AddToLoopback(fd.get(), "lo:4", "198.18.0.1", "255.254.0.0");
    const OwnedFd v6(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    for (const char* address : {"2001:db8::7", "2001:db8::53", "fd00::7"}) {
      AddToLoopback(v6.get(), address);
    }
    return true;
  }();
  (void)entered;
}

Stream::Stream(int fd) : fd_(fd) {
  const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

Stream Stream::To(const std::string& address, std::uint16_t port) {
  Stream stream(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in at = At(address, port);
  Must(connect(stream.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0, "connect");
  return stream;
}

Stream Stream::Listening(const std::string& address, std::uint16_t port) {
  return Stream(Bound(SOCK_STREAM, address, port));
}

Stream Stream::Accept() const { return Stream(accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC)); }

bool Stream::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Stream::Fill() {
  char room[65536];
  const ssize_t got = recv(fd_.get(), room, sizeof(room), 0);
  if (got > 0) pending_.append(room, static_cast<std::size_t>(got));
  was_reset_ = got < 0 && errno == ECONNRESET;
  return got > 0;
}

std::string Stream::ReadUntil(std::string_view text) {
  std::size_t at = 0;
  while ((at = pending_.find(text)) == std::string::npos) {
    if (!Fill()) return std::exchange(pending_, {});
  }
  std::string got = pending_.substr(0, at + text.size());
  pending_.erase(0, at + text.size());
  return got;
}

std::string Stream::ReadBytes(std::size_t size) {
  while (pending_.size() < size && Fill()) {
  }
  std::string got = pending_.substr(0, size);
  pending_.erase(0, got.size());
  return got;
}

std::string Stream::ReadAll() {
  while (Fill()) {
  }
  return std::exchange(pending_, {});
}

void Stream::Shut() const { shutdown(fd_.get(), SHUT_WR); }

void Stream::Reset() {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  fd_.Reset();
}

std::uint16_t Stream::local_port() const {
  sockaddr_in at{};
  socklen_t size = sizeof(at);
  getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

Upstream::Upstream(const std::string& address, std::uint16_t port, Script script)
    : script_(std::move(script)), listener_(Bound(SOCK_STREAM, address, port)) {
  acceptor_ = std::thread([this] { Serve(); });
}

Upstream::~Upstream() {
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
}

void Upstream::Serve() {
  for (;;) {
    const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    ++connections_;
    const std::lock_guard lock(mutex_);
    open_.push_back(fd);
    threads_.emplace_back([this, fd] {
      Stream stream(fd);
      script_(stream);
      const std::lock_guard closing(mutex_);
      std::erase(open_, fd);
      stream.Close();
    });
  }
}

HttpUpstream::HttpUpstream(const std::string& address, std::uint16_t port, std::string answer)
    : answer_(std::move(answer)), server_(address, port, [this](Stream& stream) {
        for (;;) {
          std::string request = stream.ReadUntil("\r\n\r\n");
          if (!request.ends_with("\r\n\r\n")) return;
          const std::size_t length = request.find("\r\nContent-Length: ");
          if (request.find("\r\nTransfer-Encoding: chunked\r\n") != std::string::npos) {
            request += stream.ReadUntil("0\r\n\r\n");
          } else if (length != std::string::npos) {
            request += stream.ReadBytes(std::strtoull(request.c_str() + length + 18, nullptr, 10));
          }
          const bool to_head = request.starts_with("HEAD ");
          {
            const std::lock_guard lock(mutex_);
            seen_.push_back(std::move(request));
          }
          if (!answer_.empty()) {
            if (!stream.Send(answer_)) return;
          } else if (!stream.Send(std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n") +
                                  (to_head ? "" : "hello"))) {
            return;
          }
        }
      }) {}

std::vector<std::string> HttpUpstream::seen() {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::string HttpUpstream::last() {
  const std::lock_guard lock(mutex_);
  return seen_.empty() ? std::string() : seen_.back();
}

namespace {

std::string Number(std::size_t value, int bytes) {
  std::string text;
  while (bytes-- > 0) text.push_back(static_cast<char>(value >> 8 * bytes));
  return text;
}

std::string WireName(std::string_view name) {
  std::string wire;
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    wire += Number(dot, 1) + std::string(name.substr(0, dot));
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  return wire + std::string(1, '\0');
}

std::string Record(const std::string& owner, unsigned type, const std::string& data) {
  return owner + Number(type, 2) + Number(1, 2) + Number(0, 4) + Number(data.size(), 2) + data;
}

}  // namespace

PlayedResolver::PlayedResolver()
    : datagrams_(Bound(SOCK_DGRAM, Address, 53)), listener_(Bound(SOCK_STREAM, Address, 53)) {
  thread_ = std::thread([this] { Serve(); });
}

PlayedResolver::~PlayedResolver() {
  stop_ = true;
  thread_.join();
}

void PlayedResolver::Say(const std::string& name, Records records) {
  const std::lock_guard lock(mutex_);
  records_[name] = std::move(records);
}

std::vector<std::string> PlayedResolver::asked() {
  const std::lock_guard lock(mutex_);
  return asked_;
}

void PlayedResolver::Serve() {
  while (!stop_) {
    pollfd watched[] = {{datagrams_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (poll(watched, 2, 20) <= 0) continue;
    if ((watched[0].revents & POLLIN) != 0) {
      char room[4096];
      sockaddr_storage from{};
      socklen_t size = sizeof(from);
      const ssize_t got = recvfrom(datagrams_.get(), room, sizeof(room), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 12) continue;
      const std::string answer = AnswerTo(std::string(room, static_cast<std::size_t>(got)), false);
      if (!answer.empty()) {
        sendto(datagrams_.get(), answer.data(), answer.size(), 0,
               reinterpret_cast<const sockaddr*>(&from), size);
      }
    }
    if ((watched[1].revents & POLLIN) != 0) {
      Stream stream(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      for (;;) {
        const std::string length = stream.ReadBytes(2);
        if (length.size() < 2) break;
        const std::string query =
            stream.ReadBytes(static_cast<std::size_t>(static_cast<unsigned char>(length[0])) << 8 |
                             static_cast<unsigned char>(length[1]));
        const std::string answer = AnswerTo(query, true);
        if (!stream.Send(Number(answer.size(), 2) + answer)) break;
      }
    }
  }
}

std::string PlayedResolver::AnswerTo(const std::string& query, bool tcp) {
  std::string name;
  std::size_t at = 12;
  while (at < query.size() && query[at] != 0) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(query[at]));
    name += (name.empty() ? "" : ".") + query.substr(at + 1, size);
    at += 1 + size;
  }
  const std::string question = query.substr(12, at + 5 - 12);
  const bool wants_v6 = query[at + 2] == 28;
  const std::lock_guard lock(mutex_);
  if (!wants_v6) asked_.push_back(name);
  const auto found = records_.find(name);
  const std::string id = query.substr(0, 2);
  if (found == records_.end()) {
    return id + Number(0x8183, 2) + Number(1, 2) + Number(0, 2) + Number(0, 4) + question;
  }
  const Records& records = found->second;
  if (records.silent) return {};
  if (!records.raw.empty()) return id + records.raw;
  if (records.reply) {
    const std::string reply =
        records.reply({.wire = question, .wants_v6 = wants_v6, .is_tcp = tcp});
    return reply.empty() ? reply : id + reply;
  }
  if (records.cut && !tcp) {
    return id + Number(0x8380, 2) + Number(1, 2) + Number(0, 2) + Number(0, 4) + question;
  }
  const bool later = !records.then.empty() && (wants_v6 ? count_[name] > 1 : count_[name]++ > 0);
  std::string answers;
  std::size_t count = 0;
  std::string owner = WireName(name);
  if (!records.alias.empty()) {
    answers += Record(owner, 5, WireName(records.alias));
    owner = WireName(records.alias);
    ++count;
  }
  for (const std::string& address : later ? records.then : records.addresses) {
    const bool v6 = address.find(':') != std::string::npos;
    if (v6 != wants_v6) continue;
    char bytes[16];
    Must(inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), bytes) == 1, "an address");
    answers += Record(owner, v6 ? 28 : 1, std::string(bytes, v6 ? 16 : 4));
    ++count;
  }
  return id + Number(0x8180 | records.code, 2) + Number(1, 2) + Number(count, 2) + Number(0, 4) +
         question + answers;
}

}  // namespace curfew::egress
