#include "compiler/check/list.h"

#include "compiler/base/check.h"
#include "compiler/check/literal.h"
#include "compiler/model/print.h"
#include "compiler/syntax/parse.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using schema::TypeKind;
using syntax::ExprKind;
using syntax::ListDecl;

constexpr std::string_view DigestForm = "it is `sha256:` and 64 hexadecimal digits";

std::string_view DescribeElement(ListDecl::Kind kind) {
  switch (kind) {
    case ListDecl::Kind::Hosts:
      return "a host";
    case ListDecl::Kind::Addresses:
      return "an address block";
    case ListDecl::Kind::Digests:
      return "a digest";
    case ListDecl::Kind::Strings:
      return "a string";
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

// The one spelling of an element, or nothing after a report.
std::optional<std::string> ReadElement(Context& context, ListDecl::Kind kind,
                                       const syntax::Expr& element) {
  const ExprKind written = kind == ListDecl::Kind::Digests ? ExprKind::Digest : ExprKind::String;
  if (element.kind != written) {
    context.sink.Report(element.span, diag::WrongLiteral, DescribeElement(kind),
                        written == ExprKind::Digest ? DigestForm : "it stands in quotes");
    return std::nullopt;
  }
  const auto wrong = [&](const values::Error& error) {
    ReportWrong(context, element.span, DescribeElement(kind), error, Quoted);
    return std::nullopt;
  };
  switch (kind) {
    case ListDecl::Kind::Hosts: {
      const auto host = values::ParseHostPattern(element.text);
      if (!host) return wrong(host.error());
      return values::ToString(*host);
    }
    case ListDecl::Kind::Addresses: {
      const auto block = values::ParseCidr(element.text);
      if (!block) return wrong(block.error());
      return values::ToString(*block);
    }
    case ListDecl::Kind::Digests:
      if (ParseDigest(element.text)) return element.text;
      context.sink.Report(element.span, diag::WrongLiteral, DescribeElement(kind), DigestForm);
      return std::nullopt;
    case ListDecl::Kind::Strings:
      return element.text;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

// The kind of list whose elements can be literals of this type.
std::optional<ListDecl::Kind> KindOfElements(TypeKind element) {
  switch (element) {
    case TypeKind::Host:
      return ListDecl::Kind::Hosts;
    case TypeKind::Ip:
    case TypeKind::Cidr:
      return ListDecl::Kind::Addresses;
    case TypeKind::Digest:
      return ListDecl::Kind::Digests;
    case TypeKind::Text:
    case TypeKind::Principal:
    case TypeKind::UrlPath:
    case TypeKind::FilePath:
      return ListDecl::Kind::Strings;
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Duration:
    case TypeKind::Size:
    case TypeKind::Time:
    case TypeKind::Enum:
      return std::nullopt;
  }
  CURFEW_UNREACHABLE("the switch names every kind");
}

}  // namespace

void CheckLists(Context& context) {
  for (const auto& [name, declaration] : context.names.lists) {
    model::List list{syntax::NameOf(declaration->kind), name, {}, declaration->name.span};
    bool is_whole = true;
    if (declaration->elements.empty() && !context.partial) {
      context.sink.Report(declaration->name.span, diag::EmptyList, name);
      is_whole = false;
    }
    for (const syntax::Expr& element : declaration->elements) {
      auto text = ReadElement(context, declaration->kind, element);
      is_whole = is_whole && text.has_value();
      if (text) list.elements.push_back(*std::move(text));
    }
    if (!is_whole) context.broken_lists.insert(name);
    std::sort(list.elements.begin(), list.elements.end());
    list.elements.erase(std::unique(list.elements.begin(), list.elements.end()),
                        list.elements.end());
    context.model.lists.push_back(std::move(list));
  }
}

const ListDecl* FindList(Context& context, const syntax::Name& name,
                         std::initializer_list<ListDecl::Kind> kinds) {
  const auto is_meant = [&](const ListDecl& list) {
    return std::find(kinds.begin(), kinds.end(), list.kind) != kinds.end();
  };
  const std::string what = fmt::format("list of {}", syntax::NameOf(*kinds.begin()));
  const auto found = context.names.lists.find(name.text);
  if (found == context.names.lists.end()) {
    const auto candidates = [&] {
      std::vector<std::string_view> names;
      for (const auto& [candidate, list] : context.names.lists) {
        if (is_meant(*list)) names.push_back(candidate);
      }
      return names;
    };
    if (!context.partial) ReportUnknown(context, what, name, candidates);
    return nullptr;
  }
  if (context.broken_lists.contains(name.text)) return nullptr;
  if (is_meant(*found->second)) {
    const std::size_t before = context.named_elements;
    context.named_elements += found->second->elements.size();
    if (context.named_elements <= syntax::ListElementsMax) return found->second;
    if (before <= syntax::ListElementsMax) {
      context.sink.Report(name.span, diag::TooManyElements,
                          static_cast<std::int64_t>(syntax::ListElementsMax));
    }
    return nullptr;
  }
  context.sink
      .Report(name.span, diag::TypeMismatch,
              fmt::format("list of {}", syntax::NameOf(found->second->kind)), what)
      .Note(found->second->name.span, diag::DeclaredHere, name.text);
  return nullptr;
}

const ListDecl* FindListOf(Context& context, const syntax::Name& name, const model::Type& set) {
  const auto kind = KindOfElements(set.kind);
  if (!kind) {
    context.sink.Report(name.span, diag::TypeMismatch, name.text, model::Print(context.model, set));
    return nullptr;
  }
  const ListDecl* list = FindList(context, name, {*kind});
  if (list == nullptr || *kind != ListDecl::Kind::Hosts) return list;
  const auto pattern = std::ranges::find_if(
      list->elements, [](const syntax::Expr& element) { return element.text.starts_with('*'); });
  if (pattern == list->elements.end()) return list;
  context.sink.Report(name.span, diag::PatternInList, pattern->text, name.text)
      .Note(pattern->span, diag::DeclaredHere, pattern->text);
  return nullptr;
}

}  // namespace curfew::check
