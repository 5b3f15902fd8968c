// Encoding: one question, whether some request makes every claim hold, as a formula for the solver.
// Facts that are no numbers choose one of their pool's cells; numbers are numbers.
//
// What no finite set of cells answers exactly is left open: in the *open* mode such a leaf may be
// true or false of any value, so that "no request" is a proof; in the *closed* mode it is what its
// cells say, so that a request can be made of the answer, which the interpreter then judges.
#pragma once

#include "compiler/module/request.h"
#include "compiler/prove/cells.h"
#include "compiler/prove/claim.h"
#include "compiler/prove/solver.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace curfew::prove {

struct Question {
  std::vector<Claim> claims;
  // The sandbox's class; for create, the class that is selected, so that it or none is named.
  std::string class_name;
  bool names_class = false;  // a create must name it
  // A sandbox whose class is gone may have any name but these.
  bool is_gone = false;
  std::vector<std::string> known_classes;
};

// What a fact is in a witness: absent, or a value.
struct WitnessFact {
  bool present = false;
  module::Value value;
};
using Witness = std::map<FactId, WitnessFact>;  // of the facts that the question reads

class Encoding {
 public:
  Encoding(const FactSpace& space, Solver& solver, module::ValueArena& arena)
      : space_(space), s_(solver), arena_(arena) {}

  void Ask(const Question& question);

  // Closed, and only requests that a document can state: whole seconds, HTTP that is seen.
  Solver::Answer SolveStatable(std::uint64_t& steps);
  Solver::Answer SolveClosed(std::uint64_t& steps);
  Solver::Answer SolveOpen(std::uint64_t& steps);
  [[nodiscard]] bool has_unstatable() const { return has_unstatable_; }
  // Whether anything is left open, and what.
  [[nodiscard]] bool is_exact() const { return why_not_.empty(); }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

  // Of the last answer Satisfiable.
  [[nodiscard]] Witness Read();

 private:
  struct Truth {
    Bool holds = Bool::False;
    Bool fails = Bool::False;
  };
  struct Single {
    Bool present = Bool::False;
    std::vector<Bool> is;  // by cell
  };
  struct Several {
    Bool present = Bool::False;
    std::vector<Bool> has;  // by cell
  };
  struct Number {
    Bool present = Bool::False;
    Int value{};
  };
  struct Amount {
    Bool known = Bool::True;
    Int value{};
  };
  // What a quantifier looks at.
  using Element = const module::Value*;
  // One side of a comparison of texts.
  struct Operand {
    std::optional<FactId> fact;
    std::optional<std::string> constant;
  };

  // encoding_facts.cpp
  void MakeFacts();
  void MakeAxioms();
  void MakeEgress();
  void MakeNow();
  void PinClass(const Question& question);
  Bool Presence(FactId fact);
  void WholeSeconds(const Number& number);
  [[nodiscard]] const Cells& CellsOf(FactId fact) const { return *cells_of_.at(fact); }
  // As the view has it, with its defaults filled in.
  const Single& SingleOf(View view, FactId fact);
  const Several& SeveralOf(View view, FactId fact);
  const Number& NumberOf(View view, FactId fact);
  Bool PresentIn(View view, FactId fact);
  std::vector<std::pair<Bool, const module::DefaultRecord*>> DefaultsOf(View view, FactId fact,
                                                                        Bool present);

  // encoding.cpp
  Bool Of(const Claim& claim);
  Truth Of(View view, std::uint32_t node, Element element);
  Truth Junction(View view, const module::NodeRecord& node, Element element);
  Truth Quantifier(View view, std::uint32_t index);
  Truth Fixed(bool value) const { return {Solver::Constant(value), Solver::Constant(!value)}; }
  Truth Among(Bool present, std::span<const Bool> is, const std::vector<Bool>& holds_of);

  // encoding_leaves.cpp
  Truth Leaf(View view, std::uint32_t index, Element element);
  Truth Unary(View view, std::uint32_t index, FactId fact, Element element);
  Truth Numbers(View view, const module::NodeRecord& node, Element element);
  Truth NumberIn(View view, const module::NodeRecord& node, Element element);
  Truth Texts(View view, std::uint32_t index, Element element);
  Truth TextIn(View view, std::uint32_t index, Element element);
  Truth Sets(View view, std::uint32_t index);
  Truth Open(View view, std::uint32_t index, std::string why);
  Bool ReadsOf(View view, std::uint32_t index);
  Amount AmountOf(View view, std::uint32_t term, Element element);
  std::optional<FactId> FactOf(View view, std::uint32_t term) const;
  Operand OperandOf(View view, std::uint32_t term, Element element) const;
  std::vector<std::string> TextsOf(View view, std::uint32_t term) const;

  const FactSpace& space_;
  Solver& s_;
  module::ValueArena& arena_;
  Bool open_ = Bool::False;
  Bool statable_ = Bool::False;
  bool has_unstatable_ = false;
  std::string why_not_;
  std::set<FactId> facts_;
  std::deque<Cells> pools_;
  std::map<FactId, const Cells*> cells_of_;
  std::map<std::pair<View, FactId>, Single> singles_;
  std::map<std::pair<View, FactId>, Several> severals_;
  std::map<std::pair<View, FactId>, Number> numbers_;
  std::map<std::pair<View, std::uint32_t>, Truth> known_;
};

}  // namespace curfew::prove
