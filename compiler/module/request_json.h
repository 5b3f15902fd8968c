// A request as JSON, read strictly by the schema. A document that does not fit is denied as a whole
// (`request.invalid`): an unknown, doubled, missing or ill-typed field is a problem with its place,
// never ignored, and null means nothing, so it stands nowhere. compiler/tool/README.md shows
// documents.
//
//   {"version": 1, "action": "exec", "now": "2026-11-29T00:00:00Z",
//    "caller": {"id": "user:ana"}, "task": {"kind": "coding"}, "sandbox": {"class": "coding"},
//    "exec": {"program": "/usr/bin/python3", "args": [], …}}
//
// The dotted path of an attribute is nesting. Durations, sizes and times are strings with units;
// numbers are for `int` only, without fraction or exponent. Values are brought to their canonical
// form (compiler/values).
#pragma once

#include "compiler/base/json.h"
#include "compiler/module/declared_attribute.h"
#include "compiler/module/fact.h"
#include "compiler/module/json_value.h"
#include "compiler/module/request.h"
#include "compiler/module/request_axioms.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::module {

// Who wrote the document, and so what it may say.
//   Caller  somebody who asks the runtime: stated facts and wishes only; every fact that the action
//           is stated with must be there. Verified facts stay unknown: the runtime sets them.
//   Author  somebody who tries a policy and plays the runtime as well (eval, tests): verified facts
//           and the sealed task may be said too. What is not said is unknown; an optional fact that
//           is not said is absent, but for the address of an egress, and method and path of one
//           that is no byte stream.
enum class StatedBy : std::uint8_t { Caller, Author };

// The request and all that it views; moving keeps the views good.
struct DecodedRequest {
  Request request;
  ValueArena arena;
};

// A host that can do everything, where nothing is known of it: what whoever tries a policy means.
void GiveWholeHost(DecodedRequest& decoded);

// Either a request, or every problem found (at most a screenful).
struct RequestDecoding {
  std::optional<DecodedRequest> decoded;
  std::vector<RequestProblem> problems;

  explicit operator bool() const { return decoded.has_value(); }
};

RequestDecoding DecodeRequest(const JsonValue& document,
                              std::span<const DeclaredAttribute> declared, StatedBy stated_by);
// The same of JSON text, in which a doubled member is one problem more. Malformed or TooLarge where
// the text is no JSON that is read at all.
Result<RequestDecoding> DecodeRequestText(std::string_view text,
                                          std::span<const DeclaredAttribute> declared,
                                          StatedBy stated_by);

}  // namespace curfew::module
