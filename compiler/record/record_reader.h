// Decisions as they are read from records: by the bytes alone first, which nobody need trust, and
// then beside the module that decided, which names the rules and can be asked again.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/json_value.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"
#include "compiler/record/recorded_facts.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace curfew::record {

struct RecordedRules {
  std::vector<module::RuleIndex> rules;  // ascending
  bool is_cut = false;                   // there were more
};

struct Record {
  std::uint64_t sequence = 0;  // of its ring's decisions, from 0, those that were dropped included
  std::uint64_t lost = 0;      // that were dropped since the record before
  std::uint64_t generation = 0;
  Digest policy;
  std::uint64_t module_mark = 0;  // ModuleMark
  module::Effect effect = module::Effect::Deny;
  module::ClassIndex class_index = module::NoClass;
  bool undecided = false;
  schema::Slot undecided_slot = 0;
  RecordedRules denials;
  RecordedRules allows;
  RecordedRules trials;
  // What was asked, as far as the rules can read it; all else is unknown. It views the arena.
  module::Request request{schema::Action::Create};
  module::ValueArena arena;
  RecordedFacts::OfAction said;  // which facts are known, and in what form they are there
  bool is_cut = false;           // some fact was longer than a record keeps

  // `now`, where the request said it: milliseconds since 1970.
  [[nodiscard]] std::optional<std::int64_t> time_ms() const;
};

// Takes records off the front of bytes, one behind the other. Malformed is whatever the writer does
// not write; no bytes can make it read beyond them.
class RecordReader {
 public:
  // Of a ring from its beginning, unless its first record here is the one numbered `sequence`.
  explicit RecordReader(std::uint64_t sequence = 0) : next_(sequence) {}

  // The first record of `bytes`, which then begin behind it.
  Result<Record> Read(ByteView& bytes);

 private:
  std::uint64_t next_;
};

// Whether the engine of this module can be asked again and must answer the same. Usage where the
// record is of another module, TooLarge where facts of it were cut, Malformed where it says of a
// fact what its type cannot be.
Outcome CheckAskable(const Record& record, const RecordedFacts& facts);

// The ids of rules of a record; Usage where it is of another module, Malformed where that has no
// such rule.
Result<std::vector<std::string_view>> IdsOf(const Record& record, const RecordedRules& rules,
                                            const module::PolicyModule& policy);

}  // namespace curfew::record
