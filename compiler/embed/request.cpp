#include "compiler/embed/handles.h"
#include "compiler/module/request_json.h"

#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

namespace curfew::embed {
namespace {

using module::Fact;
using module::Value;
using schema::Action;
using schema::TypeKind;

// The numbers of the C header are the schema's.
static_assert(schema::ActionCount == 10 && static_cast<int>(Action::Create) == CURFEW_CREATE &&
              static_cast<int>(Action::Resume) == CURFEW_RESUME &&
              static_cast<int>(Action::Exec) == CURFEW_EXEC &&
              static_cast<int>(Action::Egress) == CURFEW_EGRESS &&
              static_cast<int>(Action::Expose) == CURFEW_EXPOSE &&
              static_cast<int>(Action::Snapshot) == CURFEW_SNAPSHOT &&
              static_cast<int>(Action::Import) == CURFEW_IMPORT &&
              static_cast<int>(Action::Export) == CURFEW_EXPORT &&
              static_cast<int>(Action::Extend) == CURFEW_EXTEND &&
              static_cast<int>(Action::Observe) == CURFEW_OBSERVE);
static_assert(static_cast<int>(schema::Stage::Name) == CURFEW_STAGE_NAME &&
              static_cast<int>(schema::Stage::Address) == CURFEW_STAGE_ADDRESS &&
              static_cast<int>(schema::Stage::Request) == CURFEW_STAGE_REQUEST);

// The fact of that number, if a caller may set it.
const Fact* FactOf(const curfew_request& request, std::int32_t number) {
  const auto& facts = request.policy->FactsOf(request.request.request().action());
  if (number < 0 || static_cast<std::size_t>(number) >= facts.size()) return nullptr;
  const Fact& fact = facts[static_cast<std::size_t>(number)];
  const bool is_settable = fact.known_to_action && fact.origin != schema::Origin::Derived;
  return is_settable ? &fact : nullptr;
}

curfew_status NoSuchFact(curfew_error* error) {
  return Fail(error, CURFEW_INVALID_ARGUMENT,
              "the action has no fact of this number that can be set; curfew_policy_fact tells it");
}

std::string PathAnd(const Fact& fact, std::string_view message) {
  return fmt::format("{}: {}", fact.path, message);
}

void Put(curfew_request& request, const Fact& fact, Value value) {
  if (fact.slot == schema::slot::Now) {
    request.request.SetNow(value.integer);
  } else {
    request.request.Set(fact.slot, value);
  }
}

curfew_status SetDecoded(curfew_request& request, const Fact& fact, const JsonValue& json,
                         curfew_error* error) {
  auto decoded = DecodeValue(json, fact.type, request.arena);
  if (const auto* problem = std::get_if<module::ValueProblem>(&decoded)) {
    return Fail(error, CURFEW_INVALID_VALUE,
                PathAnd(fact, problem->below.empty()
                                  ? problem->message
                                  : fmt::format("{}: {}", problem->below, problem->message)));
  }
  Put(request, fact, std::get<Value>(decoded));
  return CURFEW_OK;
}

JsonValue TextJson(std::string_view text) {
  JsonValue json(JsonValue::Kind::String);
  json.text = text;
  return json;
}

// The largest number that a fact of this type can be; nothing where it is no number.
std::optional<std::int64_t> MostOf(const Fact& fact) {
  if (fact.type.collection != schema::Collection::One) return std::nullopt;
  switch (fact.type.kind) {
    case TypeKind::Bool:
      return 1;
    case TypeKind::Enum:
      return static_cast<std::int64_t>(fact.type.enum_values.size()) - 1;
    case TypeKind::Int:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
      return std::numeric_limits<std::int64_t>::max();
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Ip:
    case TypeKind::Cidr:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
    case TypeKind::Digest:
      return std::nullopt;
  }
  return std::nullopt;
}

bool MayBeNegative(const Fact& fact) {
  return fact.type.kind == TypeKind::Int ||
         (fact.type.kind == TypeKind::Duration && fact.type.may_be_negative);
}

bool IsAction(int action) { return action >= CURFEW_CREATE && action <= CURFEW_OBSERVE; }
bool IsStage(int stage) { return stage >= CURFEW_STAGE_NAME && stage <= CURFEW_STAGE_REQUEST; }

}  // namespace
}  // namespace curfew::embed

using namespace curfew;
using namespace curfew::embed;

extern "C" {

int32_t curfew_policy_fact(const curfew_policy* policy, curfew_action action, const char* path) {
  if (policy == nullptr || path == nullptr || !IsAction(action)) return -1;
  const auto& facts = policy->FactsOf(static_cast<Action>(action));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].path == path && facts[i].known_to_action) return static_cast<int32_t>(i);
  }
  return -1;
}

curfew_status curfew_request_new(const curfew_policy* policy, curfew_action action,
                                 curfew_stage stage, curfew_request** request,
                                 curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (policy == nullptr || request == nullptr || !IsAction(action) || !IsStage(stage) ||
        (action != CURFEW_EGRESS && stage != CURFEW_STAGE_REQUEST)) {
      return Fail(error, CURFEW_INVALID_ARGUMENT,
                  "a policy, an action of it and a stage are needed; only egress has stages");
    }
    *request = new curfew_request{
        SharedWith(*policy),
        {module::Request(static_cast<Action>(action), static_cast<schema::Stage>(stage)),
         std::nullopt},
        {}};
    return CURFEW_OK;
  });
}

void curfew_request_free(curfew_request* request) { delete request; }

void curfew_request_clear(curfew_request* request) {
  if (request == nullptr) return;
  const module::Request& old = request->request.request();
  request->request = {module::Request(old.action(), old.stage()), std::nullopt};
  request->arena = module::ValueArena();
}

curfew_status curfew_request_read(const curfew_policy* policy, const char* json, size_t size,
                                  curfew_request** request, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (policy == nullptr || json == nullptr || request == nullptr) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the policy, the text or the place is NULL");
    }
    *request = nullptr;
    auto decoding = module::DecodeRequestText({json, size}, policy->policy().declared(),
                                              module::StatedBy::Author);
    if (!decoding) return Fail(error, decoding.error());
    if (!*decoding) {
      const module::RequestProblem& first = decoding->problems.front();
      return Fail(error, CURFEW_INVALID_VALUE, fmt::format("{}: {}", first.pointer, first.message));
    }
    *request = new curfew_request{SharedWith(*policy),
                                  {decoding->decoded->request, std::nullopt},
                                  std::move(decoding->decoded->arena)};
    return CURFEW_OK;
  });
}

curfew_status curfew_request_set_text(curfew_request* request, int32_t fact, const char* data,
                                      size_t size, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (request == nullptr || (data == nullptr && size > 0)) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the request or the text is NULL");
    }
    const Fact* of = FactOf(*request, fact);
    if (of == nullptr) return NoSuchFact(error);
    return SetDecoded(*request, *of, TextJson({data, size}), error);
  });
}

curfew_status curfew_request_set_integer(curfew_request* request, int32_t fact, int64_t value,
                                         curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (request == nullptr) return Fail(error, CURFEW_INVALID_ARGUMENT, "the request is NULL");
    const Fact* of = FactOf(*request, fact);
    if (of == nullptr) return NoSuchFact(error);
    const auto most = MostOf(*of);
    if (!most) return Fail(error, CURFEW_INVALID_VALUE, PathAnd(*of, "this fact is no number"));
    if (value > *most || (value < 0 && !MayBeNegative(*of))) {
      return Fail(error, CURFEW_INVALID_VALUE, PathAnd(*of, "a number that it cannot be"));
    }
    Put(*request, *of, Value::OfInteger(value));
    return CURFEW_OK;
  });
}

curfew_status curfew_request_set_items(curfew_request* request, int32_t fact,
                                       const curfew_text* items, size_t count,
                                       curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (request == nullptr || (items == nullptr && count > 0)) {
      return Fail(error, CURFEW_INVALID_ARGUMENT, "the request or the list is NULL");
    }
    const Fact* of = FactOf(*request, fact);
    if (of == nullptr) return NoSuchFact(error);
    if (count > of->type.elements_most) {
      return Fail(error, CURFEW_INVALID_VALUE,
                  PathAnd(*of, fmt::format("{} elements; at most {} are read", count,
                                           of->type.elements_most)));
    }
    JsonValue json(JsonValue::Kind::Array);
    for (const curfew_text& item : std::span(items, count)) {
      if (item.data == nullptr && item.size > 0) {
        return Fail(error, CURFEW_INVALID_ARGUMENT, "an element of the list is NULL");
      }
      json.items.push_back(TextJson({item.data, item.size}));
    }
    return SetDecoded(*request, *of, json, error);
  });
}

curfew_status curfew_request_set_absent(curfew_request* request, int32_t fact,
                                        curfew_error* error) {
  if (request == nullptr) return Fail(error, CURFEW_INVALID_ARGUMENT, "the request is NULL");
  const Fact* of = FactOf(*request, fact);
  if (of == nullptr) return NoSuchFact(error);
  request->request.SetAbsent(of->slot);
  return CURFEW_OK;
}

curfew_status curfew_request_set_unknown(curfew_request* request, int32_t fact,
                                         curfew_error* error) {
  if (request == nullptr) return Fail(error, CURFEW_INVALID_ARGUMENT, "the request is NULL");
  const Fact* of = FactOf(*request, fact);
  if (of == nullptr) return NoSuchFact(error);
  request->request.SetUnknown(of->slot);
  return CURFEW_OK;
}

void curfew_request_leave_out_the_rest(curfew_request* request) {
  if (request == nullptr) return;
  for (const Fact& fact : request->policy->FactsOf(request->request.request().action())) {
    const bool may_lack =
        !fact.known_to_action || fact.optional || fact.origin == schema::Origin::Wish;
    const bool is_known = request->request.request().is_known(fact.slot);
    if (may_lack && !is_known) request->request.SetAbsent(fact.slot);
  }
}

void curfew_request_set_now(curfew_request* request, int64_t milliseconds_since_1970) {
  if (request != nullptr) request->request.SetNow(milliseconds_since_1970);
}

curfew_status curfew_request_prepare(curfew_request* request, curfew_error* error) {
  return Guard(error, [&]() -> curfew_status {
    if (request == nullptr) return Fail(error, CURFEW_INVALID_ARGUMENT, "the request is NULL");
    request->request = request->policy->engine().Prepare(request->request.request());
    return CURFEW_OK;
  });
}

}  // extern "C"
