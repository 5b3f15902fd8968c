#include "compiler/schema/axioms.h"

#include "compiler/base/check.h"

#include <algorithm>
#include <array>

namespace curfew::schema {
namespace {

using Kind = Axiom::Kind;

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kPortMost = 65535;

constexpr Axiom AtLeast(Slot slot, std::int64_t number) { return {Kind::AtLeast, slot, number, 0}; }
constexpr Axiom AtMost(Slot slot, std::int64_t number) { return {Kind::AtMost, slot, number, 0}; }
constexpr Axiom NotBelow(Slot slot, Slot other) { return {Kind::NotBelow, slot, 0, other}; }
constexpr Axiom Of(Kind kind, Slot slot) { return {kind, slot, 0, 0}; }

constexpr std::array kEvery = {
    AtLeast(slot::NowTimeOfDay, 0),
    AtMost(slot::NowTimeOfDay, kDayMs - 1),
    Of(Kind::NoGroup, slot::CallerId),
    Of(Kind::OnlyGroups, slot::CallerGroups),
};
constexpr std::array kSandbox = {
    AtLeast(slot::SandboxAge, 0),
    AtLeast(slot::SandboxIdle, 0),
    Of(Kind::NoGroup, slot::SandboxCreator),
};

// "this one included": a counter that counts what is asked is 1 or more.
constexpr std::array kCreate = {
    AtLeast(slot::CreateCpu, 1),     AtLeast(slot::CreateMemory, 1),
    AtLeast(slot::CreateDisk, 1),    AtLeast(slot::CreateTtl, 1),
    AtLeast(slot::CreateRunning, 1), Of(Kind::FreeVariables, slot::CreateEnv),
};
constexpr std::array kResume = {
    AtLeast(slot::ResumeTtl, 1),
    AtLeast(slot::ResumeSnapshotAge, 0),
    NotBelow(slot::ResumeSnapshotLineageAge, slot::ResumeSnapshotAge),
    AtLeast(slot::ResumeSnapshotLineageAge, 0),
    AtLeast(slot::ResumeSnapshotSize, 0),
    AtLeast(slot::ResumeSnapshotBranches, 1),
};
constexpr std::array kExec = {Of(Kind::NoNul, slot::ExecArgs)};
constexpr std::array kEgress = {
    AtLeast(slot::EgressPort, 1),  AtMost(slot::EgressPort, kPortMost),
    AtLeast(slot::EgressBytes, 0), AtLeast(slot::EgressRequests, 1),
    AtLeast(slot::EgressTotal, 0), NotBelow(slot::EgressTotal, slot::EgressBytes),
};
constexpr std::array kExpose = {
    AtLeast(slot::ExposePort, 1),
    AtMost(slot::ExposePort, kPortMost),
    AtLeast(slot::ExposeLasts, 1),
};
constexpr std::array kSnapshot = {
    AtLeast(slot::SnapshotExpiresIn, 1),
    AtLeast(slot::SnapshotSize, 0),
    AtLeast(slot::SnapshotKept, 1),
};
constexpr std::array kImport = {
    AtLeast(slot::ImportSize, 0),
    AtLeast(slot::ImportTotal, 0),
    NotBelow(slot::ImportTotal, slot::ImportSize),
};
constexpr std::array kExport = {
    AtLeast(slot::ExportSize, 0),
    AtLeast(slot::ExportTotal, 0),
    NotBelow(slot::ExportTotal, slot::ExportSize),
};
constexpr std::array kExtend = {
    AtLeast(slot::ExtendBy, 1),
    AtLeast(slot::ExtendTimes, 1),
    AtLeast(slot::ExtendTotal, 1),
    NotBelow(slot::ExtendTotal, slot::ExtendBy),
};

template <std::size_t... sizes>
constexpr auto Joined(const std::array<Axiom, sizes>&... parts) {
  std::array<Axiom, (sizes + ...)> all{};
  auto* end = all.begin();
  ((end = std::copy(parts.begin(), parts.end(), end)), ...);
  return all;
}

constexpr auto kOfCreate = Joined(kEvery, kCreate);
constexpr auto kOfResume = Joined(kEvery, kSandbox, kResume);
constexpr auto kOfExec = Joined(kEvery, kSandbox, kExec);
constexpr auto kOfEgress = Joined(kEvery, kSandbox, kEgress);
constexpr auto kOfExpose = Joined(kEvery, kSandbox, kExpose);
constexpr auto kOfSnapshot = Joined(kEvery, kSandbox, kSnapshot);
constexpr auto kOfImport = Joined(kEvery, kSandbox, kImport);
constexpr auto kOfExport = Joined(kEvery, kSandbox, kExport);
constexpr auto kOfExtend = Joined(kEvery, kSandbox, kExtend);
constexpr auto kOfObserve = Joined(kEvery, kSandbox);

}  // namespace

std::span<const Axiom> AxiomsOf(Action action) {
  switch (action) {
    case Action::Create:
      return kOfCreate;
    case Action::Resume:
      return kOfResume;
    case Action::Exec:
      return kOfExec;
    case Action::Egress:
      return kOfEgress;
    case Action::Expose:
      return kOfExpose;
    case Action::Snapshot:
      return kOfSnapshot;
    case Action::Import:
      return kOfImport;
    case Action::Export:
      return kOfExport;
    case Action::Extend:
      return kOfExtend;
    case Action::Observe:
      return kOfObserve;
  }
  CURFEW_UNREACHABLE("the switch names every action");
}

}  // namespace curfew::schema
