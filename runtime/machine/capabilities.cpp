#include "runtime/machine/capabilities.h"

#include "runtime/machine/cgroups.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::machine {
namespace {

constexpr char QemuPath[] = "/usr/bin/qemu-system-x86_64";
constexpr int QemuMajorMin = 7;

struct ClosePipe {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

// What a fixed command line (nothing of it is anybody's input) prints.
std::string OutputOf(const std::string& command) {
  const std::unique_ptr<FILE, ClosePipe> pipe(popen((command + " 2>&1 </dev/null").c_str(), "re"));
  std::string text;
  std::array<char, 4096> piece{};
  while (pipe && text.size() < 64 * 1024) {
    const std::size_t got = fread(piece.data(), 1, piece.size(), pipe.get());
    if (got == 0) break;
    text.append(piece.data(), got);
  }
  return text;
}

Finding ProbeQemu(Capabilities& found) {
  Finding finding{"qemu", false, true, {}, "install the package qemu-system-x86"};
  if (access(QemuPath, X_OK) != 0) {
    finding.detail = fmt::format("{} is not there", QemuPath);
    return finding;
  }
  const std::string banner = OutputOf(fmt::format("{} --version", QemuPath));
  const std::string mark = "version ";
  const std::size_t at = banner.find(mark);
  if (at != std::string::npos) {
    const std::size_t start = at + mark.size();
    found.qemu_version = banner.substr(start, banner.find_first_of(" (\n", start) - start);
  }
  if (std::atoi(found.qemu_version.c_str()) < QemuMajorMin) {
    finding.detail = fmt::format("its version is `{}`, and {} or newer is needed",
                                 found.qemu_version, QemuMajorMin);
    return finding;
  }
  if (OutputOf(fmt::format("{} -M help", QemuPath)).find("\nmicrovm ") == std::string::npos) {
    finding.detail = "it has no machine `microvm`";
    return finding;
  }
  if (OutputOf(fmt::format("{} -sandbox help", QemuPath)).find("not enabled") !=
      std::string::npos) {
    finding.detail = "it was built without seccomp";
    return finding;
  }
  found.qemu = true;
  found.qemu_path = QemuPath;
  return {"qemu", true, true, fmt::format("{} with microvm", found.qemu_version), {}};
}

Finding ProbeKvmFinding(Capabilities& found) {
  const Outcome usable = ProbeKvm();
  found.kvm = usable.has_value();
  if (found.kvm) return {"kvm", true, false, "runs Linux guests on hardware", {}};
  return {"kvm", false, false,
          usable.error().message + "; only emulation is possible, which is no security boundary",
          "use a host with hardware virtualisation (and nested virtualisation, if it is itself a "
          "guest), and load kvm_intel or kvm_amd; or write `isolation any` into the policy"};
}

Finding ProbeCgroups(Capabilities& found) {
  const auto groups = Cgroups::Create(fmt::format("probe-{}", getpid()), {64 << 20, 16});
  if (!groups) {
    return {"cgroups", false, true, groups.error().message,
            "run as root on a host whose cpu, memory and pids controllers can be written"};
  }
  const std::size_t hierarchies = groups->directories().size();
  const Outcome removed = groups->Remove();
  if (!removed) return {"cgroups", false, true, removed.error().message, "look at that folder"};
  found.cgroups = true;
  return {"cgroups",
          true,
          true,
          hierarchies == 1 ? "version 2" : fmt::format("version 1, {} hierarchies", hierarchies),
          {}};
}

Finding ProbeSandbox(Capabilities& found) {
  found.sandbox = geteuid() == 0;
  if (found.sandbox)
    return {"sandbox", true, true, "QEMU gets a uid and namespaces of its own", {}};
  return {"sandbox", false, true, "only root can give QEMU a uid and namespaces of its own",
          "run as root"};
}

Finding ProbeTsc(Capabilities& found) {
  const auto khz = MeasureTscKhz();
  if (!khz) return {"tsc", false, true, khz.error().message, "use another processor"};
  found.tsc_khz = *khz;
  return {"tsc", true, true, fmt::format("{} kHz", *khz), {}};
}

}  // namespace

Capabilities Probe() {
  Capabilities found;
  found.findings = {ProbeQemu(found), ProbeKvmFinding(found), ProbeSandbox(found),
                    ProbeCgroups(found), ProbeTsc(found)};
  return found;
}

}  // namespace curfew::machine
