// Domain: finitely many values of a kind that stand for all of them. The atoms of a question (the
// constants and patterns that it compares a fact with) split a kind's values into cells; a domain
// has a value of every cell. Where that cannot be promised it says so, and nothing may be taken for
// proven by it.
#pragma once

#include "compiler/base/result.h"
#include "compiler/schema/schema.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace curfew::prove {

// What the atoms of a question compare a fact with.
struct Atoms {
  std::set<std::string> constants;
  std::set<std::pair<values::HostReach, std::string>> hosts;
  std::set<std::string> paths;  // globs, read exactly or widely
  std::set<std::string> globs;  // of `matches`
  std::set<std::string> query_terms;
  std::set<values::Cidr> blocks;
  std::set<std::vector<std::string>> lists;  // what lists are compared with, or begin with
  // Values that no atom tells apart but that a question may need to be different.
  std::size_t copies = 1;
};

struct Domain {
  std::vector<std::string> values;  // as requests carry them, each once
  bool is_whole = true;             // every cell has a value
  std::string why_not;              // in words, where not
};

// A list's domain has whole lists.
struct ListDomain {
  std::vector<std::vector<std::string>> values;
  bool is_whole = true;
  std::string why_not;
};

Domain HostDomain(const Atoms& atoms);
Domain AddressDomain(const Atoms& atoms);
// `of_url`: of URLs, and otherwise of files.
Domain PathDomain(const Atoms& atoms, bool of_url);
Domain DigestDomain(const Atoms& atoms);
Domain MethodDomain();
Domain QueryDomain(const Atoms& atoms);
// `kind` is Text or Principal.
Domain TextDomain(const Atoms& atoms, schema::TypeKind kind);
ListDomain ListsDomain(const Atoms& atoms);

// Texts of `count` bytes and more that hold none of the letters of `taken`, each another; nothing
// where every letter is taken.
std::vector<std::string> FreshTexts(std::string_view taken, std::size_t count);

}  // namespace curfew::prove
