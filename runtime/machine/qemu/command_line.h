// The arguments of QEMU, as a pure function: every channel is a descriptor with a fixed number, no
// path names anything, and no key is among them.
#pragma once

#include "runtime/machine/machine.h"

#include <string>
#include <vector>

namespace curfew::machine::qemu {

// The descriptors that the process starts with, by number.
enum Descriptor : int {
  QmpFd = 3,
  AgentFd = 4,
  ConsoleFd = 5,
  KernelFd = 6,
  InitrdFd = 7,
  RootFd = 8,
  TapFd = 9,  // where there is a card
};

// The name of the device and of the placeholder of the disk with this index, for QMP.
std::string DiskDevice(std::size_t index);
std::string DiskPlaceholder(std::size_t index);

// `qemu_path` first. The guest is stopped at its first instruction, and its disks are empty
// placeholders, until QMP attaches the real ones and lets it go.
std::vector<std::string> CommandLine(const Spec& spec, const std::string& qemu_path);

}  // namespace curfew::machine::qemu
