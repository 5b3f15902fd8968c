#include "compiler/import/fields.h"

#include "compiler/base/json.h"
#include "compiler/base/text.h"
#include "compiler/values/quantity.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace curfew::import {
namespace {

std::string_view Describe(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null:
      return "empty";
    case Node::Kind::Scalar:
      return node.quoted ? "text" : "a single value";
    case Node::Kind::Sequence:
      return "a list";
    case Node::Kind::Map:
      return "a map";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

void WrongType(const Node& node, std::string_view pointer, std::string_view wanted,
               Reading& reading) {
  reading.sink.Report(node.span, diag::FieldOfWrongType, Printable(pointer), Describe(node),
                      wanted);
}

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == '+' || c == '=';
}

// What credentials of well-known issuers begin with, and how much more must follow.
struct Prefix {
  std::string_view text;
  std::size_t more;
};
constexpr std::array Prefixes = {
    Prefix{"ghp_", 16},     Prefix{"gho_", 16}, Prefix{"ghs_", 16},    Prefix{"github_pat_", 16},
    Prefix{"glpat-", 12},   Prefix{"sk-", 16},  Prefix{"sk_live_", 8}, Prefix{"xoxb-", 8},
    Prefix{"xoxp-", 8},     Prefix{"AKIA", 12}, Prefix{"ASIA", 12},    Prefix{"eyJ", 24},
    Prefix{"npm_", 24},     Prefix{"hf_", 24},  Prefix{"e2b_", 16},    Prefix{"AIza", 24},
    Prefix{"-----BEGIN", 1}};

}  // namespace

void Reading::HideCredentials(source::FileId file) {
  credentials = FindCredentials(sources.text(file), file);
  for (const source::Span span : credentials) {
    sink.Report(span, diag::SecretInClear, Printable(sources.name(file)));
  }
}

void Reading::Secret(source::Span span, std::string_view pointer) {
  const auto next =
      std::partition_point(credentials.begin(), credentials.end(),
                           [span](source::Span known) { return known.end <= span.begin; });
  const bool is_known = next != credentials.end() && next->begin < span.end;
  secrets.push_back(span);
  if (!is_known) sink.Report(span, diag::SecretInClear, Printable(pointer));
}

std::vector<source::Span> FindCredentials(std::string_view text, source::FileId file) {
  std::vector<source::Span> found;
  for (std::size_t at = 0; at < text.size();) {
    if (at > 0 && IsWordByte(text[at - 1]) && text[at - 1] != '=' && text[at - 1] != '/') {
      ++at;
      continue;
    }
    std::size_t end = at;
    for (const Prefix& prefix : Prefixes) {
      if (!text.substr(at).starts_with(prefix.text)) continue;
      std::size_t stop = at + prefix.text.size();
      while (stop < text.size() && IsWordByte(text[stop])) ++stop;
      if (prefix.text.starts_with('-')) stop = text.size();  // a key of several lines
      if (stop - at >= prefix.text.size() + prefix.more) end = std::max(end, stop);
    }
    if (end > at) {
      found.push_back({file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    } else {
      ++at;
    }
  }
  return found;
}

std::string ShownName(std::string_view name) {
  return FindCredentials(name, 0).empty() ? Printable(name) : "…";
}

bool NamesCredential(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  constexpr std::array<std::string_view, 9> kWords = {"token",  "secret",     "password",
                                                      "passwd", "apikey",     "cookie",
                                                      "bearer", "privatekey", "authorization"};
  return std::any_of(kWords.begin(), kWords.end(), [&plain](std::string_view word) {
    return plain.find(word) != std::string::npos;
  });
}

std::string ItemPointer(std::string_view pointer, std::size_t index) {
  return PointerTo(pointer, index);
}

Fields::Fields(const Node& node, std::string pointer, Reading& reading)
    : node_(node),
      pointer_(std::move(pointer)),
      reading_(reading),
      is_map_(node.is(Node::Kind::Map)) {
  if (is_map_) return;
  is_right_ = false;
  WrongType(node, pointer_.empty() ? "/" : pointer_, "a map", reading);
}

std::string Fields::PointerOf(std::string_view name) const {
  return PointerTo(pointer_, ShownName(name));
}

const Node* Fields::Take(std::initializer_list<std::string_view> names) {
  const Node* found = nullptr;
  for (const std::string_view name : names) {
    const Node* node = node_.Find(name);
    if (node == nullptr) continue;
    taken_.insert(name);
    if (found != nullptr) {
      reading_.sink.Report(node->span, diag::FieldTwice, PointerOf(name));
      is_right_ = false;
    } else {
      found = node;
    }
  }
  return found;
}

std::optional<std::string> Fields::TakeText(std::initializer_list<std::string_view> names) {
  const Node* node = Take(names);
  if (node == nullptr) return std::nullopt;
  auto text = TextOf(*node, PointerOf(*names.begin()), reading_);
  if (!text) is_right_ = false;
  return text;
}

std::optional<bool> Fields::TakeBool(std::initializer_list<std::string_view> names) {
  const Node* node = Take(names);
  if (node == nullptr) return std::nullopt;
  if (node->is(Node::Kind::Scalar) && !node->quoted && node->text == "true") return true;
  if (node->is(Node::Kind::Scalar) && !node->quoted && node->text == "false") return false;
  is_right_ = false;
  WrongType(*node, PointerOf(*names.begin()), "true or false", reading_);
  return std::nullopt;
}

std::optional<std::int64_t> Fields::TakeNumber(std::initializer_list<std::string_view> names) {
  const Node* node = Take(names);
  if (node == nullptr) return std::nullopt;
  const auto number = NumberOf(*node, PointerOf(*names.begin()), reading_);
  if (!number) is_right_ = false;
  return number;
}

void Fields::TakeNotCarried(std::initializer_list<std::string_view> names, std::string_view why) {
  const Node* node = Take(names);
  if (node == nullptr) return;
  reading_.sink.Report(node->span, diag::NotCarriedOver, PointerOf(*names.begin()), why);
}

bool Fields::Finish() {
  for (const Member& member : node_.members) {
    if (taken_.contains(member.name)) continue;
    is_right_ = false;
    if (NamesCredential(member.name) && member.value.is(Node::Kind::Scalar)) {
      reading_.Secret(member.value.span, PointerOf(member.name));
    } else {
      reading_.sink.Report(member.span, diag::FieldUnknown, PointerOf(member.name), reading_.shape);
    }
  }
  return is_right_;
}

std::optional<std::string> TextOf(const Node& node, std::string_view pointer, Reading& reading) {
  if (!node.is(Node::Kind::Scalar) || node.text.empty()) {
    WrongType(node, pointer, "text", reading);
    return std::nullopt;
  }
  if (!FindCredentials(node.text, node.span.file).empty()) {
    reading.Secret(node.span, pointer);
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::int64_t> NumberOf(const Node& node, std::string_view pointer, Reading& reading) {
  if (node.is(Node::Kind::Scalar) && !node.quoted) {
    if (const auto number = values::ParseInteger(node.text)) return *number;
  }
  WrongType(node, pointer, "a whole number", reading);
  return std::nullopt;
}

const std::vector<Node>& ItemsOf(const Node& node, std::string_view pointer, Reading& reading) {
  if (!node.is(Node::Kind::Sequence)) WrongType(node, pointer, "a list", reading);
  return node.items;
}

}  // namespace curfew::import
