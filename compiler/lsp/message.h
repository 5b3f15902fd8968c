// JSON-RPC 2.0: what a message is, read strictly, and how answers are written. Nothing here knows
// a method.
#pragma once

#include "compiler/base/json.h"

#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

namespace curfew::lsp {

using Json = nlohmann::json;

// JSON-RPC's codes, and those that LSP adds.
enum class ErrorCode : int {
  ParseError = -32700,
  InvalidRequest = -32600,
  MethodNotFound = -32601,
  InvalidParams = -32602,
  ServerNotInitialized = -32002,
  RequestFailed = -32803,
};

struct Message {
  enum class Kind : std::uint8_t { Request, Notification, Response };
  Kind kind = Kind::Notification;
  JsonValue id;  // a string or an integer; of a notification null
  std::string method;
  JsonValue params;  // an object or an array; null where there are none
};

// Why a message could not be read. `id` is its own where that could be read, else null.
struct Refusal {
  ErrorCode code = ErrorCode::InvalidRequest;
  std::string message;
  JsonValue id;
};

std::variant<Message, Refusal> ReadMessage(std::string_view body);

// Bodies of messages. Bytes that are not UTF-8 become U+FFFD.
std::string AnswerTo(const JsonValue& id, Json result);
std::string ErrorTo(const JsonValue& id, ErrorCode code, std::string_view message);
std::string Notification(std::string_view method, Json params);

}  // namespace curfew::lsp
