#include "runtime/plan/plan.h"

#include "compiler/values/quantity.h"

#include <fmt/format.h>

namespace curfew::plan {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

std::string SizeOf(std::uint64_t bytes) {
  return values::SizeText(static_cast<std::int64_t>(bytes));
}

}  // namespace

std::string_view NameOf(Isolation isolation) {
  switch (isolation) {
    case Isolation::Kvm:
      return "kvm";
    case Isolation::Emulated:
      return "emulated";
  }
  return "?";
}

std::string_view NameOf(const Step& step) {
  static constexpr std::string_view Names[] = {"image", "cgroups", "scratch", "network", "machine",
                                               "agent", "gateway", "token",   "identity"};
  static_assert(std::size(Names) == std::variant_size_v<Step>);
  return Names[step.index()];
}

std::string Describe(const Step& step) {
  return std::visit(
      Overloaded{
          [](const OpenImage& s) { return "image " + ToString(s.digest); },
          [](const MakeCgroups& s) {
            return fmt::format("control groups curfew/{} for a guest of {}", s.name,
                               SizeOf(s.guest_bytes));
          },
          [](const MakeScratch& s) {
            return fmt::format("an encrypted disk of {} at {}", SizeOf(s.bytes), s.path);
          },
          [](const MakeWire&) {
            return std::string("a network of its own that leads to the gateway and nowhere else");
          },
          [](const StartMachine& s) {
            return fmt::format("a microVM with {} and {}, {}", Counted(s.vcpus, "processor"),
                               SizeOf(s.memory_bytes), NameOf(s.isolation));
          },
          [](const JoinAgent& s) { return fmt::format("the agent inside, as {}", s.host_name); },
          [](const StartGateway&) { return std::string("the gateway that judges what leaves"); },
          [](const MintToken& s) {
            return fmt::format("a token for \"{}\" until {}", s.audience,
                               values::TimeText(s.expires_ms / 1000 * 1000));
          },
          [](const WriteIdentity& s) { return "the identity document at " + s.path; }},
      step);
}

std::string Describe(const Plan& plan) {
  std::string text = fmt::format("{} of class {}, until {}\n", plan.sandbox.id, plan.class_name,
                                 values::TimeText(plan.deadline_wall_ms / 1000 * 1000));
  for (const Step& step : plan.steps) {
    text += fmt::format("  {:9} {}\n", NameOf(step), Describe(step));
  }
  return text;
}

}  // namespace curfew::plan
