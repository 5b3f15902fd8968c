// The texts that the client holds open. They are the truth about their files.
#pragma once

#include "compiler/base/json.h"
#include "compiler/lsp/position.h"
#include "compiler/source/load.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace curfew::lsp {

struct Document {
  std::string uri;   // as the client says it
  std::string path;  // without links; the URI itself when it is no `file:`
  bool is_path = false;
  bool is_policy = true;  // not a list's file
  std::int64_t version = 0;
  std::string text;
};

class Documents {
 public:
  // The parameters of the protocol's notifications; Malformed when they do not fit. The path of the
  // document is returned.
  Result<std::string> Open(const JsonValue& params);
  Result<std::string> Change(const JsonValue& params, Encoding encoding);
  Result<std::string> Close(const JsonValue& params);

  [[nodiscard]] const Document* Find(std::string_view uri) const;
  [[nodiscard]] const Document* AtPath(std::string_view path) const;
  [[nodiscard]] const std::map<std::string, Document, std::less<>>& all() const { return by_uri_; }
  // Every text by its path.
  [[nodiscard]] const source::Overlay& overlay() const { return overlay_; }

 private:
  std::map<std::string, Document, std::less<>> by_uri_;
  source::Overlay overlay_;
};

// `params.textDocument.uri`
Result<std::string> UriOf(const JsonValue& params);
// An object with `line` and `character`.
Result<Position> PositionOf(const JsonValue* value);

}  // namespace curfew::lsp
