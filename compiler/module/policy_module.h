// PolicyModule: a compiled policy set, as bytes that are proven once when they are loaded and read
// in place from then on. It names what verdicts say by index; an engine (engine.h) decides by it.
// The bytes are made by compiler/ir and lie wherever the caller put them: a file, a vector, a
// sealed memfd that every keeper maps.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/declared_attribute.h"
#include "compiler/module/plan_template.h"
#include "compiler/module/tables.h"
#include "compiler/module/verdict.h"
#include "compiler/schema/schema.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::module {

struct Manifest {
  Digest policy;                     // of the set's canonical declarations
  Digest content;                    // of the module's bytes
  std::uint32_t language = 0;        // `language 1`
  std::string_view compiler;         // version of the compiler that made it
  std::uint64_t generation = 0;      // given when it is loaded: which publication this is
  std::uint64_t operations_max = 0;  // proven: no decision takes more steps than this
};

struct RuleInfo {
  std::string_view id;
  std::string_view message;
  std::string_view file;  // empty for a built-in
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  Effect effect = Effect::Deny;
  bool never = false;
};

class PolicyModule {
 public:
  // Proves every record of `bytes`, which must stay as they are for as long as the module lives and
  // begin at a multiple of 16. Bytes that are not a whole module of this version are Malformed;
  // nothing that they say can crash.
  static Result<PolicyModule> Load(ByteView bytes, std::uint64_t generation);

  [[nodiscard]] const Manifest& manifest() const { return manifest_; }

  [[nodiscard]] std::size_t rule_count() const { return tables_.rules.size(); }
  [[nodiscard]] RuleInfo rule(RuleIndex index) const;
  // The first of the id's rows.
  [[nodiscard]] std::optional<RuleIndex> FindRule(std::string_view id) const;

  [[nodiscard]] std::size_t class_count() const { return tables_.classes.size(); }
  [[nodiscard]] std::string_view class_name(ClassIndex index) const;
  [[nodiscard]] std::optional<ClassIndex> FindClass(std::string_view name) const;
  [[nodiscard]] const PlanTemplate& plan(ClassIndex index) const { return plans_[index]; }

  [[nodiscard]] std::span<const DeclaredAttribute> declared() const { return declared_; }

  // For engines.
  [[nodiscard]] const Tables& tables() const { return tables_; }

 private:
  PolicyModule() = default;

  Manifest manifest_;
  Tables tables_;
  std::vector<PlanTemplate> plans_;
  std::vector<DeclaredAttribute> declared_;
};

// Whether nevers, and nothing else, deny what no unknown fact could turn, at the last stage. The
// proof of the set says that no such request exists, so whoever meets one reports an internal
// fault; the answer stays deny. At an earlier stage an allow counts that may still fail, and there
// it means nothing. A verdict whose list overflowed has other denials as far as anyone can tell.
bool OnlyNeversDeny(const PolicyModule& policy, const Verdict& verdict);
inline constexpr std::string_view OnlyNeversDenySentence =
    "internal fault: only `never` denies this, which the proof of the set excludes";

}  // namespace curfew::module
