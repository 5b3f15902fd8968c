// Tries what a Linux guest needs of KVM: real mode, paging, and the speed of hardware. Some hosts
// have a /dev/kvm that is an interpreter for kernels of its own kind; a stock kernel crawls there
// for minutes and then dies.
#include "compiler/base/owned_fd.h"
#include "runtime/machine/capabilities.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/kvm.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace curfew::machine {
namespace {

constexpr std::size_t MemoryBytes = 4 << 20;
constexpr std::uint64_t CodeAt = 0x1000;
constexpr std::uint64_t GdtAt = 0x500;
constexpr int PatienceMs = 25;

enum class Mode { Real, Protected, Long };

// Pages that are unmapped when their owner goes.
class Mapping {
 public:
  Mapping(std::size_t bytes, int fd)
      : bytes_(bytes),
        start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0)) {}
  ~Mapping() {
    if (good()) munmap(start_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] bool good() const { return start_ != MAP_FAILED; }
  [[nodiscard]] std::uint8_t* bytes() const { return static_cast<std::uint8_t*>(start_); }

 private:
  std::size_t bytes_;
  void* start_;
};

void Put64(const Mapping& memory, std::uint64_t at, std::uint64_t value) {
  std::memcpy(memory.bytes() + at, &value, sizeof(value));
}

void EnterReal(kvm_sregs& special) {
  special.cs.base = 0;
  special.cs.selector = 0;
}

// Flat segments, a descriptor table in the guest's memory, and identity paging of 4 MiB.
void EnterPaged(kvm_sregs& special, const Mapping& memory, bool is_long) {
  kvm_segment code{};
  code.limit = 0xffffffff;
  code.selector = 8;
  code.present = 1;
  code.type = 11;
  code.db = is_long ? 0 : 1;
  code.s = 1;
  code.l = is_long ? 1 : 0;
  code.g = 1;
  special.cs = code;
  kvm_segment data = code;
  data.type = 3;
  data.selector = 16;
  data.db = 1;
  data.l = 0;
  special.ds = special.es = special.fs = special.gs = special.ss = data;
  Put64(memory, GdtAt + 8, is_long ? 0x00af9b000000ffffULL : 0x00cf9b000000ffffULL);
  Put64(memory, GdtAt + 16, 0x00cf93000000ffffULL);
  special.gdt.base = GdtAt;
  special.gdt.limit = 23;
  special.cr3 = 0x2000;
  if (is_long) {
    Put64(memory, 0x2000, 0x3003);
    Put64(memory, 0x3000, 0x4003);
    Put64(memory, 0x4000, 0x83);
    Put64(memory, 0x4008, 0x200083);
    special.cr4 = 0x20;
    special.efer = 0x500;
    special.cr0 = 0x80050033;
  } else {
    Put64(memory, 0x2000, 0x83);
    special.cr4 = 0x10;
    special.cr0 = 0x80000031;
  }
}

void SetSupportedCpuid(int kvm, int vcpu) {
  constexpr std::size_t EntriesMax = 200;
  std::vector<std::uint8_t> buffer(sizeof(kvm_cpuid2) + EntriesMax * sizeof(kvm_cpuid_entry2));
  auto* cpuid = reinterpret_cast<kvm_cpuid2*>(buffer.data());
  cpuid->nent = EntriesMax;
  if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid) == 0) ioctl(vcpu, KVM_SET_CPUID2, cpuid);
}

void Ignore(int) {}

// Enters the guest until it halts. A second thread ends it after the patience.
Outcome RunUntilHalt(int vcpu, kvm_run& run, const char* what) {
  struct sigaction quiet{};
  struct sigaction before{};
  quiet.sa_handler = Ignore;
  sigaction(SIGUSR2, &quiet, &before);
  std::atomic<bool> over = false;
  const pthread_t runner = pthread_self();
  std::thread watch([&over, &run, runner] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(PatienceMs);
    while (!over && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // Again and again: the signal may come just before the guest is entered.
    while (!over) {
      run.immediate_exit = 1;
      pthread_kill(runner, SIGUSR2);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const int entered = ioctl(vcpu, KVM_RUN, 0);
  const int error = errno;
  over = true;
  watch.join();
  sigaction(SIGUSR2, &before, nullptr);
  if (entered < 0 && error == EINTR) {
    return Failure(FailureCode::Unsupported,
                   fmt::format("{} takes more than {} ms: this KVM interprets", what, PatienceMs));
  }
  if (entered < 0) return SystemFailure(error, fmt::format("run {} on KVM", what));
  if (run.exit_reason != KVM_EXIT_HLT) {
    return Failure(
        FailureCode::Unsupported,
        fmt::format("{} ends with KVM exit {} instead of a halt", what, run.exit_reason));
  }
  return Ok();
}

Outcome Try(int kvm, Mode mode, std::span<const std::uint8_t> code, const char* what) {
  const auto failed = [what](const char* step) {
    return SystemFailure(errno, fmt::format("{} for {} on KVM", step, what));
  };
  const OwnedFd vm(ioctl(kvm, KVM_CREATE_VM, 0));
  if (!vm.is_open()) return failed("make a machine");
  const Mapping memory(MemoryBytes, -1);
  if (!memory.good()) return failed("map memory");
  std::memcpy(memory.bytes() + CodeAt, code.data(), code.size());
  ioctl(vm.get(), KVM_SET_TSS_ADDR, 0xfffbd000UL);
  kvm_userspace_memory_region region{};
  region.memory_size = MemoryBytes;
  region.userspace_addr = reinterpret_cast<std::uint64_t>(memory.bytes());
  if (ioctl(vm.get(), KVM_SET_USER_MEMORY_REGION, &region) < 0) return failed("give memory");
  const OwnedFd vcpu(ioctl(vm.get(), KVM_CREATE_VCPU, 0));
  if (!vcpu.is_open()) return failed("make a processor");
  SetSupportedCpuid(kvm, vcpu.get());
  const int run_bytes = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
  if (run_bytes < static_cast<int>(sizeof(kvm_run))) return failed("size a processor");
  const Mapping run(static_cast<std::size_t>(run_bytes), vcpu.get());
  if (!run.good()) return failed("map a processor");
  kvm_sregs special{};
  if (ioctl(vcpu.get(), KVM_GET_SREGS, &special) < 0) return failed("read registers");
  if (mode == Mode::Real) {
    EnterReal(special);
  } else {
    EnterPaged(special, memory, mode == Mode::Long);
  }
  kvm_regs registers{};
  registers.rip = CodeAt;
  registers.rflags = 2;
  registers.rsp = 0x8000;
  if (ioctl(vcpu.get(), KVM_SET_SREGS, &special) < 0 ||
      ioctl(vcpu.get(), KVM_SET_REGS, &registers) < 0) {
    return failed("set registers");
  }
  return RunUntilHalt(vcpu.get(), *reinterpret_cast<kvm_run*>(run.bytes()), what);
}

}  // namespace

Outcome ProbeKvm() {
  const OwnedFd kvm(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!kvm.is_open()) {
    if (errno == ENOENT) {
      return Failure(FailureCode::Unsupported, "there is no /dev/kvm");
    }
    return SystemFailure(errno, "open /dev/kvm");
  }
  if (ioctl(kvm.get(), KVM_GET_API_VERSION, 0) != 12) {
    return Failure(FailureCode::Unsupported, "/dev/kvm speaks an unknown version");
  }
  // hlt; hlt; mov ecx, 1000000; loop: dec ecx; jnz loop; hlt
  static constexpr std::uint8_t Halt[] = {0xf4};
  static constexpr std::uint8_t Loop[] = {0xb9, 0x40, 0x42, 0x0f, 0x00,
                                          0xff, 0xc9, 0x75, 0xfc, 0xf4};
  CURFEW_TRY_VOID(Try(kvm.get(), Mode::Real, Halt, "real mode"));
  CURFEW_TRY_VOID(Try(kvm.get(), Mode::Protected, Halt, "paging in protected mode"));
  return Try(kvm.get(), Mode::Long, Loop, "a million turns of a loop");
}

}  // namespace curfew::machine
