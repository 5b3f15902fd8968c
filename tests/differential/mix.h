// What the compared pairs were made of, so that a run which compares little of something fails.
#pragma once

#include "compiler/module/request.h"
#include "tests/differential/subject.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace curfew::differential {

class Mix {
 public:
  void Add(const Subject& subject, const module::Request& request);
  // Another policy set: what its blocks hold is looked up anew.
  void Forget() { contents_.clear(); }

  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  // One line for each share.
  [[nodiscard]] std::string Table() const;
  // What is below one part in a hundred, and allowed beyond 20 to 80.
  [[nodiscard]] std::vector<std::string> Complaints() const;

 private:
  // What the rules hold that judge requests of an action in a class (or in none).
  using Contents = std::set<std::string>;
  const Contents& ContentsOf(const Subject& subject, const module::Request& request);

  std::map<std::size_t, Contents> contents_;  // by block
  std::map<std::string, std::size_t> shares_;
  std::size_t pairs_ = 0;
  std::size_t allowed_ = 0;
};

}  // namespace curfew::differential
