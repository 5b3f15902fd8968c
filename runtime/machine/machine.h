// The interface to a virtual machine: what it is made of, and what its owner can do with it. One
// poll loop owns it; nothing blocks but Kill. qemu/ implements it. What runs inside is guest/'s
// business: this room only hands over the channel.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/secret.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace curfew::machine {

// Kvm is a boundary made by hardware. Emulated is not a security boundary at all: a fault in the
// emulator's translator is a way out, held only by the process sandbox around it.
enum class Isolation { Kvm, Emulated };

// An encrypted disk: a LUKS1 file and the key that opens it.
struct Disk {
  OwnedFd file;
  Secret key;
  std::uint64_t bytes = 0;  // of the payload
  std::string serial;       // how the guest finds it: 1 to 20 of a-z 0-9 -
};

// A network card on a tap. Whoever made the tap says what it leads to.
struct Nic {
  OwnedFd tap;  // with a virtio_net_hdr before each frame
  std::string mac;
};

// Everything that a machine is made of. Descriptors are owned: a machine that is gone holds
// nothing.
struct Spec {
  std::string name;  // a sandbox id: letters, digits, hyphens
  OwnedFd kernel;    // ELF with a PVH entry, readable by everybody
  OwnedFd initrd;    // likewise
  OwnedFd root;      // the erofs image, attached read-only with the serial "root"
  std::vector<Disk> disks;
  std::optional<Nic> nic;
  unsigned vcpus = 1;
  std::uint64_t memory_bytes = 256ull << 20;
  Isolation isolation = Isolation::Kvm;
  std::uint32_t tsc_khz = 0;  // as MeasureTscKhz has it; emulation needs it
  // The process is a member of these from its first instruction (paths of cgroup.procs files).
  std::vector<std::string> cgroup_procs;
  // Dropped to before the first byte of QEMU runs; one uid for each machine.
  uid_t uid = 0;
  gid_t gid = 0;
};

enum class State {
  Starting,  // from Start to the first instruction of the guest
  Running,
  Stopping,
  Exited,
};

enum class ExitReason {
  PoweredOff,  // the guest ended itself, as its agent does
  Crashed,     // the guest reset itself or its kernel panicked
  Stopped,     // we asked QEMU to quit
  Killed,      // by SIGKILL: ours, or the kernel's (memory)
  Failed,      // QEMU ended by itself: it could not start, or broke
};
std::string_view NameOf(ExitReason reason);

struct Exit {
  ExitReason reason = ExitReason::Failed;
  int status = 0;  // exit status, or the signal's number for Killed
  std::uint64_t cpu_ns = 0;
  std::string message;  // unless PoweredOff or Stopped: what QEMU and the console said last
};

// Who the process is, for the journal: a pid alone may be reused.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat
};

struct Watch {
  int fd;
  short events;
};

class Machine {
 public:
  virtual ~Machine() = default;  // kills and reaps what still runs

  // --- the poll loop ---
  [[nodiscard]] virtual std::vector<Watch> Watches() const = 0;
  // To be called when one of the watched descriptors is ready; looks at all of them.
  virtual void OnReady() = 0;
  // Monotonic milliseconds at which OnTime must be called at the latest.
  [[nodiscard]] virtual std::optional<std::int64_t> deadline_ms() const = 0;
  virtual void OnTime() = 0;

  [[nodiscard]] virtual State state() const = 0;
  // Set once the state is Exited.
  [[nodiscard]] virtual const std::optional<Exit>& exit() const = 0;
  // Why the machine did not come up or broke; it is then on its way to Exited.
  [[nodiscard]] virtual const std::optional<Failure>& failure() const = 0;

  [[nodiscard]] virtual ProcessIdentity identity() const = 0;
  // Names the process for as long as this lives, whatever its pid is used for later; ready to be
  // read once it has ended. Stays the machine's.
  [[nodiscard]] virtual int pidfd() const = 0;
  // Used up to now by the whole process.
  [[nodiscard]] virtual std::uint64_t cpu_ns() const = 0;
  // The last bytes of the guest's console, made printable.
  [[nodiscard]] virtual std::string console_tail() const = 0;

  // The host's end of the agent's port. Once.
  virtual OwnedFd TakeAgentChannel() = 0;

  // Begins the end: quit by QMP, and SIGKILL when that is not over in `patience_ms`. A caller that
  // has an agent lets it power off first. Harmless when repeated.
  virtual void Stop(std::int64_t patience_ms = 200) = 0;
  // SIGKILL by pidfd, and waits for the process to be gone. Blocks for some milliseconds.
  virtual void Kill() = 0;
};

}  // namespace curfew::machine
