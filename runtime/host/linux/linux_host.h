// The real host. Made by the main.cpp of a program and handed down by reference; nothing else makes
// one.
#pragma once

#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"
#include "runtime/host/files.h"
#include "runtime/host/processes.h"

#include <memory>

namespace curfew::host {

std::unique_ptr<Clock> MakeLinuxClock();
std::unique_ptr<Entropy> MakeLinuxEntropy();
std::unique_ptr<Files> MakeLinuxFiles();
std::unique_ptr<Processes> MakeLinuxProcesses();

// All four, for a composition root.
struct LinuxHost {
  std::unique_ptr<Clock> clock = MakeLinuxClock();
  std::unique_ptr<Entropy> entropy = MakeLinuxEntropy();
  std::unique_ptr<Files> files = MakeLinuxFiles();
  std::unique_ptr<Processes> processes = MakeLinuxProcesses();
};

}  // namespace curfew::host
