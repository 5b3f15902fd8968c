#include "runtime/machine/qemu/qmp.h"

#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace curfew::machine::qemu {
namespace {

// A QEMU that is this test.
struct Fake {
  OwnedFd end;
  std::vector<QmpEvent> events;
  std::optional<Qmp> qmp;

  Fake() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    end = OwnedFd(ends[1]);
    qmp.emplace(OwnedFd(ends[0]), [this](const QmpEvent& event) { events.push_back(event); });
  }
  Outcome Say(const std::string& text) {
    REQUIRE(write(end.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    return qmp->OnReadable();
  }
  std::string Hear() {
    char text[4096];
    const ssize_t got = read(end.get(), text, sizeof(text));
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
  }
};

constexpr char Greeting[] = "{\"QMP\": {\"version\": {}, \"capabilities\": []}}\r\n";

TEST_CASE("commands go one at a time, after the greeting, in order") {
  Fake fake;
  std::vector<std::string> done;
  for (const char* name : {"a", "b"}) {
    fake.qmp->Execute(std::string("{\"execute\":\"") + name + "\"}", OwnedFd(),
                      [&done, name](const Outcome& outcome) {
                        done.push_back(name + std::string(outcome ? " ok" : " failed"));
                      });
  }
  CHECK(fake.Hear().empty());
  REQUIRE(fake.Say(Greeting));
  CHECK(fake.Hear() == "{\"execute\":\"a\"}\n");
  REQUIRE(fake.Say("{\"event\": \"RTC_CHANGE\"}\r\n"));
  CHECK(fake.Hear().empty());
  REQUIRE(fake.Say("{\"return\": {}}\r\n"));
  CHECK(fake.Hear() == "{\"execute\":\"b\"}\n");
  REQUIRE(fake.Say("{\"error\": {\"class\": \"GenericError\", \"desc\": \"no\"}}\r\n"));
  CHECK(done == std::vector<std::string>{"a ok", "b failed"});
  CHECK(fake.events.size() == 1);
}

TEST_CASE("an event carries its reason, however it is cut") {
  Fake fake;
  REQUIRE(fake.Say(Greeting));
  REQUIRE(fake.Say("{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"rea"));
  REQUIRE(fake.Say("son\": \"guest-reset\"}}\r\n"));
  REQUIRE(fake.events.size() == 1);
  CHECK(fake.events[0].reason == "guest-reset");
}

TEST_CASE("what is no answer ends it") {
  for (const char* line :
       {"hello\n", "[]\n", "{\"return\": {}}\n", "{\"QMP\": {}}\n", "{}\n", "{\"event\": 5}\n",
        "{\"return\": {}, \"error\": {}}\n", "\n", "\xff\xfe\n"}) {
    Fake fake;
    REQUIRE(fake.Say(Greeting));
    INFO(line);
    CHECK_FALSE(fake.Say(line));
    CHECK(fake.qmp->ended());
  }
}

TEST_CASE("a line without an end is not collected for ever") {
  Fake fake;
  REQUIRE(fake.Say(Greeting));
  Outcome last = Ok();
  for (int i = 0; i < 40 && last; ++i) last = fake.Say(std::string(16 * 1024, 'x'));
  REQUIRE_FALSE(last);
  CHECK(last.error().code == FailureCode::TooLarge);
}

TEST_CASE("a descriptor travels with its command") {
  Fake fake;
  REQUIRE(fake.Say(Greeting));
  fake.qmp->Execute("{\"execute\":\"add-fd\"}", OwnedFd(open("/dev/null", O_RDONLY)),
                    [](const Outcome&) {});
  char text[64];
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{text, sizeof(text)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  REQUIRE(recvmsg(fake.end.get(), &message, MSG_CMSG_CLOEXEC) > 0);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  REQUIRE(header != nullptr);
  CHECK(header->cmsg_type == SCM_RIGHTS);
  int received = -1;
  std::copy_n(CMSG_DATA(header), sizeof(received), reinterpret_cast<unsigned char*>(&received));
  CHECK(OwnedFd(received).is_open());
}

}  // namespace
}  // namespace curfew::machine::qemu
