// What only an allow can make. A driver's entry takes a Permit of its action, so nothing reaches a
// driver that was not asked of the gate; there is no other way to construct one. It carries the
// facts that were judged, so that the driver does what was allowed and not what it is told again.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"
#include "compiler/schema/schema.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace curfew::gate {

// A rule that decided, as a person needs it named.
struct Reason {
  std::string id;  // "coding.image.exec", "gate.undecided"
  std::string message;
  std::string file;        // empty where no line of policy stands behind it
  std::uint32_t line = 0;  // from 1
  friend bool operator==(const Reason&, const Reason&) = default;
};
// "id (file:line): message".
std::string Describe(const Reason& reason);

// The whole answer to one request, in words. Plain data: it opens nothing.
struct Answer {
  schema::Action action = schema::Action::Create;
  bool allowed = false;
  std::vector<Reason> reasons;  // every denial, or of an allow every rule that matched; by id,
                                // and behind them what the gate adds
  std::vector<Reason> trials;   // every trial that would have denied
  bool cut = false;             // there were more than fit
  std::string class_name;       // the selected class, or the sandbox's; empty without one
  module::ClassIndex class_index = module::NoClass;
  std::uint64_t generation = 0;
  schema::Stage stage = schema::Stage::Request;
};

// The built-in facts of a request, owned.
class Facts {
 public:
  explicit Facts(const module::Request& request);

  // Nothing when the fact is unknown, absent, or of another kind.
  [[nodiscard]] std::optional<std::int64_t> Integer(schema::Slot slot) const;
  [[nodiscard]] std::optional<std::string> Text(schema::Slot slot) const;
  [[nodiscard]] std::optional<Digest> DigestAt(schema::Slot slot) const;
  [[nodiscard]] std::optional<std::vector<std::string>> Texts(schema::Slot slot) const;

 private:
  std::map<schema::Slot, std::variant<std::int64_t, std::string, std::vector<std::string>>> values_;
};

class Gate;

// Move-only; a permit that was moved from is empty and reading it is a bug of ours.
template <schema::Action A>
class Permit {
 public:
  Permit(Permit&&) noexcept = default;
  Permit& operator=(Permit&&) noexcept = default;
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;

  [[nodiscard]] const Answer& answer() const { return Held().answer; }
  [[nodiscard]] const Facts& facts() const { return Held().facts; }

 private:
  friend class Gate;
  struct Grant {
    Answer answer;
    Facts facts;
  };
  Permit(Answer answer, Facts facts)
      : grant_(std::make_unique<const Grant>(Grant{std::move(answer), std::move(facts)})) {}
  const Grant& Held() const {
    CURFEW_CHECK(grant_ != nullptr, "a permit is used once");
    return *grant_;
  }
  std::unique_ptr<const Grant> grant_;
};

// The answer, and where it allows, the permit.
template <schema::Action A>
struct Decision {
  Answer answer;
  std::optional<Permit<A>> permit;
};

}  // namespace curfew::gate
