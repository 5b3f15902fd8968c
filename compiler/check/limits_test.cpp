// Limits of a set, each with a code of its own.
#include "compiler/base/limits.h"

#include "compiler/check/check.h"
#include "compiler/check/context.h"
#include "compiler/check/list.h"
#include "compiler/syntax/parse.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::check {
namespace {

std::vector<int> CodesOf(const diagnostics::Sink& sink) {
  std::vector<int> codes;
  for (const auto& diagnostic : sink.diagnostics()) codes.push_back(diagnostic.code);
  return codes;
}

std::vector<int> CodesOf(std::string text) {
  source::SourceMap sources;
  sources.Add({"p.curfew", std::move(text)});
  diagnostics::Sink sink;
  const auto trees = syntax::ParseAll(sources, sink);
  Check(trees, sources, sink);
  return CodesOf(sink);
}

TEST_CASE("one rule more than a set may have is TooManyRules, once") {
  model::PolicyModel model;
  diagnostics::Sink sink;
  const Names names;
  Context context{model, sink, names};
  for (std::size_t i = 0; i < limits::RulesMax; ++i) {
    context.ids.emplace_hint(context.ids.end(), fmt::format("set.r{:07}", i), Context::ClaimedId{});
  }
  for (const char* text : {"one", "more"}) {
    CHECK_FALSE(ClaimId(context, "set", std::nullopt, "deny", text, {}));
  }
  REQUIRE(sink.diagnostics().size() == 1);
  CHECK(sink.diagnostics()[0].code == diag::TooManyRules.code);
}

TEST_CASE("a rule counts for every class that inherits it") {
  constexpr std::string_view kImage =
      "image box { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
      "}\n";
  const auto set_of = [&](std::size_t classes, std::size_t rules) {
    std::string text(kImage);
    text += "every sandbox {\n";
    for (std::size_t i = 0; i < rules; ++i) {
      text += fmt::format("deny exec when exec.user == \"u{}\"\n", i);
    }
    text += "}\n";
    for (std::size_t i = 0; i < classes; ++i) {
      text +=
          fmt::format("sandbox c{} by name {{ image {{ allow box }} lifetime {{ ttl 1h }} }}\n", i);
    }
    return text;
  };
  CHECK(CodesOf(set_of(100, 1000)).empty());
  CHECK(CodesOf(set_of(1000, 1001)) == std::vector<int>{diag::TooManyRules.code});
}

TEST_CASE("one class more than a set may have is TooManyClasses, once and alone") {
  syntax::Ast tree;
  const auto declare = [&] {
    syntax::SandboxDecl of;
    of.name.text = fmt::format("c{}", tree.declarations.size());
    tree.declarations.emplace_back(of);
  };
  for (std::size_t i = 0; i < ClassesMax; ++i) declare();
  const auto codes_of = [&] {
    const std::vector<const syntax::Ast*> files{&tree};
    model::PolicyModel model;
    diagnostics::Sink sink;
    const bool has_too_many = CollectNames(files, model, sink).has_too_many_classes;
    CHECK(has_too_many == sink.has_errors());
    return CodesOf(sink);
  };
  CHECK(codes_of().empty());
  declare();
  declare();
  CHECK(codes_of() == std::vector<int>{diag::TooManyClasses.code});
  source::SourceMap sources;
  sources.Add({"p.curfew", ""});
  diagnostics::Sink sink;
  Check(std::span(&tree, 1), sources, sink);
  CHECK(CodesOf(sink) == std::vector<int>{diag::TooManyClasses.code});
}

TEST_CASE("elements of lists count for each place that names one") {
  syntax::ListDecl list;
  list.kind = syntax::ListDecl::Kind::Hosts;
  list.elements.resize(2);
  Names names;
  names.lists.emplace("npm", &list);
  model::PolicyModel model;
  diagnostics::Sink sink;
  Context context{model, sink, names};
  context.named_elements = syntax::ListElementsMax - 2;
  CHECK(FindList(context, {"npm", {}}, {list.kind}) == &list);
  CHECK(sink.diagnostics().empty());
  CHECK(FindList(context, {"npm", {}}, {list.kind}) == nullptr);
  CHECK(FindList(context, {"npm", {}}, {list.kind}) == nullptr);
  CHECK(CodesOf(sink) == std::vector<int>{diag::TooManyElements.code});
}

}  // namespace
}  // namespace curfew::check
