// A policy set that was opened, and the engine that decides by it: one publication, immutable but
// for one thing: native code takes the interpreter's place when there is some. No answer can tell
// which of the two it is of. live_policy.h puts one after the other into force.
#pragma once

#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/module/engine.h"
#include "compiler/module/fact.h"
#include "compiler/module/policy_module.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace curfew::live {

class Generation : public std::enable_shared_from_this<Generation> {
 public:
  // Proves the module; the interpreter decides by it. `number` says which publication it is, and
  // every verdict tells it.
  static Result<std::shared_ptr<Generation>> Open(Bytes module, std::uint64_t number);

  // `policy` was loaded from `bytes`.
  Generation(Bytes bytes, module::PolicyModule policy);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  ~Generation() = default;

  [[nodiscard]] std::uint64_t number() const { return policy().manifest().generation; }
  [[nodiscard]] const module::PolicyModule& policy() const { return interpreter_.module(); }
  [[nodiscard]] ByteView bytes() const { return bytes_; }
  // "sha256:…" of the policy set.
  [[nodiscard]] const std::string& digest() const { return digest_; }
  // What a request of the action can say.
  [[nodiscard]] const std::vector<module::Fact>& FactsOf(schema::Action action) const {
    return facts_[static_cast<std::size_t>(action)];
  }

  // The best there is at the moment.
  [[nodiscard]] const module::DecisionEngine& engine() const {
    return *engine_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_native() const { return &engine() != &interpreter_; }
  // Where native code was tried and cannot be had; else empty.
  [[nodiscard]] std::string_view why_not_native() const {
    return stays_.load(std::memory_order_acquire) ? std::string_view(why_not_native_) : "";
  }

  // One of these, once, whoever decides meanwhile. A sealed image of the module; fails as
  // native::NativeEngine::Make does.
  Outcome BecomeNative(int image);
  void StayInterpreted(std::string why);

 private:
  const Bytes bytes_;  // the engines view them
  const interpret::Interpreter interpreter_;
  const std::string digest_;
  std::array<std::vector<module::Fact>, schema::ActionCount> facts_;
  std::unique_ptr<const module::DecisionEngine> native_;
  std::string why_not_native_;
  std::atomic<const module::DecisionEngine*> engine_ = &interpreter_;
  std::atomic<bool> stays_ = false;  // why_not_native_ is said
};

}  // namespace curfew::live
