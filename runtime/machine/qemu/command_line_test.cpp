#include "runtime/machine/qemu/command_line.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::machine::qemu {
namespace {

Spec Example() {
  Spec spec;
  spec.name = "sb-1";
  spec.vcpus = 2;
  spec.memory_bytes = 512ull << 20;
  spec.isolation = Isolation::Emulated;
  spec.tsc_khz = 2'596'134;
  spec.disks.push_back({OwnedFd(), Secret("00aa"), 1 << 30, "work"});
  return spec;
}

TEST_CASE("the command line is the one that was proven") {
  std::string line;
  for (const std::string& argument : CommandLine(Example(), "/usr/bin/qemu-system-x86_64")) {
    line += (line.empty() ? "" : argument[0] == '-' ? "\n" : " ") + argument;
  }
  CHECK(line ==
        "/usr/bin/qemu-system-x86_64\n"
        "-name sb-1\n"
        "-M microvm,x-option-roms=off,rtc=on,pit=off,pic=off\n"
        "-accel tcg,tb-size=64\n"
        "-cpu max\n"
        "-smp 2\n"
        "-m 512M\n"
        "-nodefaults\n"
        "-no-user-config\n"
        "-display none\n"
        "-no-reboot\n"
        "-S\n"
        "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny\n"
        "-chardev socket,id=qmp,fd=3\n"
        "-mon chardev=qmp,mode=control\n"
        "-chardev socket,id=console,fd=5\n"
        "-serial chardev:console\n"
        "-kernel /proc/self/fd/6\n"
        "-initrd /proc/self/fd/7\n"
        "-append console=ttyS0 quiet reboot=t panic=-1 oops=panic tsc_early_khz=2596134 "
        "cryptomgr.notests=1\n"
        "-device virtio-serial-device\n"
        "-chardev socket,id=agent,fd=4\n"
        "-device virtserialport,chardev=agent,name=agent.0\n"
        "-device virtio-rng-device\n"
        "-add-fd fd=8,set=1\n"
        "-blockdev driver=file,filename=/dev/fdset/1,node-name=root-file,read-only=on,"
        "auto-read-only=off\n"
        "-blockdev driver=raw,file=root-file,node-name=root,read-only=on\n"
        "-device virtio-blk-device,drive=root,serial=root\n"
        "-blockdev driver=null-co,size=1073741824,read-zeroes=on,node-name=empty0\n"
        "-device virtio-blk-device,drive=empty0,serial=work,id=disk0,werror=report,rerror=report");
}

TEST_CASE("a card stands behind the root and before every other disk") {
  Spec spec = Example();
  spec.nic = Nic{OwnedFd(), "52:54:00:12:34:56"};
  std::string line;
  for (const std::string& argument : CommandLine(spec, "qemu")) line += argument + " ";
  CHECK(
      line.find(
          "serial=root -netdev tap,id=net,fd=9,vhost=off "
          "-device virtio-net-device,netdev=net,mac=52:54:00:12:34:56 -blockdev driver=null-co") !=
      std::string::npos);
}

TEST_CASE("no key is ever an argument") {
  for (const std::string& argument : CommandLine(Example(), "qemu")) {
    CHECK(argument.find("00aa") == std::string::npos);
  }
}

TEST_CASE("hardware is asked for by name") {
  Spec spec = Example();
  spec.isolation = Isolation::Kvm;
  const auto line = CommandLine(spec, "qemu");
  const auto accel = std::find(line.begin(), line.end(), "-accel");
  REQUIRE(accel != line.end());
  CHECK(*(accel + 1) == "kvm");
}

}  // namespace
}  // namespace curfew::machine::qemu
