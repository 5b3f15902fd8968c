// The edges of the real host that a keeper stands on, tried on this host.
#include "runtime/host/linux/event_loop.h"
#include "runtime/host/linux/export_directory.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/host/linux/peer.h"
#include "runtime/host/linux/sealed_memory.h"
#include "runtime/host/linux/spawn.h"
#include "tests/fakes/places.h"

#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::host {
namespace {

TEST_CASE("messages stay whole, carry descriptors, and say when the other side is gone") {
  auto ends = *MessageSocket::Pair();
  MessageSocket here(std::move(ends.first));
  auto there = std::make_unique<MessageSocket>(std::move(ends.second));
  CHECK_FALSE(here.Receive()->has_value());
  const OwnedFd memory = *SealBytes("test", AsBytes("sealed"));
  const int fds[] = {memory.get()};
  REQUIRE(*there->Send(AsBytes("one"), fds));
  REQUIRE(*there->Send(AsBytes("two")));
  SocketMessage message = **here.Receive();
  CHECK(AsText(message.bytes) == "one");
  REQUIRE(message.fds.size() == 1);
  CHECK(AsText(SealedMemory::Map(message.fds[0], 100)->bytes()) == "sealed");
  CHECK(AsText((*here.Receive())->bytes) == "two");
  CHECK(there->Send(Bytes(MessageBytesMax + 1)).error().code == FailureCode::TooLarge);
  CHECK(there->Send({}).error().code == FailureCode::TooLarge);
  there.reset();
  CHECK(here.Receive().error().code == FailureCode::PeerGone);
  CHECK(here.Send(AsBytes("x")).error().code == FailureCode::PeerGone);
}

TEST_CASE("a reader that is behind makes the sender wait, and loses nothing") {
  auto ends = *MessageSocket::Pair();
  MessageSocket here(std::move(ends.first));
  MessageSocket there(std::move(ends.second));
  const Bytes large(64 * 1024, 7);
  std::size_t sent = 0;
  while (*here.Send(large)) ++sent;
  CHECK(sent >= 1);
  std::size_t received = 0;
  while (*there.Receive()) ++received;
  CHECK(received == sent);
  CHECK(*here.Send(large));
}

TEST_CASE("the peer of a socket pair is who made it") {
  const auto ends = *MessageSocket::Pair();
  const Peer peer = *PeerOf(ends.first.get());
  CHECK(peer.pid == getpid());
  CHECK(peer.is_root == (geteuid() == 0));
  CHECK(peer.id.starts_with("user:"));
  CHECK_FALSE(peer.groups.empty());
}

TEST_CASE("memory that could still change is refused") {
  const OwnedFd open_memory(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(ftruncate(open_memory.get(), 10) == 0);
  CHECK(SealedMemory::Map(open_memory, 100).error().code == FailureCode::Tampered);
  const OwnedFd sealed = *SealBytes("test", AsBytes("0123456789"));
  CHECK(SealedMemory::Map(sealed, 9).error().code == FailureCode::TooLarge);
  CHECK(write(sealed.get(), "x", 1) < 0);
}

TEST_CASE("a detached program gets the descriptors that are given and no others") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  const OwnedFd stray(open("/dev/null", O_RDONLY));  // not close-on-exec
  Result<Detached> started = SpawnDetached(
      "/bin/sh", {"-c", "pwd >&3; ls /proc/self/fd | tr '\\n' ' ' >&3"}, {writer.get()}, 2);
  REQUIRE(started);
  CHECK(WaitFor(started->pid) == 0);
  writer.Reset();
  char text[200] = {};
  std::size_t size = 0;
  for (ssize_t more = 0; (more = read(reader.get(), text + size, sizeof text - size - 1)) > 0;) {
    size += static_cast<std::size_t>(more);
  }
  // ls itself has the folder open, as 4.
  CHECK(std::string(text) == "/\n0 1 2 3 4 ");
  CHECK(SpawnDetached("/nowhere/program", {}, {}, 2).error().code == FailureCode::NotFound);
}

TEST_CASE("a loop tells sources what is ready and what is due, and keeps its own deadline") {
  struct Source final : EventSource {
    int fd = -1;
    int ready = 0;
    int due = 0;
    std::optional<std::int64_t> at;
    [[nodiscard]] std::vector<Watch> Watches() const override {
      return {{.fd = fd, .events = POLLIN}};
    }
    void OnReady() override {
      char byte = 0;
      ready += static_cast<int>(read(fd, &byte, 1));
    }
    [[nodiscard]] std::optional<std::int64_t> due_ms() const override { return at; }
    void OnTime() override {
      ++due;
      at.reset();
    }
  } source;
  const std::unique_ptr<Clock> clock = MakeLinuxClock();
  EventLoop loop(*clock);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const OwnedFd reader(ends[0]);
  const OwnedFd writer(ends[1]);
  source.fd = reader.get();
  loop.Add(source);
  CHECK_FALSE(loop.RunUntil([&] { return source.ready > 0; }, clock->MonotonicNowMs() + 20));
  REQUIRE(write(writer.get(), "x", 1) == 1);
  source.at = clock->MonotonicNowMs() + 20;
  CHECK(loop.RunUntil([&] { return source.ready > 0 && source.due > 0; },
                      clock->MonotonicNowMs() + 60'000));
  loop.Remove(source);
}

struct ExportFixture {
  fakes::TemporaryDirectory place;
  std::string out = place.path() + "/out";
  ExportFixture() { REQUIRE(mkdir(out.c_str(), 0755) == 0); }
  [[nodiscard]] ExportDirectory Open() const {
    return ExportDirectory(*ExportDirectory::Open(out));
  }
  static FailureCode CodeOf(const Result<ExportFile>& result) {
    return result ? FailureCode::Usage : result.error().code;
  }
};

TEST_CASE_METHOD(ExportFixture, "an export has its name only when it is whole") {
  ExportDirectory directory = Open();
  {
    ExportFile dropped = *directory.Create("deep/er/dropped");
    REQUIRE(dropped.Write(AsBytes("half")));
  }
  CHECK(access((out + "/deep/er/dropped").c_str(), F_OK) != 0);
  ExportFile file = *directory.Create("deep/file");
  REQUIRE(file.Write(AsBytes("con")));
  REQUIRE(file.Write(AsBytes("tent")));
  CHECK(access((out + "/deep/file").c_str(), F_OK) != 0);
  CHECK(*file.Finish() == Sha256(AsBytes("content")));
  std::string content;
  std::getline(std::ifstream(out + "/deep/file"), content);
  CHECK(content == "content");
  CHECK(CodeOf(directory.Create("deep/file")) == FailureCode::AlreadyExists);
  file.Withdraw();
  CHECK(access((out + "/deep/file").c_str(), F_OK) != 0);
}

TEST_CASE_METHOD(ExportFixture, "no name and no link leads out of the folder") {
  ExportDirectory directory = Open();
  for (const char* name : {"", "/", "/etc/x", "../x", "a/../../x", "a/./b", "a//b", "a/"}) {
    INFO(name);
    CHECK(CodeOf(directory.Create(name)) == FailureCode::Malformed);
  }
  CHECK(CodeOf(directory.Create(std::string("a\0b", 3))) == FailureCode::Malformed);
  REQUIRE(symlink("/tmp", (out + "/link").c_str()) == 0);
  CHECK(CodeOf(directory.Create("link/x")) == FailureCode::PermissionDenied);
  CHECK(CodeOf(directory.Create("link")) == FailureCode::AlreadyExists);
}

TEST_CASE_METHOD(ExportFixture, "a file that takes the name meanwhile is not written over") {
  ExportDirectory directory = Open();
  ExportFile file = *directory.Create("name");
  REQUIRE(file.Write(AsBytes("ours")));
  std::ofstream(out + "/name") << "theirs";
  CHECK(file.Finish().error().code == FailureCode::AlreadyExists);
}

}  // namespace
}  // namespace curfew::host
