// What the server answers about a document: one function for each request of the protocol.
#pragma once

#include "compiler/lsp/encode.h"
#include "compiler/lsp/workspace.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace curfew::lsp {

// A request about one document of a set.
struct Question {
  const Workspace::Set& set;
  const Document& document;
  const Documents& documents;
  source::FileId file;
  Encoder& encoder;
  const JsonValue& params;
};

// Malformed where the parameters do not fit; any other failure is said to whoever asks.
using Answering = Result<Json> (*)(const Question&);

// The function that answers a method, or nullptr.
Answering AnsweringOf(std::string_view method);

// What of it the client is told at the start.
Json ServerCapabilities(Encoding encoding);

// The diagnostics of a set, by URI; those of nowhere stand in `fallback`.
std::map<std::string, Json> DiagnosticsOf(const Workspace::Set& set, const Documents& documents,
                                          Encoding encoding, const Document& fallback);

}  // namespace curfew::lsp
