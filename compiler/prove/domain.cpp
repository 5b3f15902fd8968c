#include "compiler/prove/domain.h"

#include "compiler/base/text.h"
#include "compiler/values/path.h"
#include "compiler/values/principal.h"
#include "compiler/values/query.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace curfew::prove {
namespace {

void AddOnce(std::vector<std::string>& values, std::string value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) {
    values.push_back(std::move(value));
  }
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A glob of `matches` between its stars.
std::vector<std::string> PiecesOf(std::string_view glob) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '*') {
      pieces.emplace_back();
      continue;
    }
    if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
    pieces.back().push_back(glob[i]);
  }
  return pieces;
}

}  // namespace

std::vector<std::string> FreshTexts(std::string_view taken, std::size_t count) {
  constexpr std::string_view kLetters = "xyzwvutqkjabcdefghilmnoprs0123456789";
  const auto is_free = [&](char c) {
    return std::none_of(taken.begin(), taken.end(), [c](char t) { return Lower(t) == c; });
  };
  std::string free;
  for (const char c : kLetters) {
    if (is_free(c)) free.push_back(c);
  }
  std::vector<std::string> texts;
  if (free.empty()) return texts;
  // x, y, …, and when letters run out xx, xxx: one begins with another, but no atom can tell.
  for (std::size_t i = 0; texts.size() < count; ++i) {
    texts.emplace_back(1 + i / free.size(), free[i % free.size()]);
  }
  return texts;
}

// The names of the patterns are a tree by labels. All that patterns can tell of a host is the
// lowest name of the tree that it ends in, and whether it is that name, one label below it or more.
Domain HostDomain(const Atoms& atoms) {
  std::set<std::string> names{""};
  for (const auto& [reach, name] : atoms.hosts) names.insert(name);
  names.insert(atoms.constants.begin(), atoms.constants.end());
  Domain domain;
  // A label that begins no name of the tree.
  std::string label = "x";
  const auto begins_one = [&](const std::string& text) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == text || name.starts_with(text + ".");
    });
  };
  const auto stands_in_one = [&](const std::string& text) {
    return begins_one(text) || std::any_of(names.begin(), names.end(), [&](const std::string& n) {
             return n.find("." + text + ".") != std::string::npos || n.ends_with("." + text);
           });
  };
  while (stands_in_one(label) && label.size() < 60) label += "x";
  for (const std::string& name : names) {
    std::string below = name.empty() ? label : label + "." + name;
    for (std::string host : {name, below, label + "." + below}) {
      const auto parsed = values::ParseHost(host);
      if (parsed && *parsed == host) AddOnce(domain.values, std::move(host));
    }
  }
  domain.is_whole = atoms.copies <= 1 && atoms.globs.empty();
  domain.why_not = "hosts are compared with other facts";
  return domain;
}

namespace {

using AddressBytes = std::array<std::uint8_t, 16>;

// The address behind the last one of the block, unless there is none.
std::optional<AddressBytes> Behind(const values::Cidr& block) {
  AddressBytes bytes = block.base.bytes;
  for (std::size_t bit = block.prefix; bit < 128; ++bit) {
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | (0x80U >> (bit % 8)));
  }
  for (std::size_t i = 16; i-- > 0;) {
    if (++bytes[i] != 0) return bytes;
  }
  return std::nullopt;
}

}  // namespace

// Between two ends of blocks no block tells addresses apart. Where IPv4 hides in IPv6 there is no
// address of a request, and those places end too.
Domain AddressDomain(const Atoms& atoms) {
  std::set<AddressBytes> begins{AddressBytes{}};
  std::vector<values::Cidr> blocks(atoms.blocks.begin(), atoms.blocks.end());
  for (const std::string& constant : atoms.constants) {
    values::Cidr one;
    std::memcpy(one.base.bytes.data(), constant.data(), std::min<std::size_t>(16, constant.size()));
    blocks.push_back(one);
  }
  const auto embedding = [](std::initializer_list<std::uint8_t> bytes, std::uint8_t prefix) {
    values::Cidr block;
    std::copy(bytes.begin(), bytes.end(), block.base.bytes.begin());
    block.prefix = prefix;
    return block;
  };
  blocks.push_back(embedding({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96));
  blocks.push_back(embedding({0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96));
  blocks.push_back(embedding({0, 0x64, 0xff, 0x9b}, 96));
  blocks.push_back(embedding({0x20, 0x02}, 16));
  blocks.push_back(embedding({}, 96));
  blocks.push_back(embedding({}, 127));
  // One that people know for public stands for all like it.
  const values::Cidr known =
      embedding({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 93, 184, 215, 14}, 128);
  blocks.push_back(known);
  for (const values::Cidr& block : blocks) {
    begins.insert(block.base.bytes);
    if (const auto behind = Behind(block)) begins.insert(*behind);
  }
  Domain domain;
  for (const AddressBytes& bytes : begins) {
    const values::Address address{bytes};
    if (values::Unwrap(address) == address) domain.values.emplace_back(AsText(bytes));
  }
  const auto place =
      std::find(domain.values.begin(), domain.values.end(), std::string(AsText(known.base.bytes)));
  std::rotate(domain.values.begin(), place, place + 1);
  domain.is_whole = atoms.copies <= 1;
  domain.why_not = "addresses are compared with other facts";
  return domain;
}

Domain DigestDomain(const Atoms& atoms) {
  Domain domain;
  domain.values.assign(atoms.constants.begin(), atoms.constants.end());
  std::size_t others = 0;
  for (unsigned byte = 0x11; others < atoms.copies && byte < 0x100; ++byte) {
    std::string other(32, static_cast<char>(byte));
    if (atoms.constants.contains(other)) continue;
    domain.values.push_back(std::move(other));
    ++others;
  }
  domain.is_whole = others == atoms.copies;
  domain.why_not = "too many digests are compared with each other";
  return domain;
}

Domain MethodDomain() {
  return {{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, true, {}};
}

// Queries that hold some of the terms. They are told apart in more ways than these.
Domain QueryDomain(const Atoms& atoms) {
  Domain domain;
  domain.values = {"", "x=1"};
  constexpr std::size_t kTermsMost = 5;
  std::vector<std::string> terms(atoms.query_terms.begin(), atoms.query_terms.end());
  if (terms.size() > kTermsMost) terms.resize(kTermsMost);
  for (std::size_t chosen = 1; chosen < std::size_t{1} << terms.size(); ++chosen) {
    std::string query;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      query.append(query.empty() ? "" : "&").append(values::QueryOf(terms[i]));
    }
    AddOnce(domain.values, std::move(query));
  }
  for (const std::string& constant : atoms.constants) AddOnce(domain.values, constant);
  domain.is_whole = atoms.query_terms.empty() && atoms.globs.empty() && atoms.copies <= 1;
  domain.why_not = "servers read a query in more ways than are tried";
  return domain;
}

// With one star in a glob, all that globs can tell of a text is the longest beginning and the
// longest end of theirs that it has; and where those two overlap in it, the text is one of
// finitely many.
Domain TextDomain(const Atoms& atoms, schema::TypeKind kind) {
  Domain domain;
  const bool is_principal = kind == schema::TypeKind::Principal;
  std::set<std::string> fronts{""};
  std::set<std::string> backs{""};
  std::set<std::string> middles{""};
  if (is_principal) fronts = {"user:", "group:", "service:", "agent:"};
  std::string taken;
  for (const std::string& glob : atoms.globs) {
    taken += glob;
    std::vector<std::string> pieces = PiecesOf(glob);
    if (pieces.size() == 1) {
      AddOnce(domain.values, pieces.front());
      continue;
    }
    fronts.insert(pieces.front());
    backs.insert(pieces.back());
    if (pieces.size() == 3) middles.insert(pieces[1]);
  }
  for (const std::string& constant : atoms.constants) {
    taken += constant;
    AddOnce(domain.values, constant);
  }
  const std::vector<std::string> fresh = FreshTexts(taken, atoms.copies);
  if (middles.size() > 2) {
    domain.is_whole = false;
    domain.why_not = "more than one pattern with two stars";
  }
  if (fresh.empty()) {
    domain.is_whole = false;
    domain.why_not = "the patterns leave no letter that is in none of them";
  }
  for (const std::string& front : fronts) {
    for (const std::string& back : backs) {
      for (const std::string& middle : middles) {
        for (const std::string& other : fresh) {
          AddOnce(domain.values, front + other + (middle.empty() ? "" : middle + other) + back);
        }
      }
      for (std::size_t shared = 1; shared <= std::min(front.size(), back.size()); ++shared) {
        if (front.ends_with(back.substr(0, shared))) {
          AddOnce(domain.values, front + back.substr(shared));
        }
      }
      if (!front.empty() || !back.empty()) AddOnce(domain.values, front + back);
    }
  }
  std::erase_if(domain.values, [&](const std::string& value) {
    return is_principal && !values::ParsePrincipal(value);
  });
  return domain;
}

namespace {

// The lists that begin like one of the atoms' and go on with `rest`, so that none of theirs is
// longer in it.
bool GoesOnLikeOne(const Atoms& atoms, const std::vector<std::string>& list, std::size_t begin) {
  return std::any_of(atoms.lists.begin(), atoms.lists.end(), [&](const auto& other) {
    return other.size() > begin && list.size() > begin &&
           std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                      list.begin());
  });
}

}  // namespace

// All that atoms can tell of a list is the longest beginning of theirs that it has, whether it ends
// there, and which kinds of elements it has.
ListDomain ListsDomain(const Atoms& atoms) {
  ListDomain domain;
  Atoms of_elements = atoms;
  for (const auto& list : atoms.lists) {
    of_elements.constants.insert(list.begin(), list.end());
  }
  const Domain elements = TextDomain(of_elements, schema::TypeKind::Text);
  domain.is_whole = elements.is_whole && atoms.copies <= 1;
  domain.why_not = elements.why_not.empty() ? "lists are compared with other facts, or counted"
                                            : elements.why_not;
  std::set<std::vector<std::string>> begins{{}};
  for (const auto& list : atoms.lists) {
    for (std::size_t size = 0; size <= list.size(); ++size) {
      begins.insert({list.begin(), list.begin() + static_cast<std::ptrdiff_t>(size)});
    }
  }
  constexpr std::size_t kElementsMost = 7;
  std::vector<std::string> others = elements.values;
  if (others.size() > kElementsMost) {
    // Those that atoms name first: the fresh ones are at the end.
    std::rotate(others.begin(), others.end() - 1, others.end());
    others.resize(kElementsMost);
    domain.is_whole = false;
    domain.why_not = "a list with many kinds of elements";
  }
  for (const auto& begin : begins) {
    for (std::size_t chosen = 0; chosen < std::size_t{1} << others.size(); ++chosen) {
      std::vector<std::string> rest;
      for (std::size_t i = 0; i < others.size(); ++i) {
        if ((chosen >> i & 1) != 0) rest.push_back(others[i]);
      }
      // Some order of the rest that leaves the beginning what it is.
      for (std::size_t first = 0; first < std::max<std::size_t>(1, rest.size()); ++first) {
        std::vector<std::string> list = begin;
        list.insert(list.end(), rest.begin(), rest.end());
        if (!rest.empty()) std::swap(list[begin.size()], list[begin.size() + first]);
        if (GoesOnLikeOne(atoms, list, begin.size())) continue;
        domain.values.push_back(std::move(list));
        break;
      }
    }
  }
  std::sort(domain.values.begin(), domain.values.end());
  domain.values.erase(std::unique(domain.values.begin(), domain.values.end()), domain.values.end());
  return domain;
}

}  // namespace curfew::prove
