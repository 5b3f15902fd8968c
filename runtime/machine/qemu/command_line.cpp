#include "runtime/machine/qemu/command_line.h"

#include <fmt/format.h>

namespace curfew::machine::qemu {
namespace {

std::string KernelArguments(const Spec& spec) {
  // tsc_early_khz: without it the kernel calibrates against a clock that is not there, and now and
  // then spins for ever. A panic resets, and a reset ends QEMU: a crash is never a hang.
  return fmt::format(
      "console=ttyS0 quiet reboot=t panic=-1 oops=panic tsc_early_khz={} cryptomgr.notests=1",
      spec.tsc_khz);
}

}  // namespace

std::string DiskDevice(std::size_t index) { return fmt::format("disk{}", index); }
std::string DiskPlaceholder(std::size_t index) { return fmt::format("empty{}", index); }

std::vector<std::string> CommandLine(const Spec& spec, const std::string& qemu_path) {
  const bool kvm = spec.isolation == Isolation::Kvm;
  std::vector<std::string> line = {
      qemu_path, "-name", spec.name, "-M", "microvm,x-option-roms=off,rtc=on,pit=off,pic=off",
      "-accel", kvm ? "kvm" : "tcg,tb-size=64", "-cpu", kvm ? "host" : "max", "-smp",
      fmt::format("{}", spec.vcpus), "-m", fmt::format("{}M", spec.memory_bytes >> 20),
      "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-S", "-sandbox",
      "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", "-chardev",
      fmt::format("socket,id=qmp,fd={}", int{QmpFd}), "-mon", "chardev=qmp,mode=control",
      "-chardev", fmt::format("socket,id=console,fd={}", int{ConsoleFd}), "-serial",
      "chardev:console", "-kernel", fmt::format("/proc/self/fd/{}", int{KernelFd}), "-initrd",
      fmt::format("/proc/self/fd/{}", int{InitrdFd}), "-append", KernelArguments(spec), "-device",
      "virtio-serial-device", "-chardev", fmt::format("socket,id=agent,fd={}", int{AgentFd}),
      "-device", "virtserialport,chardev=agent,name=agent.0", "-device", "virtio-rng-device",
      // -add-fd closes the number that it is given.
      "-add-fd", fmt::format("fd={},set=1", int{RootFd}), "-blockdev",
      "driver=file,filename=/dev/fdset/1,node-name=root-file,read-only=on,auto-read-only=off",
      "-blockdev", "driver=raw,file=root-file,node-name=root,read-only=on", "-device",
      "virtio-blk-device,drive=root,serial=root"};
  // Always in this place: a clone of a machine must have its devices in the same order.
  if (spec.nic) {
    line.insert(line.end(),
                {"-netdev", fmt::format("tap,id=net,fd={},vhost=off", int{TapFd}), "-device",
                 fmt::format("virtio-net-device,netdev=net,mac={}", spec.nic->mac)});
  }
  for (std::size_t i = 0; i < spec.disks.size(); ++i) {
    const Disk& disk = spec.disks[i];
    line.insert(
        line.end(),
        {"-blockdev",
         fmt::format("driver=null-co,size={},read-zeroes=on,node-name={}", disk.bytes,
                     DiskPlaceholder(i)),
         // A full host disk is the guest's I/O error, not the end of its time.
         "-device",
         fmt::format("virtio-blk-device,drive={},serial={},id={},werror=report,rerror=report",
                     DiskPlaceholder(i), disk.serial, DiskDevice(i))});
  }
  return line;
}

}  // namespace curfew::machine::qemu
