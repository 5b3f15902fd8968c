// Domains against every value of small alphabets: each cell that some value is in has a value of
// the domain.
#include "compiler/prove/domain.h"

#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/url.h"

#include <functional>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace curfew::prove {
namespace {

using Says = std::function<bool(const std::string& value)>;

// Every text up to a size.
std::vector<std::string> TextsOver(std::string_view letters, std::size_t size) {
  std::vector<std::string> texts{""};
  std::size_t begin = 0;
  for (std::size_t n = 0; n < size; ++n) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const char c : letters) texts.push_back(texts[i] + c);
    }
    begin = end;
  }
  return texts;
}

std::string CellOf(const std::vector<Says>& atoms, const std::string& value) {
  std::string cell;
  for (const Says& atom : atoms) cell += atom(value) ? '1' : '0';
  return cell;
}

void CheckWhole(const Domain& domain, const std::vector<Says>& atoms,
                const std::vector<std::string>& all) {
  REQUIRE(domain.is_whole);
  std::set<std::string> cells;
  for (const std::string& value : domain.values) cells.insert(CellOf(atoms, value));
  for (const std::string& value : all) {
    INFO(value << " of " << fmt::format("{}", fmt::join(domain.values, " ")));
    REQUIRE(cells.contains(CellOf(atoms, value)));
  }
}

std::string Pick(std::mt19937& random, const std::vector<std::string>& from) {
  return from[random() % from.size()];
}

TEST_CASE("a domain of texts has a value of every cell") {
  std::mt19937 random(1);
  const auto all = TextsOver("abx", 6);
  const auto pieces = TextsOver("ab", 2);
  for (int run = 0; run < 60; ++run) {
    Atoms atoms;
    std::vector<Says> says;
    const auto add_glob = [&](const std::string& glob) {
      atoms.globs.insert(glob);
      says.push_back([glob](const std::string& v) { return values::MatchesTextGlob(glob, v); });
    };
    const std::size_t globs = 1 + random() % 3;
    for (std::size_t i = 0; i < globs; ++i)
      add_glob(Pick(random, pieces) + "*" + Pick(random, pieces));
    if (random() % 3 == 0) add_glob(Pick(random, pieces) + "*b*" + Pick(random, pieces));
    const std::string constant = Pick(random, all);
    atoms.constants.insert(constant);
    says.push_back([constant](const std::string& v) { return v == constant; });
    CheckWhole(TextDomain(atoms, schema::TypeKind::Text), says, all);
  }
}

TEST_CASE("more than one pattern with two stars is not taken for whole") {
  Atoms atoms;
  atoms.globs = {"*a*b", "*c*b"};
  CHECK_FALSE(TextDomain(atoms, schema::TypeKind::Text).is_whole);
}

TEST_CASE("a domain of principals has its kinds, and copies that nothing tells apart") {
  Atoms atoms;
  atoms.copies = 3;
  atoms.constants = {"user:ana"};
  atoms.globs = {"group:p*"};
  const Domain domain = TextDomain(atoms, schema::TypeKind::Principal);
  const auto count = [&](std::string_view front) {
    return std::count_if(domain.values.begin(), domain.values.end(),
                         [&](const std::string& v) { return v.starts_with(front); });
  };
  CHECK(count("user:") == 4);
  CHECK(count("group:p") >= 3);
  CHECK(count("service:") == 3);
  for (const std::string& value : domain.values) CHECK(values::ParsePrincipal(value));
}

TEST_CASE("a domain of hosts has a name of every node of the tree") {
  std::mt19937 random(2);
  std::vector<std::string> names;
  const std::vector<std::string> labels = {"a", "b", "c"};
  for (const auto& a : labels) {
    names.push_back(a);
    for (const auto& b : labels) {
      names.push_back(a + "." + b);
      for (const auto& c : labels) names.push_back(a + "." + b + "." + c);
    }
  }
  std::vector<std::string> all = names;
  for (const auto& name : names) all.push_back("c.c." + name);
  for (int run = 0; run < 100; ++run) {
    Atoms atoms;
    std::vector<Says> says;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      const auto reach = static_cast<values::HostReach>(random() % 3);
      const std::string name = Pick(random, names);
      atoms.hosts.emplace(reach, name);
      says.push_back([=](const std::string& v) { return values::MatchesHost(reach, name, v); });
    }
    CheckWhole(HostDomain(atoms), says, all);
  }
}

std::string RandomGlob(std::mt19937& random) {
  const std::vector<std::string> segments = {"a", "b", "ab", "*", "a*", "*b", "a*b", "ba*"};
  std::string glob;
  const std::size_t size = 1 + random() % 3;
  const std::size_t span = random() % (size + 2);
  for (std::size_t i = 0; i < size; ++i) {
    if (i == span) glob += "/**";
    glob += "/" + Pick(random, segments);
  }
  if (span == size) glob += "/**";
  return glob;
}

TEST_CASE("a domain of paths has a path of every cell, whatever globs meet") {
  std::mt19937 random(3);
  const auto parts = TextsOver("abx", 2);
  std::vector<std::string> all{"/"};
  std::vector<std::string> last{""};
  for (int depth = 0; depth < 4; ++depth) {
    std::vector<std::string> next;
    for (const std::string& path : last) {
      for (const std::string& part : parts) {
        if (part.empty() || (depth > 1 && part.size() > 1)) continue;
        next.push_back(path + "/" + part);
      }
    }
    all.insert(all.end(), next.begin(), next.end());
    for (const std::string& path : next) all.push_back(path + "/");
    last = std::move(next);
    if (last.size() > 4000) last.resize(4000);
  }
  for (const bool of_url : {true, false}) {
    std::vector<std::string> some;
    for (const std::string& path : all) {
      const auto parsed = of_url ? values::ParseUrlPath(path, values::EscapedSlashes::Kept)
                                 : values::ParseFilePath(path);
      if (parsed && *parsed == path) some.push_back(path);
    }
    for (int run = 0; run < 60; ++run) {
      Atoms atoms;
      std::vector<Says> says;
      for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
        const std::string glob = RandomGlob(random);
        INFO(glob);
        REQUIRE(values::ParseFileGlob(glob));
        atoms.paths.insert(glob);
        says.push_back([=](const std::string& v) { return values::MatchesPathGlob(glob, v); });
      }
      if (run % 3 == 0) {
        const std::string constant = Pick(random, some);
        atoms.constants.insert(constant);
        says.push_back([=](const std::string& v) { return v == constant; });
      }
      INFO(fmt::format("{}", fmt::join(atoms.paths, " ")));
      CheckWhole(PathDomain(atoms, of_url), says, some);
    }
  }
}

TEST_CASE("a domain of addresses has one of every block and none that hides another") {
  std::mt19937 random(4);
  for (int run = 0; run < 40; ++run) {
    Atoms atoms;
    std::vector<Says> says;
    std::vector<values::Cidr> blocks;
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      const auto prefix = static_cast<unsigned>(random() % 9);
      const auto byte = (static_cast<unsigned>(random()) & 0xff) >> (8 - prefix) << (8 - prefix);
      const auto block = values::ParseCidr(fmt::format("10.0.0.{}/{}", byte & 0xff, 24 + prefix));
      REQUIRE(block);
      atoms.blocks.insert(*block);
      says.push_back([block = *block](const std::string& v) {
        values::Address address;
        std::copy(v.begin(), v.end(), address.bytes.begin());
        return values::Contains(block, address);
      });
    }
    std::vector<std::string> all;
    for (unsigned last = 0; last < 256; ++last) {
      for (const unsigned third : {0U, 1U}) {
        const auto address = values::ParseAddress(fmt::format("10.0.{}.{}", third, last));
        all.emplace_back(address->bytes.begin(), address->bytes.end());
      }
    }
    const Domain domain = AddressDomain(atoms);
    CheckWhole(domain, says, all);
    for (const std::string& value : domain.values) {
      values::Address address;
      std::copy(value.begin(), value.end(), address.bytes.begin());
      CHECK(*values::ParseAddress(values::ToString(address)) == address);
    }
  }
}

TEST_CASE("a domain of lists has one of every beginning with every kind of element") {
  Atoms atoms;
  atoms.lists = {{"clone"}, {"clone", "--bare"}};
  atoms.constants = {"--force"};
  const ListDomain domain = ListsDomain(atoms);
  REQUIRE(domain.is_whole);
  const auto cell = [](const std::vector<std::string>& list) {
    const auto begins = [&](std::vector<std::string> with) {
      return list.size() >= with.size() && std::equal(with.begin(), with.end(), list.begin());
    };
    const bool forced = std::find(list.begin(), list.end(), "--force") != list.end();
    return fmt::format("{}{}{}{}", begins({"clone"}), begins({"clone", "--bare"}), forced,
                       list.empty());
  };
  std::set<std::string> cells;
  for (const auto& list : domain.values) cells.insert(cell(list));
  const std::vector<std::string> words = {"clone", "--bare", "--force", "y"};
  for (const auto& a : words) {
    for (const auto& b : words) {
      for (const auto& c : words) {
        CHECK(cells.contains(cell({a, b, c})));
        CHECK(cells.contains(cell({a, b})));
      }
    }
    CHECK(cells.contains(cell({a})));
  }
  CHECK(cells.contains(cell({})));
}

}  // namespace
}  // namespace curfew::prove
