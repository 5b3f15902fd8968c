#include "tests/end_to_end/guest_rig.h"

#include "runtime/machine/capabilities.h"
#include "runtime/machine/qemu/qemu_machine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::tests {
namespace {

constexpr uid_t TestUid = 64'999;
constexpr std::uint64_t MemoryBytes = 256ull << 20;

std::string ImageFolder() {
  const char* folder = std::getenv("CURFEW_IMAGE");
  return folder != nullptr ? folder : CURFEW_IMAGE_FOLDER;
}

template <typename T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace

std::int64_t GuestRig::NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string GuestRig::Missing() {
  if (geteuid() != 0) return "needs root";
  if (!machine::Probe().CanEmulate()) return "needs QEMU and control groups";
  const auto manifest = image::ReadManifest(ImageFolder());
  return manifest ? "" : manifest.error().message;
}

GuestRig::GuestRig(Network network, const std::function<void(const network::Wire&)>& on_wired) {
  char folder[] = "/tmp/curfew-rig-XXXXXX";
  state_ = mkdtemp(folder);
  image_ = Must(image::Open(ImageFolder()));
  const std::string name = fmt::format("rig-{}", getpid());
  cgroups_ = Must(machine::Cgroups::Create(name, {machine::MemoryLimitFor(MemoryBytes), 256}));
  auto scratch = Must(disk::CreateScratch({state_, 64 << 20}));

  machine::Spec spec;
  spec.name = name;
  spec.kernel = std::move(image_->kernel);
  spec.initrd = std::move(image_->initrd);
  spec.root = std::move(image_->root);
  spec.disks.push_back({std::move(scratch.file), std::move(scratch.key), scratch.bytes, "work"});
  if (network == Network::Wired) {
    wire_ = Must(network::MakeWire("cf-rigaaaaaaaaaaaaa"));
    if (on_wired) on_wired(*wire_);
    spec.nic = machine::Nic{std::move(wire_->tap), std::string(network::GuestMac)};
  }
  spec.memory_bytes = MemoryBytes;
  spec.isolation = machine::Isolation::Emulated;
  spec.tsc_khz = Must(machine::MeasureTscKhz());
  spec.cgroup_procs = cgroups_->ProcsFiles();
  spec.uid = spec.gid = TestUid;
  machine_ = Must(machine::qemu::Start(std::move(spec), "/usr/bin/qemu-system-x86_64", NowMs));
  session_ = std::make_unique<guest::Session>(machine_->TakeAgentChannel(), NowMs);

  bool ready = false;
  session_->AwaitUp(120'000, [&](Result<guest::Up> up) {
    if (!up) return;
    guest::Configure configure;
    configure.host_name = name;
    configure.wall_ns = 1'800'000'000'000'000'000;
    configure.entropy = Bytes(64, 7);
    configure.disks = {{"work", "/work"}};
    if (wire_) {
      configure.networks = {
          {std::string(network::GuestMac), network::NumberOf(network::GuestAddress),
           network::NumberOf(network::GatewayAddress), network::NumberOf(network::GatewayAddress)}};
    }
    configure.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
    session_->SendConfigure(configure, [&](Outcome configured) { ready = configured.has_value(); });
  });
  if (!Drive([&] { return ready; })) {
    throw std::runtime_error(fmt::format(
        "no machine: {} {}\n{}", machine_->failure() ? machine_->failure()->message : "",
        session_->failure() ? session_->failure()->message : "", machine_->console_tail()));
  }
}

GuestRig::~GuestRig() {
  Lose();
  if (cgroups_) static_cast<void>(cgroups_->Remove());
  std::filesystem::remove_all(state_);
}

void GuestRig::Lose() {
  session_.reset();
  machine_.reset();
}

bool GuestRig::Drive(const std::function<bool()>& done, std::int64_t patience_ms) {
  const std::int64_t end = NowMs() + patience_ms;
  while (!done()) {
    std::int64_t wake = end;
    for (const auto deadline : {machine_->deadline_ms(), session_->deadline_ms()}) {
      if (deadline) wake = std::min(wake, *deadline);
    }
    std::vector<pollfd> watched;
    if (session_->events() != 0) watched.push_back({session_->fd(), session_->events(), 0});
    for (const machine::Watch& watch : machine_->Watches()) {
      watched.push_back({watch.fd, watch.events, 0});
    }
    if (on_turn) wake = std::min(wake, NowMs() + 50);
    const std::int64_t patience = std::max<std::int64_t>(0, wake - NowMs());
    poll(watched.data(), watched.size(), static_cast<int>(patience));
    if (on_turn) on_turn();
    session_->OnReady();
    machine_->OnReady();
    session_->OnTime();
    machine_->OnTime();
    if (NowMs() >= end || (watched.empty() && !done())) return false;
  }
  return true;
}

Ran GuestRig::Run(std::vector<std::string> arguments, const std::string& input,
                  std::int64_t timeout_ms, const std::string& user) {
  Ran ran;
  bool over = false;
  std::size_t sent = 0;
  guest::Prepare prepare;
  prepare.arguments = std::move(arguments);
  prepare.directory = "/work";
  prepare.user = user;
  prepare.timeout_ms = static_cast<std::uint64_t>(timeout_ms);
  prepare.input = !input.empty();
  std::uint32_t id = 0;
  const auto feed = [&] {
    const std::size_t room = std::min(session_->InputRoom(id), input.size() - sent);
    session_->SendInput(id, AsBytes(std::string_view(input).substr(sent, room)));
    sent += room;
    if (sent == input.size() && room > 0) session_->SendInputEnd(id);
  };
  id = session_->AskProgram(prepare, [&](Result<guest::Prepared> prepared) {
    if (!prepared) {
      ran.exited = prepared.error();
      over = true;
      return;
    }
    ran.prepared = *prepared;
    guest::ExecEvents events;
    events.on_output = [&](guest::Stream stream, ByteView data) {
      (stream == guest::Stream::Out ? ran.out : ran.error) += AsText(data);
      session_->Consumed(id, stream, data.size());
    };
    events.on_input_room = feed;
    events.on_exit = [&](Result<guest::Exited> exited) {
      ran.exited = std::move(exited);
      over = true;
    };
    session_->Run(id, std::move(events));
    if (!input.empty()) feed();
  });
  Drive([&] { return over; });
  return ran;
}

std::string GuestRig::Fetch(const guest::File& file) {
  std::string content;
  bool over = false;
  std::uint32_t id = 0;
  id = session_->FetchFile(file, {[&](ByteView data) {
                                    content += AsText(data);
                                    session_->Consumed(id, guest::Stream::File, data.size());
                                  },
                                  [&](Outcome ended) {
                                    if (!ended) content = "failed: " + ended.error().message;
                                    over = true;
                                  }});
  Drive([&] { return over; });
  return content;
}

}  // namespace curfew::tests
