// The next request of a sandbox that an engine knows already: what follows from the facts that last
// with the sandbox (schema::LastsWithSandbox: its task, class, image) was folded once, so that a
// decision looks at what varies. One for each sandbox and action, kept for its life; not shared
// between threads.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/module/request.h"
#include "compiler/module/verdict.h"

#include <optional>

namespace curfew::module {

class PreparedRequest {
 public:
  // What was folded, and of which module: another one that meets the request decides it as any.
  struct Fold {
    Digest content;
    ClassIndex class_index = NoClass;
    bool nothing_lasting = false;
  };

  // Engines make them: DecisionEngine::Prepare.
  PreparedRequest(const Request& request, std::optional<Fold> fold)
      : request_(request), fold_(fold) {}

  // As Request's. A lasting fact that changes after all undoes the fold, and nothing else.
  void Set(schema::Slot slot, Value value);
  void SetInteger(schema::Slot slot, std::int64_t integer) { Set(slot, Value::OfInteger(integer)); }
  void SetText(schema::Slot slot, std::string_view text) { Set(slot, Value::OfText(text)); }
  void SetAbsent(schema::Slot slot);
  void SetUnknown(schema::Slot slot);
  void SetNow(std::int64_t ms_since_epoch) { request_.SetNow(ms_since_epoch); }
  void SetStage(schema::Stage stage) { request_.SetStage(stage); }

  [[nodiscard]] const Request& request() const { return request_; }
  // Null where nothing is folded, or what is folded is of another module.
  [[nodiscard]] const Fold* FoldOf(const Digest& content) const {
    return fold_ && fold_->content == content ? &*fold_ : nullptr;
  }

 private:
  void Unfold(schema::Slot slot);

  Request request_;
  std::optional<Fold> fold_;
};

}  // namespace curfew::module
