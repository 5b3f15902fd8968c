#include "compiler/module/prepared_request.h"

#include "compiler/schema/schema.h"

namespace curfew::module {

void PreparedRequest::Unfold(schema::Slot slot) {
  if (schema::LastsWithSandbox(request_.action(), slot)) fold_.reset();
}

void PreparedRequest::Set(schema::Slot slot, Value value) {
  Unfold(slot);
  request_.Set(slot, value);
}

void PreparedRequest::SetAbsent(schema::Slot slot) {
  Unfold(slot);
  request_.SetAbsent(slot);
}

void PreparedRequest::SetUnknown(schema::Slot slot) {
  Unfold(slot);
  request_.SetUnknown(slot);
}

}  // namespace curfew::module
