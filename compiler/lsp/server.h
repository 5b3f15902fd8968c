// The language server: the protocol's lifecycle, the open documents, and the policy sets that they
// belong to. It takes one message after another and does no I/O but reading the files of a set;
// serve.h gives it a stream.
#pragma once

#include "compiler/lsp/documents.h"
#include "compiler/lsp/message.h"
#include "compiler/lsp/position.h"
#include "compiler/lsp/workspace.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace curfew::lsp {

struct Settings {
  std::string version;                   // the program's
  std::string root = {};                 // as source::Naming has it
  std::function<std::int64_t()> now_ms;  // milliseconds since 1970
  // What a set's proofs say, when it is saved. Without it nothing is proven.
  Workspace::Prove prove = {};
};

class Server {
 public:
  // `send` takes the body of each message of ours.
  Server(Settings settings, std::function<void(std::string)> send);

  // One message of the client.
  void Receive(std::string_view body);
  // The body was too large to read.
  void RefuseTooLarge();
  // Publishes what has changed since the last time. To be called when no message waits, so that
  // of several changes in a row only the last is judged.
  void Settle();

  // LSP's exit status, once the client has said `exit`: 0 after `shutdown`, else 1.
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }

 private:
  enum class State { New, Running, ShutDown };

  void Answer(const Message& request);
  void Note(const Message& notification);
  Json Initialize(const JsonValue& params);
  Result<Json> Ask(const std::string& method, const JsonValue& params);
  void Changed(const std::string& path);
  void Publish(const std::string& uri, const Json& diagnostics);

  std::string version_;
  std::function<void(std::string)> send_;
  State state_ = State::New;
  std::optional<int> exit_status_;
  Encoding encoding_ = Encoding::Utf16;
  Documents documents_;
  Workspace workspace_;
  bool unsettled_ = false;
  std::map<std::string, std::string> published_;  // what the client shows, by URI
};

}  // namespace curfew::lsp
