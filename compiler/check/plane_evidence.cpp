// The plane `evidence`: what is put on record, what is kept out of it, and for how long.
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"
#include "compiler/check/rule.h"
#include "compiler/values/header.h"

#include <algorithm>

namespace curfew::check {

void PlaneChecker::operator()(const syntax::RecordStatement& statement) {
  if (!Once("record", statement.span)) return;
  model::Record record{{}, statement.span};
  for (const syntax::ActionName& name : statement.except_allows_of) {
    const auto action = static_cast<std::size_t>(ActionOf(name.action));
    if (record.except_allows_of[action]) {
      context_.sink.Report(name.span, diag::StatedTwice, syntax::NameOf(name.action));
    }
    record.except_allows_of.set(action);
  }
  class_.evidence.record = record;
}

void PlaneChecker::operator()(const syntax::RedactStatement& statement) {
  constexpr std::string_view kParts[] = {"header"};
  if (statement.what.text != kParts[0]) {
    return ReportUnknown(context_, "part of a request", statement.what, kParts);
  }
  for (const syntax::String& text : statement.names) {
    auto name = values::ParseHeaderName(text.text);
    if (!name) {
      ReportWrong(context_, text.span, "a header", name.error());
    } else if (Once("redact header \"" + *name + "\"", text.span)) {
      class_.evidence.redacted_headers.push_back(*std::move(name));
    }
  }
}

void PlaneChecker::operator()(const syntax::RetainStatement& statement) {
  if (!Once("retain", statement.span)) return;
  class_.evidence.retain_ms = ReadPositive(statement.duration, Unit::Duration, "retain");
}

void PlaneChecker::FinishEvidence() {
  auto& headers = class_.evidence.redacted_headers;
  std::sort(headers.begin(), headers.end());
}

}  // namespace curfew::check
