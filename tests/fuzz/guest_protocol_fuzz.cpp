// What a hostile guest sends: any bytes, into a session with one of each question open. It must
// end the session or be an answer; nothing else is watched for but a crash.
#include "runtime/guest/session.h"

#include <cstdint>
#include <sys/socket.h>
#include <unistd.h>

using namespace curfew;
using namespace curfew::guest;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int ends[2];
  if (size > 64 * 1024 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return 0;
  const OwnedFd guest(ends[1]);
  Session session(OwnedFd{ends[0]}, [] { return std::int64_t{0}; });
  session.AwaitUp(1000, [](Result<Up>) {});   // 0
  session.SendConfigure({}, [](Outcome) {});  // 1
  Prepare prepare;
  prepare.arguments = {"x"};
  prepare.input = true;
  const ExecEvents events{
      {},
      [&](Stream stream, ByteView bytes) { session.Consumed(2, stream, bytes.size()); },
      [&] {
        if (session.InputRoom(2) > 0) session.SendInput(2, AsBytes("x"));
      },
      [](Result<Exited>) {}};
  session.AskProgram(prepare, [&](Result<Prepared> p) {  // 2
    if (p) session.Run(2, events);
  });
  session.ListFiles({"/**"}, [](Result<Files>) {});                              // 3
  session.FetchFile({"/a", {}, 9, 1, 1, 1}, {[](ByteView) {}, [](Outcome) {}});  // 4
  session.AskProcesses([](Result<Processes>) {});                                // 5
  for (std::size_t at = 0; at < size && !session.failure();) {
    const ssize_t put = write(guest.get(), data + at, size - at);
    if (put > 0) at += static_cast<std::size_t>(put);
    session.OnReady();
    std::uint8_t asked[4096];
    while (read(guest.get(), asked, sizeof(asked)) > 0) {
    }
  }
  return 0;
}
