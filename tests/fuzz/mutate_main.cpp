// The driver of fuzz targets where libFuzzer is not: every seed as it is, cut at every length, and
// mutated a few thousand times. The seed of the mutations is printed; CURFEW_SEED sets it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

#ifdef CURFEW_FUZZ_MUTATIONS
constexpr int kMutationsPerSeed = CURFEW_FUZZ_MUTATIONS;
#else
constexpr int kMutationsPerSeed = 3000;
#endif
constexpr std::size_t kCutsMax = 2000;

void Feed(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string Mutated(std::string input, const std::vector<std::string>& seeds,
                    std::mt19937_64& random) {
  const auto below = [&random](std::size_t bound) {
    return static_cast<std::size_t>(random() % (bound == 0 ? 1 : bound));
  };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(input.size() + 1);
    switch (below(5)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(random());
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(random()));
        break;
      case 2:
        input.erase(at, below(16));
        break;
      case 3:  // a piece of its own again
        input.insert(below(input.size() + 1), input.substr(at, below(64)));
        break;
      default: {
        const std::string& other = seeds[below(seeds.size())];
        input.insert(at, other.substr(below(other.size() + 1), below(64)));
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> seeds;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds: name a folder that has some\n");
    return 1;
  }
  const char* wanted = std::getenv("CURFEW_SEED");
  const std::uint64_t seed =
      wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : std::random_device()();
  std::printf("%zu seeds, CURFEW_SEED=%llu\n", seeds.size(), static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // an input that ends the program leaves it said
  std::mt19937_64 random(seed);
  for (const std::string& input : seeds) {
    for (std::size_t cut = 0; cut <= std::min(input.size(), kCutsMax); ++cut) {
      Feed(input.substr(0, cut));
    }
    Feed(input);
    for (int i = 0; i < kMutationsPerSeed; ++i) Feed(Mutated(input, seeds, random));
  }
  return 0;
}
