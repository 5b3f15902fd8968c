#include "runtime/guest/session.h"

#include <functional>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew::guest {
namespace {

// A session whose guest is this test.
struct Guest {
  std::int64_t now_ms = 0;
  OwnedFd end;
  std::unique_ptr<Session> session;
  FrameReader reader;

  Guest() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    end = OwnedFd(ends[1]);
    session = std::make_unique<Session>(OwnedFd(ends[0]), [this] { return now_ms; });
  }
  template <typename M>
  void Say(std::uint32_t id, const M& message) {
    Bytes bytes;
    REQUIRE(AppendMessage(bytes, id, message));
    SayRaw(bytes);
  }
  void SayRaw(const Bytes& bytes) {
    REQUIRE(write(end.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    session->OnReady();
  }
  // The next frame that the host sent.
  std::optional<Frame> Hear() {
    session->OnReady();
    std::uint8_t piece[64 * 1024];
    const ssize_t got = read(end.get(), piece, sizeof(piece));
    if (got > 0) reader.Feed({piece, static_cast<std::size_t>(got)});
    return std::move(reader.Next()).value();
  }
  // A command that runs, with `events`.
  std::uint32_t Running(ExecEvents events) {
    Prepare prepare;
    prepare.arguments = {"x"};
    prepare.input = true;
    bool prepared = false;
    const std::uint32_t id =
        session->AskProgram(prepare, [&](Result<Prepared> p) { prepared = p.has_value(); });
    Say(id, Prepared{"/bin/x"});
    REQUIRE(prepared);
    session->Run(id, std::move(events));
    Say(id, Started{5});
    return id;
  }
};

FailureCode EndedBy(const Guest& guest) {
  REQUIRE(guest.session->failure());
  return guest.session->failure()->code;
}

TEST_CASE("a refusal reaches the guest as one printable line within its bound") {
  Guest guest;
  bool noted = false;
  guest.session->NoteDenial("a\nb\x1b\xff c" + std::string(2000, 'x'),
                            [&](Outcome done) { noted = done.has_value(); });
  const std::optional<Frame> frame = guest.Hear();
  REQUIRE(frame);
  const Result<Denial> denial = DecodeMessage<Denial>(*frame);
  REQUIRE(denial);
  CHECK(denial->line.size() == DenialBytesMax);
  CHECK(denial->line.rfind("a?b?? cxxx", 0) == 0);
  guest.Say(frame->id, Done{});
  CHECK(noted);
}

TEST_CASE("a guest that may have a network has one and no more") {
  Configure configure;
  configure.networks = {{"52:54:00:12:34:56", 0x0a00020f, 0x0a000202, 0x0a000203}};
  Bytes bytes;
  REQUIRE(AppendMessage(bytes, 1, configure));
  FrameReader reader;
  reader.Feed(bytes);
  const Result<Configure> read = DecodeMessage<Configure>(**reader.Next());
  REQUIRE(read);
  REQUIRE(read->networks.size() == 1);
  CHECK(read->networks[0].mac == "52:54:00:12:34:56");
  CHECK(read->networks[0].address == 0x0a00020f);
  CHECK(read->networks[0].gateway == 0x0a000202);
  CHECK(read->networks[0].resolver == 0x0a000203);
  configure.networks.push_back(configure.networks[0]);
  CHECK_FALSE(AppendMessage(bytes, 1, configure));
}

TEST_CASE("what nobody asked for ends the session, whatever it is") {
  const auto hostile = [](const std::function<void(Guest&)>& attack) {
    Guest guest;
    bool failed = false;
    guest.session->AskProcesses([&](Result<Processes> r) { failed = !r.has_value(); });
    attack(guest);
    CHECK(EndedBy(guest) == FailureCode::Malformed);
    CHECK(failed);  // and the open question got it
    CHECK(guest.session->events() == 0);
  };
  hostile([](Guest& g) { g.Say(0, Up{}); });
  hostile([](Guest& g) { g.Say(1, Done{}); });
  hostile([](Guest& g) { g.Say(1, Ready{}); });
  hostile([](Guest& g) { g.Say(1, Prepared{"/bin/x"}); });
  hostile([](Guest& g) { g.Say(1, Started{1}); });
  hostile([](Guest& g) { g.Say(1, Output{Stream::Out, {1}}); });
  hostile([](Guest& g) { g.Say(1, InputCredit{1}); });
  hostile([](Guest& g) { g.Say(1, Exited{}); });
  hostile([](Guest& g) { g.Say(1, File{}); });
  hostile([](Guest& g) { g.Say(1, FilesEnd{}); });
  hostile([](Guest& g) { g.Say(1, Data{{1}}); });
  hostile([](Guest& g) { g.Say(1, DataEnd{}); });
  hostile([](Guest& g) { g.Say(2, ProcessesEnd{}); });
  hostile([](Guest& g) { g.Say(0, Refused{}); });
  hostile([](Guest& g) { g.Say(7, Refused{}); });
  hostile([](Guest& g) { g.Say(1, PowerOff{}); });  // the host's own words
  hostile([](Guest& g) { g.Say(1, Configure{}); });
  hostile([](Guest& g) { g.SayRaw({0, 0, 0, 0, 0xee, 0, 0, 0, 1, 0, 0, 0}); });
}

TEST_CASE("a guest of another version is refused with the remedy") {
  Guest guest;
  std::optional<Failure> why;
  guest.session->AwaitUp(1000, [&](Result<Up> up) { why = up.error(); });
  guest.Say(0, Up{static_cast<std::uint16_t>(ProtocolVersion + 1), "6.1", 1, 2});
  REQUIRE(why);
  CHECK(why->message.find("bootstrap") != std::string::npos);
}

TEST_CASE("a program that is no plain path is not believed") {
  for (const char* path : {"bin/x", "/bin/../x", "/bin//x", "/", "", "/bin/x/"}) {
    Guest guest;
    Prepare prepare;
    prepare.arguments = {"x"};
    bool believed = false;
    const auto id =
        guest.session->AskProgram(prepare, [&](Result<Prepared> p) { believed = p.has_value(); });
    guest.Say(id, Prepared{path});
    CHECK_FALSE(believed);
    CHECK(EndedBy(guest) == FailureCode::Malformed);
  }
}

TEST_CASE("a command goes from question to exit, and its frames in order") {
  Guest guest;
  std::string out;
  std::optional<Exited> exited;
  const auto id = guest.Running({{},
                                 [&](Stream, ByteView data) { out += AsText(data); },
                                 {},
                                 [&](Result<Exited> e) { exited = *e; }});
  CHECK(guest.Hear()->kind == Kind::Prepare);
  CHECK(guest.Hear()->kind == Kind::Start);
  CHECK(guest.session->InputRoom(id) == CreditBytes);
  guest.session->SendInput(id, AsBytes("abc"));
  CHECK(guest.session->InputRoom(id) == CreditBytes - 3);
  CHECK(guest.Hear()->kind == Kind::Input);
  guest.Say(id, InputCredit{3});
  CHECK(guest.session->InputRoom(id) == CreditBytes);
  guest.Say(id, Output{Stream::Out, {'h', 'i'}});
  guest.Say(id, Exited{ExitKind::Status, 3, 0, 0});
  CHECK(out == "hi");
  REQUIRE(exited);
  CHECK(exited->value == 3);
  // Afterwards its id means nothing.
  guest.session->SendInput(id, AsBytes("late"));
  guest.session->Consumed(id, Stream::Out, 2);
  CHECK_FALSE(guest.session->failure());
  guest.Say(id, Output{Stream::Out, {1}});
  CHECK(EndedBy(guest) == FailureCode::Malformed);
}

TEST_CASE("credit for input that was never sent ends the session") {
  Guest guest;
  const auto id = guest.Running({});
  guest.session->SendInput(id, AsBytes("abc"));
  guest.Say(id, InputCredit{4});
  CHECK(EndedBy(guest) == FailureCode::Malformed);
}

TEST_CASE("output beyond its credit ends the session; consumed, it flows on") {
  Guest guest;
  std::size_t received = 0;
  const auto id =
      guest.Running({{}, [&](Stream, ByteView data) { received += data.size(); }, {}, {}});
  const Output chunk{Stream::Out, Bytes(ChunkBytesMax, 1)};
  for (std::size_t sent = 0; sent < CreditBytes; sent += ChunkBytesMax) guest.Say(id, chunk);
  CHECK(received == CreditBytes);
  guest.session->Consumed(id, Stream::Out, CreditBytes);
  for (std::size_t sent = 0; sent < CreditBytes; sent += ChunkBytesMax) guest.Say(id, chunk);
  CHECK_FALSE(guest.session->failure());
  guest.Say(id, Output{Stream::Out, {1}});
  CHECK(EndedBy(guest) == FailureCode::Malformed);
}

TEST_CASE("a file is exactly as long as it was announced") {
  const File file{"/work/out/a", FileKind::File, 5, 1, 2, 3};
  std::optional<Outcome> ended;
  std::string content;
  const auto fetch = [&](Guest& guest) {
    ended.reset();
    content.clear();
    return guest.session->FetchFile(file, {[&](ByteView data) { content += AsText(data); },
                                           [&](Outcome end) { ended = std::move(end); }});
  };
  Guest good;
  const auto id = fetch(good);
  good.Say(id, Data{{'h', 'e', 'l', 'l', 'o'}});
  good.Say(id, DataEnd{});
  REQUIRE(ended);
  CHECK(ended->has_value());
  CHECK(content == "hello");
  Guest longer;
  longer.Say(fetch(longer), Data{Bytes(6)});
  CHECK_FALSE(ended->has_value());
  CHECK(EndedBy(longer) == FailureCode::Malformed);
  Guest shorter;
  const auto short_id = fetch(shorter);
  shorter.Say(short_id, Data{Bytes(4)});
  shorter.Say(short_id, DataEnd{});
  CHECK_FALSE(ended->has_value());
  CHECK(EndedBy(shorter) == FailureCode::Malformed);
  Guest changed;
  changed.Say(fetch(changed), Refused{Refusal::Changed, "it changed"});
  CHECK(ended->error().code == FailureCode::Busy);
  CHECK_FALSE(changed.session->failure());
}

TEST_CASE("a listing has each path once, sorted, and no path that is not plain") {
  Guest guest;
  std::optional<Files> files;
  guest.session->ListFiles({"/work/**"}, [&](Result<Files> f) { files = *f; });
  for (const char* path : {"/work/b", "/work/a", "/work/b"})
    guest.Say(1, File{path, {}, 1, 1, 1, 1});
  guest.Say(1, FilesEnd{});
  REQUIRE(files);
  REQUIRE(files->files.size() == 2);
  CHECK(files->files[0].path == "/work/a");
  guest.session->ListFiles({"/work/**"}, [&](Result<Files>) { files.reset(); });
  guest.Say(2, File{"/work/../etc/passwd", {}, 1, 1, 1, 1});
  CHECK(EndedBy(guest) == FailureCode::Malformed);
}

TEST_CASE("an answer that does not come in time ends the session") {
  Guest guest;
  std::optional<FailureCode> code;
  guest.session->AwaitUp(1000, [&](Result<Up> up) { code = up.error().code; });
  CHECK(guest.session->deadline_ms() == 1000);
  guest.now_ms = 999;
  guest.session->OnTime();
  CHECK_FALSE(code);
  guest.now_ms = 1000;
  guest.session->OnTime();
  CHECK(code == FailureCode::TimedOut);
  // And whatever is asked afterwards fails at once.
  std::optional<FailureCode> after;
  guest.session->AskProcesses([&](Result<Processes> p) { after = p.error().code; });
  CHECK(after == FailureCode::TimedOut);
}

TEST_CASE("a guest that goes away fails everything that is open") {
  Guest guest;
  int failures = 0;
  guest.Running({{}, {}, {}, [&](Result<Exited> e) { failures += !e; }});
  guest.session->AskProcesses([&](Result<Processes> p) { failures += !p; });
  guest.session->FetchFile({"/a", {}, 5, 1, 1, 1}, {{}, [&](Outcome o) { failures += !o; }});
  guest.end.Reset();
  guest.session->OnReady();
  CHECK(EndedBy(guest) == FailureCode::PeerGone);
  CHECK(failures == 3);
}

TEST_CASE("an answer's function may ask again, and may end the session") {
  Guest guest;
  int answers = 0;
  guest.session->AskProcesses([&](Result<Processes>) {
    ++answers;
    guest.session->AskProcesses([&](Result<Processes> second) {
      ++answers;
      CHECK_FALSE(second);
    });
    guest.session->End(Failure(FailureCode::Interrupted, "enough"));
  });
  guest.Say(1, ProcessesEnd{});
  CHECK(answers == 2);
  CHECK(EndedBy(guest) == FailureCode::Interrupted);
}

TEST_CASE("a question over its bounds is answered at once and not sent") {
  Guest guest;
  std::optional<FailureCode> code;
  guest.session->Write({"/x", 0400, false, Bytes(WriteFileBytesMax + 1)},
                       [&](Outcome done) { code = done.error().code; });
  CHECK(code == FailureCode::TooLarge);
  CHECK_FALSE(guest.Hear());
  CHECK_FALSE(guest.session->failure());
}

}  // namespace
}  // namespace curfew::guest
