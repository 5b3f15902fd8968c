#include "compiler/base/console.h"

#include "compiler/base/owned_fd.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace curfew {
namespace {

TEST_CASE("results are buffered, and come before the diagnostics that follow them") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const OwnedFd reader(ends[0]);
  OwnedFd writer(ends[1]);
  {
    Console console(writer.get(), writer.get(), false, false);
    console.Out("result\n");
    console.Complain("what went wrong");
    CHECK(console.Finish());
  }
  writer.Reset();
  char text[100];
  const ssize_t size = read(reader.get(), text, sizeof text);
  REQUIRE(size > 0);
  CHECK(std::string_view(text, static_cast<std::size_t>(size)) ==
        "result\ncurfew: what went wrong\n");
}

TEST_CASE("a reader that has gone is no failure, a full disk is one") {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const OwnedFd writer(ends[1]);
  Console gone(writer.get(), 2, false, false);
  gone.Out("x");
  CHECK(gone.Finish());
  CHECK(gone.reader_gone());

  const OwnedFd full(open("/dev/full", O_WRONLY));
  REQUIRE(full.is_open());
  Console console(full.get(), 2, false, false);
  console.Out("x");
  CHECK(console.Finish().error().code == FailureCode::OutOfSpace);
}

}  // namespace
}  // namespace curfew
