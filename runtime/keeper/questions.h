// The keeper's questions to the gate: it puts together what was stated, what was sealed at create
// and what the runtime knows itself. Nothing here decides; what does not even make a request comes
// back as the reason why not (`request.invalid`).
#pragma once

#include "compiler/base/result.h"
#include "compiler/module/policy_module.h"
#include "compiler/module/request_json.h"
#include "runtime/egress/facts.h"
#include "runtime/evidence/canonical_json.h"
#include "runtime/gate/policy_in_force.h"
#include "runtime/guest/protocol.h"
#include "runtime/host/clock.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace curfew::keeper {

struct Caller {
  std::string id;
  std::string kind = "human";  // human, service, agent
  std::vector<std::string> groups;
  bool is_operator = false;
  pid_t pid = 0;  // of whoever started the sandbox, and its user
  uid_t uid = 0;
};

// What the runtime knows of its sandbox at this moment.
struct SandboxFacts {
  std::string id;
  std::string class_name;
  std::int64_t age_ms = 0;
  std::int64_t idle_ms = 0;
  std::int64_t ttl_left_ms = 0;
  Digest image;
  bool kvm = false;
  std::string creator;
  bool token_valid = false;
  std::int64_t token_expires_in_ms = 0;
};

class Questions {
 public:
  // The policy and the clock outlive this. `capabilities` are words of module/capability.h.
  Questions(const gate::PolicyInForce& policy, const host::Clock& clock, Caller caller,
            std::set<std::string, std::less<>> capabilities);

  // Malformed: the document makes no request. Its task is sealed for all later questions.
  Outcome StateCreate(const evidence::Json& document);
  // `running`: sandboxes of this owner, this one included.
  const module::Request& Create(std::int64_t running);
  // Of a request that cannot be read: what it states for a person, or that nothing can be read.
  [[nodiscard]] std::string task_id() const { return StatedText(schema::slot::TaskId, "id"); }
  [[nodiscard]] std::string owner() const { return StatedText(schema::slot::TaskOwner, "owner"); }
  [[nodiscard]] std::string image() const;  // as policy text spells a digest

  struct Exec {
    std::string program;  // resolved inside
    std::vector<std::string> arguments;
    std::string user;
    std::string cwd;
    bool background = false;
  };
  Result<module::DecodedRequest> AskExec(const Exec& exec, const SandboxFacts& sandbox);
  Result<module::DecodedRequest> AskExport(const guest::File& file, std::uint64_t total,
                                           const SandboxFacts& sandbox);
  // Asked for each request out, and so put together once: only what passes is stated each time.
  // Good until the next such question; `egress` outlives it.
  const module::Request& AskEgress(const egress::EgressFacts& egress, const SandboxFacts& sandbox);

 private:
  void SetEveryFact(module::DecodedRequest& asked) const;
  module::DecodedRequest About(schema::Action action, const SandboxFacts& sandbox) const;
  module::DecodedRequest WhatLasts(schema::Action action, const SandboxFacts& sandbox) const;
  void StateWhatPasses(module::Request& request, const SandboxFacts& sandbox) const;
  [[nodiscard]] std::string SealedText(schema::Slot slot) const;
  [[nodiscard]] std::string StatedText(schema::Slot slot, const char* member) const;

  [[nodiscard]] std::optional<schema::Slot> SealedSlotOf(
      const module::DeclaredAttribute& declared) const;

  const gate::PolicyInForce& policy_;
  const host::Clock& clock_;
  Caller caller_;
  std::set<std::string, std::less<>> capabilities_;
  evidence::Json stated_task_;  // of the request as it came, for the receipt of one that is refused
  std::optional<module::DecodedRequest> create_;
  std::vector<module::DeclaredAttribute> sealed_;  // what its declared facts mean, in their order
  // What lasts in questions about egress, under the set of this generation; and the last of them.
  std::optional<module::DecodedRequest> egress_lasts_;
  std::uint64_t egress_generation_ = 0;
  std::optional<module::Request> egress_;
};

// The facts of a request as a decision's record keeps them, by path: present ones, long ones cut
// with a mark.
evidence::Json FactsOf(const module::Request& request, const module::PolicyModule& policy);

}  // namespace curfew::keeper
