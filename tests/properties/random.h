// A source of choices that a seed repeats. CURFEW_SEED sets it; every property prints it when it
// fails.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace curfew::properties {

inline std::uint64_t SeedFromEnvironment() {
  const char* text = std::getenv("CURFEW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20260729;
}

// How much more than usual to try: CURFEW_EFFORT=100 is a long run.
inline std::size_t EffortFromEnvironment() {
  const char* text = std::getenv("CURFEW_EFFORT");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0 to `bound` - 1.
  std::size_t Below(std::size_t bound) { return engine_() % bound; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& list) {
    return list[Below(list.size())];
  }
  template <typename T>
  T Pick(std::initializer_list<T> list) {
    return list.begin()[Below(list.size())];
  }
  template <typename T>
  void Shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[Below(i)]);
  }
  std::uint64_t Next() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace curfew::properties
