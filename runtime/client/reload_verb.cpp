#include "runtime/client/native_code.h"
#include "runtime/client/station.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/host/linux/named_socket.h"
#include "runtime/host/linux/peer.h"
#include "runtime/host/linux/sealed_memory.h"
#include "runtime/keeper/reload_door.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

// A keeper whose machine still boots answers when it is up.
constexpr std::int64_t AnswerMs = 180'000;

struct Reloaded {
  std::string sandbox;
  keeper::ReloadedMessage answer;
};

class ReloadVerb final : public Verb {
 public:
  explicit ReloadVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "reload"; }
  [[nodiscard]] std::string_view summary() const override {
    return "put another policy set in force for the sandboxes that run";
  }
  [[nodiscard]] std::string_view example() const override {
    return "A set with errors changes nothing. Otherwise every sandbox that runs is judged by the "
           "new set from then on:\nflows that it denies are cut, its time can only become shorter, "
           "and a sandbox whose class is not in the set\nis closed. Image, sizes and mounts stay "
           "as they were made.\n"
           "exit status: 0 all have it, 1 some have not (each line says why), 3 the set has "
           "errors\n\n"
           "example:\n  curfew reload policies/ images.curfew\n"
           "  curfew reload policies/ images.curfew --sandbox cf-abcdefghij234567";
  }
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", policies_, "files and folders of the policy set, or a bundle")
        ->required();
    app.add_option("--root", root_, std::string(RootHelp));
    app.add_option("--trust", trusted_keys_, std::string(TrustHelp))->allow_extra_args(false);
    app.add_option("--sandbox", sandbox_, "only this one (default: all that run)");
    app.add_flag("--allow-empty", allow_empty_, "it is no failure when nothing runs");
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
  }

  int Run(Console& console) override {
    const Result<int> status = Reload(console);
    if (status) return *status;
    console.Complain(status.error().message);
    if (status.error().code == FailureCode::InvalidPolicy) {
      console.Err("nothing is reloaded: the policy sets in force stay in force\n");
    }
    return ExitStatusOf(status.error().code);
  }

 private:
  Result<int> Reload(Console& console) {
    if (!sandbox_.empty() && !IsSandboxId(sandbox_)) {
      return Failure(FailureCode::Usage,
                     Printable(sandbox_, 60) + " is no sandbox's id; `curfew ps` lists them");
    }
    CURFEW_TRY(const Bytes module, means_.open_policy(policies_, trusted_keys_, root_));
    CURFEW_TRY(const OwnedFd memory, host::SealBytes("curfew-module", module));
    CURFEW_TRY(const std::unique_ptr<Station> station, Station::Open(means_, state_));
    const Result<OwnedFd> native_code = NativeCodeFor(means_, station->state(), module);
    if (!native_code && native_code.error().message != NothingGoesOut) {
      console.Complain("the interpreter will decide, slower and not otherwise: " +
                       native_code.error().message);
    }
    CURFEW_TRY(const std::vector<store::Sandbox> sandboxes, Live(*station));
    if (sandboxes.empty() && !allow_empty_) {
      return Failure(FailureCode::NotFound,
                     sandbox_.empty()
                         ? "no sandbox runs, so there is nothing to reload"
                         : sandbox_ + " does not run; `curfew ps` lists those that do");
    }
    bool all = true;
    for (const store::Sandbox& sandbox : sandboxes) {
      const Reloaded reloaded{.sandbox = sandbox.incarnation.id,
                              .answer = AnswerOf(sandbox, memory.get(), native_code)};
      console.Out(format_ == "json" ? JsonLine(reloaded) : Line(reloaded));
      all = all && reloaded.answer.failure.empty();
    }
    return all ? exit_status::Fine : exit_status::CouldNotRun;
  }

  [[nodiscard]] Result<std::vector<store::Sandbox>> Live(Station& station) const {
    CURFEW_TRY(const std::vector<store::Sandbox> open, station.store().List(true));
    std::vector<store::Sandbox> live;
    for (const store::Sandbox& sandbox : open) {
      if (!sandbox_.empty() && sandbox.incarnation.id != sandbox_) continue;
      CURFEW_TRY(const bool lives, lifecycle::KeeperLives(means_.processes, means_.clock, sandbox));
      if (lives) live.push_back(sandbox);
    }
    return live;
  }

  [[nodiscard]] keeper::ReloadedMessage AnswerOf(const store::Sandbox& sandbox, int module,
                                                 const Result<OwnedFd>& native_code) const {
    Result<keeper::ReloadedMessage> answer = Ask(sandbox, module, native_code);
    if (answer) return *std::move(answer);
    keeper::ReloadedMessage failed;
    failed.failure = answer.error().message;
    return failed;
  }

  [[nodiscard]] Result<keeper::ReloadedMessage> Ask(const store::Sandbox& sandbox, int module,
                                                    const Result<OwnedFd>& native_code) const {
    const std::string& id = sandbox.incarnation.id;
    CURFEW_TRY(OwnedFd connected, host::ConnectTo(keeper::ReloadDoorName(id)));
    // Whoever listens there must be its keeper.
    CURFEW_TRY(const host::Peer peer, host::PeerOf(connected.get()));
    if (!peer.is_root || !sandbox.keeper || peer.pid != sandbox.keeper->pid) {
      return Failure(FailureCode::PermissionDenied, "another process than its keeper answers");
    }
    host::MessageSocket socket(std::move(connected));
    keeper::ReloadMessage asked{.sandbox = sandbox.incarnation, .no_native_code = {}};
    std::vector<int> fds = {module};
    if (native_code) {
      fds.push_back(native_code->get());
    } else {
      asked.no_native_code = native_code.error().message;
    }
    CURFEW_TRY(const Bytes bytes, keeper::EncodeMessage(0, asked));
    CURFEW_TRY(const bool sent, socket.Send(bytes, fds));
    if (!sent) return Failure(FailureCode::Busy, "its keeper is behind; repeat");
    CURFEW_TRY(const host::SocketMessage message, Await(socket));
    CURFEW_TRY(const keeper::Packet packet, keeper::DecodePacket(message.bytes));
    return keeper::DecodeMessage<keeper::ReloadedMessage>(packet);
  }

  [[nodiscard]] Result<host::SocketMessage> Await(host::MessageSocket& socket) const {
    const std::int64_t until_ms = means_.clock.MonotonicNowMs() + AnswerMs;
    for (;;) {
      Result<std::optional<host::SocketMessage>> received = socket.Receive();
      if (!received && received.error().code == FailureCode::PeerGone) {
        return Failure(FailureCode::PeerGone, "it ended before it could be reloaded");
      }
      if (!received) return std::move(received).error();
      if (*received) return **std::move(received);
      const std::int64_t left_ms = until_ms - means_.clock.MonotonicNowMs();
      if (left_ms <= 0) return Failure(FailureCode::TimedOut, "its keeper did not answer");
      pollfd ready{.fd = socket.fd(), .events = POLLIN, .revents = 0};
      static_cast<void>(poll(&ready, 1, static_cast<int>(left_ms)));
    }
  }

  static std::string Line(const Reloaded& reloaded) {
    const keeper::ReloadedMessage& answer = reloaded.answer;
    if (!answer.failure.empty()) {
      return fmt::format("{}  not reloaded, its old set stays in force: {}\n", reloaded.sandbox,
                         Printable(answer.failure, 400));
    }
    return fmt::format("{}  generation {}, {} {} cut{}\n", reloaded.sandbox, answer.generation,
                       answer.flows_cut, answer.flows_cut == 1 ? "flow" : "flows",
                       answer.closes ? "; its class is gone, so it closes (class.gone)" : "");
  }

  static std::string JsonLine(const Reloaded& reloaded) {
    evidence::Json line = reloaded.answer.ToJson();
    line["version"] = 1;
    line["sandbox"] = reloaded.sandbox;
    const Result<std::string> text = evidence::Canonical(line);
    CURFEW_CHECK(text.has_value(), "what came as JSON can be written");
    return *text + "\n";
  }

  const Means& means_;
  std::vector<std::string> policies_;
  std::vector<std::string> trusted_keys_;
  std::string root_;
  std::string sandbox_;
  bool allow_empty_ = false;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeReloadVerb(const Means& means) {
  return std::make_unique<ReloadVerb>(means);
}

}  // namespace curfew::client
