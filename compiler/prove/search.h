// Search: is there a request that one side lets out and that keeps to further claims? Allow by
// allow; the denials that stand against it are brought in as the interpreter names them, so that a
// question is about the few rules that matter and not about ten thousand.
#pragma once

#include "compiler/interpret/interpreter.h"
#include "compiler/prove/box.h"
#include "compiler/prove/encoding.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace curfew::prove {

// What the interpreter answers, kept beyond the verdict's room.
struct Decided {
  module::Effect effect = module::Effect::Deny;
  module::ClassIndex class_index = module::NoClass;
  bool only_nevers_deny = false;
  bool is_whole = false;  // every denial is named, and denies for sure
  std::vector<module::RuleIndex> denials;
  std::vector<module::RuleIndex> allows;
};
Decided DecisionOf(const interpret::Interpreter& engine, const module::Request& request);

struct Finding {
  enum class Kind : std::uint8_t { None, Found, Unknown };
  Kind kind = Kind::None;
  std::string request;  // Found: as JSON, of side 0
  std::string other;    // Found, with two sides: as JSON, of side 1
  Decided decided;      // Found: by side 0
  std::string why;      // Unknown
};

// What is wanted of a request that side 0 lets out.
struct Wanted {
  // Of side 0: this never denies, and nothing but nevers does.
  std::optional<module::RuleIndex> never;
  // Of side 0: rules that count as taken away. What they deny is let out.
  std::set<module::RuleIndex> absent;
  // Hold of the request.
  std::vector<Claim> claims;
  // In the place of a class that is gone: its name, which side 0 does not know. Empty: any.
  std::string gone_name;
  // Only these entries of groups are tried, where anything is said.
  std::optional<std::set<std::uint32_t>> entries;
  // The last side's word: nothing where the request is one, and otherwise what must hold of the
  // next one. Without a function every request is one.
  std::function<std::optional<std::vector<Claim>>(const module::Request& of_last_side)> judge;
};

class Search {
 public:
  // `engines`, by side, must outlive the search.
  Search(const FactSpace& space, std::vector<const interpret::Interpreter*> engines,
         Solver& solver);

  // In the class, or in the place of a class that is gone (NoClass). Takes from `steps`.
  Finding Find(module::ClassIndex of_class, const Wanted& wanted, std::uint64_t& steps);

  // That `other`, which is a candidate too in the request, is not.
  [[nodiscard]] std::vector<Claim> Unselected(Side side, module::ClassIndex of_class,
                                              const module::Request& request) const;
  // What the rules of a class look at.
  [[nodiscard]] View ViewOf(Side side, module::ClassIndex of_class) const;
  // Checks judge the request as it came, what else denies judges it with the defaults filled in.
  [[nodiscard]] View ViewOfDenial(Side side, module::ClassIndex of_class,
                                  std::uint32_t entry) const;
  // The entries of checks and denials of the block, and of the whole set, that have the rule.
  [[nodiscard]] std::vector<std::uint32_t> DenialsOf(Side side, module::ClassIndex of_class,
                                                     module::RuleIndex rule) const;
  [[nodiscard]] std::vector<std::uint32_t> AllDenials(Side side, module::ClassIndex of_class) const;
  [[nodiscard]] const interpret::Interpreter& engine(Side side) const { return *engines_[side]; }
  [[nodiscard]] const FactSpace& space() const { return space_; }

 private:
  struct Way;  // one allow, and what is known to stand against it

  Finding Try(Way& way, const Wanted& wanted, std::uint64_t& steps);
  // What a request that was not let out teaches. False where it teaches nothing.
  bool Learn(Way& way, const module::Request& request, const Decided& decided,
             const Wanted& wanted);
  void AddDenialsOfItsHosts(Way& way, const Wanted& wanted, std::uint32_t allow);
  bool AddDenials(Way& way, const Wanted& wanted, std::size_t most);
  // A denial that does not stand against what is wanted.
  [[nodiscard]] bool IsPutAside(const Wanted& wanted, std::uint32_t entry) const;
  [[nodiscard]] Side last_side() const { return static_cast<Side>(engines_.size() - 1); }
  Finding Confirm(const Way& way, const Wanted& wanted, const Witness& witness,
                  const module::Request& request);
  [[nodiscard]] bool IsLetOut(const Decided& decided, const Wanted& wanted) const;
  [[nodiscard]] std::size_t BlockOf(Side side, module::ClassIndex of_class) const;
  [[nodiscard]] std::string NameOf(module::ClassIndex of_class) const;
  // Of every side.
  [[nodiscard]] std::vector<std::string> ClassNames() const;
  std::vector<Claim> OtherGroups(const Box& box, View view, std::uint32_t chosen_group) const;

  const FactSpace& space_;
  std::vector<const interpret::Interpreter*> engines_;
  Solver& solver_;
  // Denials that stood against earlier allows of the class, the latest last: they mostly do again.
  std::vector<std::uint32_t> usual_;
  module::ClassIndex usual_of_ = 0;
};

}  // namespace curfew::prove
