// What an allowed create means on this host: an ordered list of typed steps with every size and
// time worked out. Pure data, printable; nothing is acquired here. Execution walks it forwards, and
// the end of the sandbox is the same walk backwards, so the order of steps is also the order of the
// end: what is last here (the token and the gateway, authority) goes first.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/incarnation.h"
#include "compiler/base/result.h"
#include "compiler/module/lifetime.h"
#include "compiler/module/plan_template.h"
#include "runtime/gate/permit.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace curfew::plan {

enum class Isolation { Kvm, Emulated };
std::string_view NameOf(Isolation isolation);

// Opens the image and verifies every byte of it.
struct OpenImage {
  Digest digest;
};
struct MakeCgroups {
  std::string name;
  std::uint64_t guest_bytes = 0;
};
struct MakeScratch {
  std::string serial;  // "scratch-0"
  std::string path;    // inside
  std::uint64_t bytes = 0;
};
// A network namespace whose only way out is the gateway's listening ends.
struct MakeWire {
  std::string name;
};
struct StartMachine {
  unsigned vcpus = 1;
  std::uint64_t memory_bytes = 0;
  Isolation isolation = Isolation::Kvm;
};
// The agent answers, and learns who it is.
struct JoinAgent {
  std::string host_name;
};
// Somebody answers on the wire: from here on what policy allows leaves.
struct StartGateway {};
struct MintToken {
  std::string audience;
  std::int64_t expires_ms = 0;  // wall
};
struct WriteIdentity {
  std::string path;
};

using Step = std::variant<OpenImage, MakeCgroups, MakeScratch, MakeWire, StartMachine, JoinAgent,
                          StartGateway, MintToken, WriteIdentity>;
// "image", "cgroups", "scratch", "network", "machine", "agent", "gateway", "token", "identity": the
// journal's words.
std::string_view NameOf(const Step& step);
// "a microVM with 2 processors and 512 MiB, emulated".
std::string Describe(const Step& step);

struct Plan {
  Incarnation sandbox;
  std::string class_name;
  module::ClassIndex class_index = module::NoClass;
  Digest image;
  unsigned vcpus = 1;
  std::uint64_t memory_bytes = 0;
  Isolation isolation = Isolation::Kvm;
  module::LifetimeTerms lifetime;     // monotonic
  std::int64_t deadline_wall_ms = 0;  // the same moment as lifetime.deadline_ms
  std::vector<module::TransferGrant> exports;
  std::vector<Step> steps;
};

struct Circumstances {
  Incarnation sandbox;
  std::int64_t wall_ms = 0;
  std::int64_t monotonic_ms = 0;
  std::set<std::string, std::less<>> capabilities;  // words of compiler/module/capability.h
};

inline constexpr std::string_view IdentityPath = "/run/curfew/identity.json";

// Denied (`builtin.unsupported: …`) when a step is needed that no driver of this host can do, or
// when what the template says does not fit what was allowed: then nothing was acquired.
Result<Plan> Draft(const gate::Permit<schema::Action::Create>& permit,
                   const module::PlanTemplate& granted, const Circumstances& circumstances);

// A few lines for a person.
std::string Describe(const Plan& plan);

}  // namespace curfew::plan
