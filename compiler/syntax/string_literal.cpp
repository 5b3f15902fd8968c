#include "compiler/syntax/string_literal.h"

#include "compiler/base/text.h"
#include "compiler/source/text_faults.h"

#include <charconv>

#include <fmt/format.h>

namespace curfew::syntax {

namespace {

// One escape at the front of `rest`, which begins with a backslash: its value and its length; no
// value when it is none.
struct Escape {
  std::optional<std::string> value;
  std::size_t length;
};

Escape ReadCodePoint(std::string_view rest) {
  // At most six digits; looking no further keeps decoding linear.
  const std::size_t close = rest.substr(0, 10).find('}');
  if (!rest.starts_with("\\u{") || close == std::string_view::npos) return {std::nullopt, 2};
  const std::string_view digits = rest.substr(3, close - 3);
  std::uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const bool is_scalar = value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      !is_scalar) {
    return {std::nullopt, close + 1};
  }
  std::string text;
  AppendUtf8(text, static_cast<char32_t>(value));
  return {text, close + 1};
}

Escape ReadEscape(std::string_view rest) {
  const char kind = rest.size() > 1 ? rest[1] : '\0';
  switch (kind) {
    case '\\':
    case '"':
      return {std::string(1, kind), 2};
    case 'n':
      return {"\n", 2};
    case 't':
      return {"\t", 2};
    case '*':
      return {"\\*", 2};
    case 'u':
      return ReadCodePoint(rest);
    default:
      break;
  }
  const auto code_point = DecodeUtf8(rest.substr(std::min<std::size_t>(1, rest.size())));
  return {std::nullopt, 1 + (code_point ? code_point->bytes : 0)};
}

std::string_view WithoutQuotes(std::string_view literal) {
  literal.remove_prefix(1);
  // A quote that is itself escaped does not close.
  std::size_t backslashes = 0;
  while (backslashes + 1 < literal.size() && literal[literal.size() - 2 - backslashes] == '\\') {
    ++backslashes;
  }
  if (literal.ends_with('"') && backslashes % 2 == 0) literal.remove_suffix(1);
  return literal;
}

}  // namespace

std::optional<EscapeFault> FindEscapeFault(std::string_view literal) {
  const std::string_view body = WithoutQuotes(literal);
  for (std::size_t i = body.find('\\'); i != std::string_view::npos; i = body.find('\\', i)) {
    const Escape escape = ReadEscape(body.substr(i));
    if (!escape.value) return EscapeFault{i + 1, escape.length};
    i += escape.length;
  }
  return std::nullopt;
}

std::string StringValue(std::string_view literal) {
  const std::string_view body = WithoutQuotes(literal);
  std::string value;
  value.reserve(body.size());
  for (std::size_t i = 0; i < body.size();) {
    if (body[i] != '\\') {
      value += body[i++];
      continue;
    }
    const Escape escape = ReadEscape(body.substr(i));
    value += escape.value ? *escape.value : std::string(body.substr(i, escape.length));
    i += escape.length;
  }
  return value;
}

std::string StringLiteral(std::string_view value) {
  std::string literal = "\"";
  for (std::size_t i = 0; i < value.size();) {
    const auto code_point = DecodeUtf8(value.substr(i));
    const std::size_t bytes = code_point ? code_point->bytes : 1;
    const char c = value[i];
    if (c == '\\' && value.substr(i + 1).starts_with('*')) {
      literal += "\\*";
      i += 2;
      continue;
    }
    if (c == '\\' || c == '"') {
      literal += '\\';
      literal += c;
    } else if (c == '\n') {
      literal += "\\n";
    } else if (c == '\t') {
      literal += "\\t";
    } else if (code_point && (c == '\r' || source::IsHidden(code_point->value))) {
      literal += fmt::format("\\u{{{:X}}}", static_cast<std::uint32_t>(code_point->value));
    } else {
      literal += value.substr(i, bytes);
    }
    i += bytes;
  }
  literal += '"';
  return literal;
}

}  // namespace curfew::syntax
