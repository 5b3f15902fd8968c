// Native code, the interpreter with its index and without, and the model read without tables give
// one answer to every request; and whoever breaks one of them is caught by that.
#include "tests/differential/faults.h"
#include "tests/differential/mix.h"
#include "tests/differential/subject.h"
#include "tests/properties/generated_policy.h"
#include "tests/properties/generated_request.h"

#include <algorithm>
#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::differential {
namespace {

using module::Request;
using properties::PolicyText;
using properties::Random;

// A usual run compares this many pairs, and CURFEW_EFFORT times as many where it is set.
constexpr std::size_t kPolicies = 125;
constexpr std::size_t kRequestsEach = 400;
static_assert(kPolicies * kRequestsEach * 20 >= 1'000'000, "the full run has a million pairs");

bool Differs(const PolicyText& policy, const Request& request) {
  const auto subject = Subject::Make(policy.Text());
  return subject != nullptr && !subject->Difference(request, true).empty();
}

// Takes away what can be taken away with the difference still there.
template <typename T>
void ShrinkList(PolicyText& policy, std::vector<T>& list, const Request& request) {
  for (std::size_t i = list.size(); i-- > 0;) {
    const T removed = list[i];
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    if (!Differs(policy, request))
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), removed);
  }
}
void ShrinkPolicy(PolicyText& policy, const Request& request) {
  ShrinkList(policy, policy.rules, request);
  ShrinkList(policy, policy.classes, request);
  for (auto& of : policy.classes) {
    ShrinkList(policy, of.rules, request);
    for (auto& [plane, statements] : of.planes) ShrinkList(policy, statements, request);
  }
}
Request Shrunk(const Subject& subject, Request request) {
  for (std::size_t i = 0; i < properties::RequestGenerator::SlotCount(request.action()); ++i) {
    Request smaller = request;
    smaller.SetUnknown(static_cast<schema::Slot>(i));
    if (!subject.Difference(smaller, true).empty()) request = smaller;
  }
  return request;
}

[[noreturn]] void Report(PolicyText policy, const Request& request, std::uint64_t seed) {
  ShrinkPolicy(policy, request);
  const auto subject = Subject::Make(policy.Text());
  const Request smaller = Shrunk(*subject, request);
  UNSCOPED_INFO(policy.Text());
  UNSCOPED_INFO(properties::Describe(smaller));
  UNSCOPED_INFO(subject->Difference(smaller, true));
  FAIL("the engines differ; CURFEW_SEED=" << seed << " repeats it");
  throw std::logic_error("FAIL returns");
}

TEST_CASE("the engines agree") {
  const std::uint64_t seed = properties::SeedFromEnvironment();
  Random random(seed);
  Mix mix;
  std::size_t natives = 0;
  std::size_t indexes = 0;
  std::map<module::IndexKind, std::size_t> kinds;
  const std::size_t policies = kPolicies * properties::EffortFromEnvironment();
  for (std::size_t made = 0; made < policies;) {
    const PolicyText policy = properties::GeneratePolicy(random);
    const auto subject = Subject::Make(policy.Text());
    if (subject == nullptr) continue;  // the checker refuses it
    ++made;
    natives += subject->is_native() ? 1 : 0;
    indexes += subject->tables().indexes.empty() ? 0 : 1;
    for (const auto& index : subject->tables().indexes) ++kinds[index.kind];
    mix.Forget();
    properties::RequestGenerator generator(random);
    for (std::size_t i = 0; i < kRequestsEach; ++i) {
      const Request request = generator.Generate();
      // The model takes its time, and has its own test.
      const bool with_model = i % 8 == 0;
      if (!subject->Difference(request, with_model).empty()) Report(policy, request, seed);
      mix.Add(*subject, request);
    }
  }
  WARN(fmt::format("CURFEW_SEED={}: {}{} of {} sets have an index", seed, mix.Table(), indexes,
                   policies));
  CHECK(natives == policies);
  CHECK(indexes * 10 > policies);
  using module::IndexKind;
  for (const IndexKind kind : {IndexKind::Text, IndexKind::Integer, IndexKind::Path,
                               IndexKind::WidePath, IndexKind::Address}) {
    UNSCOPED_INFO("too few indexes of kind " << static_cast<int>(kind) << ": " << kinds[kind]);
    CHECK(kinds[kind] * 50 > policies);
  }
  for (const std::string& complaint : mix.Complaints()) {
    UNSCOPED_INFO("too few or too many pairs: " << complaint);
  }
  CHECK(mix.Complaints().empty());
}

// How many requests it took to see the fault; nothing where none did.
std::optional<std::size_t> Caught(const Fault& fault, std::uint64_t seed) {
  Random random(seed);
  constexpr std::size_t kPoliciesMax = 400;
  constexpr std::size_t kRequests = 300;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < kPoliciesMax; ++i) {
    const PolicyText policy = properties::GeneratePolicy(random);
    const auto subject = Subject::Make(policy.Text(), &fault);
    if (subject == nullptr) continue;
    properties::RequestGenerator generator(random);
    for (std::size_t r = 0; r < kRequests; ++r) {
      ++asked;
      // A fault in lowering is in every engine alike, and only the model tells.
      const bool with_model = static_cast<bool>(fault.lowering);
      if (!subject->Difference(generator.Generate(), with_model).empty()) return asked;
    }
  }
  return std::nullopt;
}

TEST_CASE("every seeded fault is caught") {
  const std::uint64_t seed = properties::SeedFromEnvironment();
  const std::vector<Fault> faults = SeededFaults();
  REQUIRE(faults.size() >= 20);
  std::string table;
  for (const Fault& fault : faults) {
    const auto caught = Caught(fault, seed);
    INFO(fault.name << ", CURFEW_SEED=" << seed);
    CHECK(caught.has_value());
    table += fmt::format("  {:<60} {}\n", fault.name,
                         caught ? fmt::format("after {}", *caught) : "never");
  }
  WARN(fmt::format("{} faults, each caught after so many requests:\n{}", faults.size(), table));
}

}  // namespace
}  // namespace curfew::differential
