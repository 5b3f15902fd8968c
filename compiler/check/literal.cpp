#include "compiler/check/literal.h"

#include "compiler/base/check.h"
#include "compiler/base/text.h"
#include "compiler/check/list.h"
#include "compiler/model/print.h"
#include "compiler/values/principal.h"
#include "compiler/values/quantity.h"
#include "compiler/values/url.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using model::Scalar;
using schema::TypeKind;
using syntax::ExprKind;

template <typename T>
std::optional<T> Taken(Context& context, const syntax::Expr& expr, std::string_view what,
                       values::Parsed<T> parsed) {
  if (parsed) return *std::move(parsed);
  const bool in_quotes = expr.kind == ExprKind::String;
  ReportWrong(
      context, expr.span, what, parsed.error(),
      in_quotes ? Quoted : [](const std::string& text) { return text; });
  return std::nullopt;
}

template <typename T>
std::optional<Scalar> AsScalar(std::optional<T> value) {
  if (!value) return std::nullopt;
  return Scalar(*std::move(value));
}

// `\*` is a literal star in every string; where no pattern is read it is just a star.
std::string WithoutStarEscapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '*') continue;
    plain.push_back(text[i]);
  }
  return plain;
}

std::optional<Scalar> Mismatch(Context& context, const syntax::Expr& expr, std::string_view seen,
                               const model::Type& type) {
  context.sink.Report(expr.span, diag::TypeMismatch, seen, model::Print(context.model, type));
  return std::nullopt;
}

std::optional<Scalar> FromString(Context& context, const syntax::Expr& expr,
                                 const model::Type& type) {
  const std::string what = Described(context.model, type);
  switch (type.kind) {
    case TypeKind::Text:
      return Scalar(WithoutStarEscapes(expr.text));
    case TypeKind::Principal:
      return AsScalar(Taken(context, expr, what, values::ParsePrincipal(expr.text)));
    case TypeKind::Ip:
      return AsScalar(Taken(context, expr, what, values::ParseAddress(expr.text)));
    case TypeKind::Cidr:
      return AsScalar(Taken(context, expr, what, values::ParseCidr(expr.text)));
    case TypeKind::Host:
      return AsScalar(Taken(context, expr, what, values::ParseHost(expr.text)));
    case TypeKind::UrlPath:
      return AsScalar(Taken(context, expr, what,
                            values::ParseUrlPath(expr.text, values::EscapedSlashes::Kept)));
    case TypeKind::FilePath:
      return AsScalar(Taken(context, expr, what, values::ParseFilePath(expr.text)));
    case TypeKind::Enum: {
      const auto& of = context.model.enums[static_cast<std::size_t>(type.enumeration)].values;
      // The value itself is the nearest, where it is one of them.
      const std::vector<std::string_view> names(of.begin(), of.end());
      OfferGuess(context.sink.Report(expr.span, diag::TypeMismatch, "string",
                                     model::Print(context.model, type)),
                 expr.span, Nearest(expr.text, names));
      return std::nullopt;
    }
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
    case TypeKind::Digest:
      return Mismatch(context, expr, "string", type);
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::optional<Scalar> FromQuantity(Context& context, const syntax::Expr& expr,
                                   const model::Type& type) {
  const std::string what = Described(context.model, type);
  switch (type.kind) {
    case TypeKind::Int:
      return AsScalar(Taken(context, expr, what, values::ParseInteger(expr.text)));
    case TypeKind::Duration:
      return AsScalar(Taken(context, expr, what, values::ParseDuration(expr.text)));
    case TypeKind::Size:
      return AsScalar(Taken(context, expr, what, values::ParseSize(expr.text)));
    case TypeKind::Bool:
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::Time:
    case TypeKind::Ip:
    case TypeKind::Cidr:
    case TypeKind::Host:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
    case TypeKind::Digest:
    case TypeKind::Enum:
      return Mismatch(context, expr, "number", type);
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

std::optional<Scalar> FromName(Context& context, const syntax::Expr& expr,
                               const model::Type& type) {
  const syntax::Name name{expr.text, expr.span};
  if (type.kind == TypeKind::Enum) {
    const auto& of = context.model.enums[static_cast<std::size_t>(type.enumeration)];
    const auto found = std::find(of.values.begin(), of.values.end(), expr.text);
    if (found != of.values.end()) return Scalar(std::int64_t{found - of.values.begin()});
    const std::vector<std::string_view> values(of.values.begin(), of.values.end());
    ReportUnknown(context, "value", name, values);
    return std::nullopt;
  }
  if (type.kind == TypeKind::Digest) {
    const auto found = context.names.images.find(expr.text);
    if (found != context.names.images.end()) {
      return Scalar(model::At(context.model, found->second).digest);
    }
    if (!context.partial)
      ReportUnknown(context, "image", name, [&] { return context.names.ImageNames(); });
    return std::nullopt;
  }
  auto draft = context.sink.Report(expr.span, diag::TypeMismatch, expr.text,
                                   model::Print(context.model, type));
  if (type.kind == TypeKind::Text) draft.Fix(expr.span, Quoted(expr.text));
  return std::nullopt;
}

std::optional<Scalar> ReadScalar(Context& context, const syntax::Expr& expr,
                                 const model::Type& type) {
  switch (expr.kind) {
    case ExprKind::String:
      return FromString(context, expr, type);
    case ExprKind::Quantity:
      return FromQuantity(context, expr, type);
    case ExprKind::Name:
      return FromName(context, expr, type);
    case ExprKind::Time:
      if (type.kind != TypeKind::Time) return Mismatch(context, expr, "time", type);
      return AsScalar(Taken(context, expr, "a time", values::ParseTime(expr.text)));
    case ExprKind::Digest:
      if (type.kind != TypeKind::Digest) return Mismatch(context, expr, "digest", type);
      if (const auto digest = ParseDigest(expr.text)) return Scalar(*digest);
      context.sink.Report(expr.span, diag::WrongLiteral, "a digest",
                          "it is `sha256:` and 64 hexadecimal digits");
      return std::nullopt;
    case ExprKind::True:
    case ExprKind::False:
      if (type.kind != TypeKind::Bool) return Mismatch(context, expr, "bool", type);
      return Scalar(std::int64_t{expr.kind == ExprKind::True ? 1 : 0});
    case ExprKind::List:
      return Mismatch(context, expr, "list", type);
    case ExprKind::Path:
    case ExprKind::Has:
    case ExprKind::Count:
    case ExprKind::Not:
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Equal:
    case ExprKind::NotEqual:
    case ExprKind::Less:
    case ExprKind::LessEqual:
    case ExprKind::Greater:
    case ExprKind::GreaterEqual:
    case ExprKind::In:
    case ExprKind::NotIn:
    case ExprKind::Matches:
    case ExprKind::Starts:
    case ExprKind::SubsetOf:
    case ExprKind::Intersects:
    case ExprKind::Plus:
    case ExprKind::Minus:
    case ExprKind::Any:
    case ExprKind::All:
    case ExprKind::None:
      context.sink.Report(expr.span, diag::NotALiteral);
      return std::nullopt;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

std::string Described(const model::PolicyModel& model, const model::Type& type) {
  switch (type.kind) {
    case TypeKind::Bool:
      return "`true` or `false`";
    case TypeKind::Int:
      return "a number";
    case TypeKind::Text:
      return "a string";
    case TypeKind::Principal:
      return "a principal";
    case TypeKind::Duration:
      return "a duration";
    case TypeKind::Size:
      return "a size";
    case TypeKind::Time:
      return "a time";
    case TypeKind::Ip:
      return "an address";
    case TypeKind::Cidr:
      return "an address block";
    case TypeKind::Host:
      return "a host";
    case TypeKind::UrlPath:
      return "a URL path";
    case TypeKind::FilePath:
      return "a file path";
    case TypeKind::Digest:
      return "a digest";
    case TypeKind::Enum:
      return fmt::format("one of `{}`", model::Print(model, type));
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

void ReportWrong(Context& context, Span span, std::string_view what, const values::Error& error,
                 const std::function<std::string(const std::string&)>& fix) {
  std::string message = error.message;
  if (!error.suggestion.empty()) message += fmt::format("; write `{}`", error.suggestion);
  auto draft = context.sink.Report(span, diag::WrongLiteral, what, message);
  if (!error.suggestion.empty() && fix) draft.Fix(span, fix(error.suggestion));
}

std::optional<model::Constant> ReadLiteral(Context& context, const syntax::Expr& expr,
                                           const model::Type& type) {
  model::Constant constant;
  constant.type = type;
  constant.type.optional = false;
  if (type.collection == schema::Collection::One) {
    auto scalar = ReadScalar(context, expr, type);
    if (!scalar) return std::nullopt;
    constant.value = *std::move(scalar);
    return constant;
  }
  const syntax::ListDecl* list = nullptr;
  if (expr.kind == ExprKind::Name) {
    list = FindListOf(context, {expr.text, expr.span}, type);
    if (list == nullptr) return std::nullopt;
  } else if (expr.kind != ExprKind::List) {
    context.sink.Report(expr.span, diag::TypeMismatch, syntax::NameOf(expr.kind),
                        model::Print(context.model, type));
    return std::nullopt;
  }
  model::Type element = type;
  element.collection = schema::Collection::One;
  std::vector<Scalar> scalars;
  bool whole = true;
  for (const syntax::Expr& operand : list != nullptr ? list->elements : expr.operands) {
    auto scalar = ReadScalar(context, operand, element);
    if (scalar) {
      scalars.push_back(*std::move(scalar));
    } else {
      whole = false;
    }
  }
  if (!whole) return std::nullopt;
  if (type.collection == schema::Collection::Set) {
    std::sort(scalars.begin(), scalars.end());
    scalars.erase(std::unique(scalars.begin(), scalars.end()), scalars.end());
  }
  constant.value = std::move(scalars);
  return constant;
}

namespace {

std::optional<std::int64_t> Read(Context& context, const syntax::Quantity& quantity,
                                 std::string_view what,
                                 const values::Parsed<std::int64_t>& parsed) {
  if (parsed) return *parsed;
  ReportWrong(context, quantity.span, what, parsed.error(),
              [](const std::string& text) { return text; });
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> ReadDuration(Context& context, const syntax::Quantity& quantity) {
  return Read(context, quantity, "a duration", values::ParseDuration(quantity.text));
}

std::optional<std::int64_t> ReadSize(Context& context, const syntax::Quantity& quantity) {
  return Read(context, quantity, "a size", values::ParseSize(quantity.text));
}

std::optional<std::int64_t> ReadInteger(Context& context, const syntax::Quantity& quantity) {
  return Read(context, quantity, "a number", values::ParseInteger(quantity.text));
}

bool IsPositive(Context& context, std::optional<std::int64_t> value, Span span,
                std::string_view keyword) {
  if (!value) return false;
  if (*value > 0) return true;
  context.sink.Report(span, diag::NotPositive, keyword);
  return false;
}

std::optional<model::PortRange> ReadPortRange(Context& context, const syntax::PortRange& range) {
  const auto read = [&](const syntax::Quantity& text) -> std::optional<std::uint16_t> {
    const auto port = values::ParsePort(text.text);
    if (port) return *port;
    ReportWrong(context, text.span, "a port", port.error());
    return std::nullopt;
  };
  const auto first = read(range.first);
  const auto last = range.last ? read(*range.last) : first;
  if (!first || !last) return std::nullopt;
  if (*last < *first) {
    context.sink.Report(range.span, diag::EmptyPortRange);
    return std::nullopt;
  }
  return model::PortRange{*first, *last};
}

}  // namespace curfew::check
