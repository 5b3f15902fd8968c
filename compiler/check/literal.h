// Literals take the type that their place asks for.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"
#include "compiler/values/value_error.h"

#include <functional>
#include <optional>
#include <string_view>

namespace curfew::check {

// "a duration", "a host", …; `enum` by its values.
std::string Described(const model::PolicyModel& model, const model::Type& type);

// The value of the literal as `type`, or nothing after a report. `expr` may be anything: what is no
// literal is reported.
std::optional<model::Constant> ReadLiteral(Context& context, const syntax::Expr& expr,
                                           const model::Type& type);

// Reports what a canonicaliser found wrong. `fix` puts its suggestion in the place of `span`.
void ReportWrong(Context& context, Span span, std::string_view what, const values::Error& error,
                 const std::function<std::string(const std::string&)>& fix = {});

// A suggestion as a string literal.
std::string Quoted(const std::string& text);

// Quantities of statements. `keyword` is for the message; zero is reported.
std::optional<std::int64_t> ReadDuration(Context& context, const syntax::Quantity& quantity);
std::optional<std::int64_t> ReadSize(Context& context, const syntax::Quantity& quantity);
std::optional<std::int64_t> ReadInteger(Context& context, const syntax::Quantity& quantity);
std::optional<model::PortRange> ReadPortRange(Context& context, const syntax::PortRange& range);
bool IsPositive(Context& context, std::optional<std::int64_t> value, Span span,
                std::string_view keyword);

}  // namespace curfew::check
