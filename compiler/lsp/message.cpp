#include "compiler/lsp/message.h"

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using Kind = JsonValue::Kind;

Json IdOf(const JsonValue& id) {
  if (id.is(Kind::Integer)) return id.integer;
  if (id.is(Kind::String)) return id.text;
  return nullptr;
}

bool IsId(const JsonValue& value) { return value.is(Kind::Integer) || value.is(Kind::String); }

std::string Dump(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::variant<Message, Refusal> ReadMessage(std::string_view body) {
  const auto parsed = ParseJson(body);
  if (!parsed) return Refusal{ErrorCode::ParseError, parsed.error().message, {}};
  const JsonValue& document = *parsed;
  const auto refuse = [](std::string why, JsonValue id = {}) {
    return Refusal{ErrorCode::InvalidRequest, std::move(why), std::move(id)};
  };
  if (!document.is(Kind::Object)) {
    return refuse(fmt::format("a message is an object, not {}", Describe(document.kind)));
  }
  Message message;
  const JsonValue* id = document.Find("id");
  if (id != nullptr && IsId(*id)) message.id = *id;
  const JsonValue* version = document.Find("jsonrpc");
  if (version == nullptr || !version->is(Kind::String) || version->text != "2.0") {
    return refuse("a message says `\"jsonrpc\": \"2.0\"`", message.id);
  }
  const JsonValue* method = document.Find("method");
  if (method == nullptr) {
    const bool answers = document.Find("result") != nullptr || document.Find("error") != nullptr;
    if (id == nullptr || !answers) return refuse("a message without a method", message.id);
    message.kind = Message::Kind::Response;
    return message;
  }
  if (!method->is(Kind::String)) return refuse("a method is a string", message.id);
  message.method = method->text;
  if (id != nullptr && !IsId(*id)) return refuse("an id is a string or an integer");
  message.kind = id != nullptr ? Message::Kind::Request : Message::Kind::Notification;
  if (const JsonValue* params = document.Find("params")) {
    const bool fits = params->is(Kind::Object) || params->is(Kind::Array) || params->is(Kind::Null);
    if (!fits) return refuse("params are an object or an array", message.id);
    message.params = *params;
  }
  return message;
}

std::string AnswerTo(const JsonValue& id, Json result) {
  return Dump({{"jsonrpc", "2.0"}, {"id", IdOf(id)}, {"result", std::move(result)}});
}

std::string ErrorTo(const JsonValue& id, ErrorCode code, std::string_view message) {
  return Dump({{"jsonrpc", "2.0"},
               {"id", IdOf(id)},
               {"error", {{"code", static_cast<int>(code)}, {"message", message}}}});
}

std::string Notification(std::string_view method, Json params) {
  return Dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

}  // namespace curfew::lsp
