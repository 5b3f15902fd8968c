#include "compiler/lsp/server.h"

#include "compiler/base/limits.h"
#include "compiler/lsp/answer.h"

#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using Kind = JsonValue::Kind;

const JsonValue* At(const JsonValue& value, std::initializer_list<std::string_view> path) {
  const JsonValue* at = &value;
  for (const std::string_view step : path) {
    at = at->Find(step);
    if (at == nullptr) return nullptr;
  }
  return at;
}

bool OffersUtf8(const JsonValue& params) {
  const JsonValue* encodings = At(params, {"capabilities", "general", "positionEncodings"});
  if (encodings == nullptr) return false;
  for (const JsonValue& encoding : encodings->items) {
    if (encoding.text == "utf-8") return true;
  }
  return false;
}

ErrorCode CodeOf(const Failure& failure) {
  return failure.code == FailureCode::Malformed ? ErrorCode::InvalidParams
                                                : ErrorCode::RequestFailed;
}

}  // namespace

Server::Server(Settings settings, std::function<void(std::string)> send)
    : version_(std::move(settings.version)),
      send_(std::move(send)),
      workspace_(std::move(settings.root), std::move(settings.now_ms), std::move(settings.prove)) {}

void Server::Receive(std::string_view body) {
  const auto read = ReadMessage(body);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return send_(ErrorTo(refusal->id, refusal->code, refusal->message));
  }
  const auto& message = std::get<Message>(read);
  switch (message.kind) {
    case Message::Kind::Request:
      return Answer(message);
    case Message::Kind::Notification:
      return Note(message);
    case Message::Kind::Response:
      return;  // we ask nothing
  }
}

void Server::RefuseTooLarge() {
  send_(ErrorTo({}, ErrorCode::InvalidRequest,
                fmt::format("a message of more than {} bytes is not read", limits::JsonBytesMax)));
}

void Server::Answer(const Message& request) {
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    send_(ErrorTo(request.id, code, why));
  };
  if (request.method == "initialize") {
    if (state_ != State::New) return refuse(ErrorCode::InvalidRequest, "initialized already");
    state_ = State::Running;
    return send_(AnswerTo(request.id, Initialize(request.params)));
  }
  if (state_ == State::New) {
    return refuse(ErrorCode::ServerNotInitialized, "the first request is `initialize`");
  }
  if (state_ == State::ShutDown) return refuse(ErrorCode::InvalidRequest, "shut down already");
  if (request.method == "shutdown") {
    state_ = State::ShutDown;
    return send_(AnswerTo(request.id, nullptr));
  }
  if (AnsweringOf(request.method) == nullptr) {
    return refuse(ErrorCode::MethodNotFound, "there is no such request here");
  }
  Result<Json> answer = Ask(request.method, request.params);
  if (!answer) return refuse(CodeOf(answer.error()), answer.error().message);
  send_(AnswerTo(request.id, *std::move(answer)));
}

Json Server::Initialize(const JsonValue& params) {
  if (OffersUtf8(params)) encoding_ = Encoding::Utf8;
  const JsonValue* folders = params.Find("workspaceFolders");
  if (folders != nullptr && folders->is(Kind::Array)) {
    for (const JsonValue& folder : folders->items) {
      if (const JsonValue* uri = folder.Find("uri")) workspace_.AddFolder(uri->text);
    }
  } else if (const JsonValue* root = params.Find("rootUri")) {
    workspace_.AddFolder(root->text);
  }
  return {{"capabilities", ServerCapabilities(encoding_)},
          {"serverInfo", {{"name", "curfew"}, {"version", version_}}}};
}

Result<Json> Server::Ask(const std::string& method, const JsonValue& params) {
  CURFEW_TRY(const std::string uri, UriOf(params));
  const Document* document = documents_.Find(uri);
  if (document == nullptr) {
    return Failure(FailureCode::NotFound, "the document is not open");
  }
  if (!document->is_policy) return Json();
  const Workspace::Set& set = workspace_.SetOf(*document, documents_);
  if (set.analysis.failure) return *set.analysis.failure;
  const auto file = set.analysis.FileAt(document->path);
  if (!file) return Json();
  Encoder encoder(set.analysis, documents_, encoding_);
  return AnsweringOf(method)({set, *document, documents_, *file, encoder, params});
}

void Server::Changed(const std::string& path) {
  workspace_.Invalidate(path);
  unsettled_ = true;
}

void Server::Note(const Message& note) {
  if (note.method == "exit") {
    exit_status_ = state_ == State::ShutDown ? 0 : 1;
    return;
  }
  if (state_ != State::Running) return;  // as the protocol has it
  const JsonValue& params = note.params;
  Result<std::string> path(std::string{});
  if (note.method == "textDocument/didOpen") {
    path = documents_.Open(params);
  } else if (note.method == "textDocument/didChange") {
    path = documents_.Change(params, encoding_);
  } else if (note.method == "textDocument/didClose") {
    path = documents_.Close(params);
  } else if (note.method == "textDocument/didSave" ||
             note.method == "workspace/didChangeWatchedFiles") {
    // Whatever is on disk may be new: every set is read again.
  } else if (note.method == "workspace/didChangeWorkspaceFolders") {
    for (const char* which : {"removed", "added"}) {
      const JsonValue* folders = At(params, {"event", which});
      if (folders == nullptr) continue;
      for (const JsonValue& folder : folders->items) {
        const JsonValue* uri = folder.Find("uri");
        if (uri == nullptr) continue;
        if (which[0] == 'a') workspace_.AddFolder(uri->text);
        if (which[0] == 'r') workspace_.RemoveFolder(uri->text);
      }
    }
  } else {
    return;
  }
  if (path) return Changed(*path);
  // A notification has no answer; the client shows this in its log.
  send_(Notification(
      "window/logMessage",
      {{"type", 1}, {"message", fmt::format("{}: {}", note.method, path.error().message)}}));
}

void Server::Publish(const std::string& uri, const Json& diagnostics) {
  Json params{{"uri", uri}, {"diagnostics", diagnostics}};
  if (const Document* open = documents_.Find(uri)) params["version"] = open->version;
  send_(Notification("textDocument/publishDiagnostics", std::move(params)));
}

void Server::Settle() {
  if (!unsettled_ || state_ != State::Running) return;
  unsettled_ = false;
  std::map<std::string, Json> wanted;
  for (const Workspace::Set* set : workspace_.All(documents_)) {
    const Document* home = nullptr;
    for (const auto& [uri, document] : documents_.all()) {
      if (!document.is_policy) continue;
      const bool of_set = document.path == set->place.name ||
                          set->analysis.FileAt(document.path).has_value() ||
                          document.path.starts_with(set->place.name + "/");
      if (of_set && home == nullptr) home = &document;
    }
    if (home == nullptr) continue;
    for (auto& [uri, diagnostics] : DiagnosticsOf(*set, documents_, encoding_, *home)) {
      wanted[uri] = std::move(diagnostics);
    }
  }
  for (const auto& [uri, document] : documents_.all()) {
    if (document.is_policy) wanted.try_emplace(uri, Json::array());
  }
  for (const auto& [uri, text] : published_) wanted.try_emplace(uri, Json::array());
  for (const auto& [uri, diagnostics] : wanted) {
    std::string text = diagnostics.dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto shown = published_.find(uri);
    if (shown == published_.end() || shown->second != text) Publish(uri, diagnostics);
    if (diagnostics.empty() && documents_.Find(uri) == nullptr) {
      published_.erase(uri);
    } else {
      published_[uri] = std::move(text);
    }
  }
}

}  // namespace curfew::lsp
