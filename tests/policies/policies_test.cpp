// The policies that are shipped: each alone, as a team takes it, and all of them as one set. What
// lies in the folder is found, so that none is forgotten.
#include "tests/command_line/program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::tests {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CURFEW_SOURCE_DIR;

// What is shipped, from the root of the repository; the folder itself is a set too.
std::vector<std::string> Policies() {
  std::vector<std::string> policies;
  for (const auto& entry : fs::directory_iterator(kRoot / "policies")) {
    if (entry.path().extension() == ".curfew") {
      policies.push_back("policies/" + entry.path().filename().string());
    }
  }
  std::sort(policies.begin(), policies.end());
  return policies;
}

std::string ReadMe() {
  std::ifstream file(kRoot / "policies/README.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void CheckQuiet(const Workplace& place, const std::string& command) {
  const Ran ran = place.Shell(fmt::format("cd '{}' && {}", kRoot.string(), command));
  INFO(command << "\n" << ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(ran.out.empty());
  CHECK(ran.err.empty());
}

TEST_CASE("a policy that is shipped has no mistake and no finding, and is in the one layout") {
  const Workplace place;
  std::vector<std::string> sets = Policies();
  REQUIRE(sets.size() >= 10);
  sets.push_back("policies");
  for (const std::string& set : sets) {
    CheckQuiet(place, "curfew check " + set);
    CheckQuiet(place, "curfew lint --fail-level info " + set);
  }
  CheckQuiet(place, "curfew fmt --check -d policies");
}

TEST_CASE("its tests meet every rule, and every clause both ways") {
  const Workplace place;
  for (const std::string& policy : Policies()) {
    const Ran ran = place.Shell(
        fmt::format("cd '{}' && curfew test --coverage --threshold 100 --clause-threshold 100 {}",
                    kRoot.string(), policy));
    INFO(policy << "\n" << ran.out << ran.err);
    CHECK(ran.status == 0);
    CHECK_THAT(ran.out, Catch::Matchers::Contains(" passed, 0 failed\n"));
  }
}

TEST_CASE("its comment says what leaves, what is kept and what to change") {
  for (const std::string& policy : Policies()) {
    std::ifstream file(kRoot / policy, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    INFO(policy);
    CHECK(text.starts_with("# For "));
    for (const char* said : {"\n# Out: ", "\n# Kept: ", "\n# Before use: "}) {
      CHECK(text.find(said) < text.find("\nlanguage 1\n"));
    }
  }
}

TEST_CASE("the README names each, and its commands work as they are written") {
  const Workplace place;
  const std::string text = ReadMe();
  for (const std::string& policy : Policies()) {
    const std::string name = fs::path(policy).filename().string();
    INFO(name);
    CHECK(text.find(fmt::format("\n| [{0}]({0}) | ", name)) != std::string::npos);
  }
  std::size_t commands = 0;
  for (std::size_t at = text.find("\ncurfew "); at != std::string::npos;
       at = text.find("\ncurfew ", at + 1)) {
    const std::string command = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    const Ran ran = place.Shell(fmt::format("cd '{}' && {}", kRoot.string(), command));
    INFO(command << "\n" << ran.out << ran.err);
    CHECK(ran.status == 0);
    ++commands;
  }
  CHECK(commands > 2);
}

}  // namespace
}  // namespace curfew::tests
