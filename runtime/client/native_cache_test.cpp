// Code that was kept is found again as it was; anything else is as good as none.
#include "runtime/client/native_cache.h"

#include "runtime/host/linux/linux_host.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/places.h"

#include <catch2/catch.hpp>

namespace curfew::client {
namespace {

struct Scene {
  fakes::TemporaryDirectory place;
  std::unique_ptr<host::Files> files = host::MakeLinuxFiles();
  fakes::FakeEntropy entropy;
  evidence::SigningKey key = *evidence::SigningKey::LoadOrCreate(
      *files, entropy, place.path() + "/key", place.path() + "/key.pub");
  std::string folder = place.path() + "/code";
  NativeCache cache{*files, key, folder, "compiler 1"};

  Scene() { REQUIRE(files->MakeDirectory(folder, 0700)); }
  [[nodiscard]] std::vector<std::string> Names() const { return *files->List(folder); }
};

Bytes Code(std::uint8_t fill) { return Bytes(10'000, fill); }
Digest Module(std::uint8_t number) { return Sha256(Bytes{number}); }

TEST_CASE("native code that was kept is found again, by its set and its maker") {
  const Scene scene;
  CHECK_FALSE(scene.cache.Find(Module(1)));
  REQUIRE(scene.cache.Keep(Module(1), Code(1)));
  REQUIRE(scene.cache.Keep(Module(2), Code(2)));
  CHECK(scene.cache.Find(Module(1)) == Code(1));
  CHECK(scene.cache.Find(Module(2)) == Code(2));
  CHECK_FALSE(scene.cache.Find(Module(3)));
  // Another compiler or processor neither runs this code nor takes its place.
  const NativeCache other(*scene.files, scene.key, scene.folder, "compiler 2");
  CHECK_FALSE(other.Find(Module(1)));
  REQUIRE(other.Keep(Module(1), Code(3)));
  CHECK(other.Find(Module(1)) == Code(3));
  CHECK(scene.cache.Find(Module(1)) == Code(1));
}

TEST_CASE("native code is trusted by the signature of this host alone") {
  const Scene scene;
  REQUIRE(scene.cache.Keep(Module(1), Code(1)));
  const std::string path = scene.folder + "/" + scene.Names().at(0);
  const Bytes whole = *scene.files->ReadWhole(path, 100'000);
  const auto put = [&](const Bytes& bytes) {
    REQUIRE(scene.files->WriteDurable(path, bytes, 0600));
  };

  SECTION("any byte that is another") {
    for (std::size_t at = 0; at < whole.size(); at += 97) {
      Bytes changed = whole;
      changed[at] ^= 0x10;
      put(changed);
      CHECK_FALSE(scene.cache.Find(Module(1)));
    }
  }
  SECTION("a file that ends too soon") {
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, whole.size() - 1}) {
      put(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
      CHECK_FALSE(scene.cache.Find(Module(1)));
    }
  }
  SECTION("the code of another set in its place") {
    REQUIRE(scene.cache.Keep(Module(2), Code(2)));
    for (const std::string& name : scene.Names())
      put(*scene.files->ReadWhole(scene.folder + "/" + name, 100'000));
    const auto found = scene.cache.Find(Module(1));
    CHECK((!found || *found == Code(1)));
  }
  SECTION("what another host's key has signed") {
    fakes::FakeEntropy entropy(7);
    const auto foreign = evidence::SigningKey::LoadOrCreate(
        *scene.files, entropy, scene.place.path() + "/k2", scene.place.path() + "/k2.pub");
    REQUIRE(foreign);
    const NativeCache theirs(*scene.files, *foreign, scene.folder, "compiler 1");
    REQUIRE(theirs.Keep(Module(1), Code(9)));
    CHECK_FALSE(scene.cache.Find(Module(1)));
  }
  // What could not be trusted is replaced.
  REQUIRE(scene.cache.Keep(Module(1), Code(4)));
  CHECK(scene.cache.Find(Module(1)) == Code(4));
}

TEST_CASE("the folder of native code stays small") {
  const Scene scene;
  for (std::size_t i = 0; i < NativeCache::ImagesMax + 5; ++i) {
    REQUIRE(scene.cache.Keep(Module(static_cast<std::uint8_t>(i)), Code(1)));
    CHECK(scene.cache.Find(Module(static_cast<std::uint8_t>(i))));
    CHECK(scene.Names().size() <= NativeCache::ImagesMax);
  }
}

}  // namespace
}  // namespace curfew::client
