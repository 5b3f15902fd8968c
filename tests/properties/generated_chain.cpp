#include "tests/properties/generated_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::properties {
namespace {

using Statements = std::vector<std::string>;

// Whether one of the statements begins so; a label stands before some.
bool Says(const Statements& statements, const std::string& word) {
  return std::any_of(statements.begin(), statements.end(), [&](const std::string& one) {
    return one.starts_with(word) || one.find(": " + word) != std::string::npos;
  });
}

void AddUnlessSaid(Statements& statements, const std::string& word, const std::string& rest) {
  if (!Says(statements, word)) statements.push_back(word + rest);
}

// What bounds and takes away, in a class or in the floor.
void AddLimits(Random& r, ClassText& text) {
  auto& image = text.planes["image"];
  if (r.OneIn(3)) {
    AddUnlessSaid(image, "size",
                  r.OneIn(2) ? " cpu at most 3, disk at most 2GiB" : " memory at most 1GiB");
  }
  if (r.OneIn(6)) AddUnlessSaid(image, "isolation", " kvm");
  if (r.OneIn(8)) AddUnlessSaid(image, "exec", " none");
  if (r.OneIn(8)) AddUnlessSaid(text.planes["filesystem"], "export", " none");
  if (r.OneIn(8)) AddUnlessSaid(text.planes["identity"], "access", " none");
  auto& network = text.planes["network"];
  if (r.OneIn(6)) AddUnlessSaid(network, "limit", " 2 requests per 1h, 4MiB in all");
  if (r.OneIn(8)) AddUnlessSaid(network, "expose", " none");
  if (r.OneIn(8)) AddUnlessSaid(text.planes["identity"], "secrets", " none");
  if (r.OneIn(8)) AddUnlessSaid(text.planes["identity"], "env", " none");
  auto& lifetime = text.planes["lifetime"];
  if (r.OneIn(2)) AddUnlessSaid(lifetime, "ttl", " " + BoundText(r, 10, 60, "m"));
  if (r.OneIn(4)) AddUnlessSaid(lifetime, "idle", fmt::format(" {}m then close", 1 + r.Below(10)));
  if (r.OneIn(4)) AddUnlessSaid(lifetime, "grace", fmt::format(" {}s", 1 + r.Below(60)));
  auto& evidence = text.planes["evidence"];
  if (r.OneIn(4)) AddUnlessSaid(evidence, "record", r.OneIn(2) ? " all" : " all except exec allow");
  if (r.OneIn(4)) AddUnlessSaid(evidence, "retain", fmt::format(" {}d", 1 + r.Below(90)));
}

void AddDenials(Random& r, ClassText& text, std::size_t first) {
  auto& network = text.planes["network"];
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string statement = NetworkStatement(r, first + i);
    if (statement.find("deny") != std::string::npos) network.push_back(statement);
  }
  if (r.OneIn(8)) AddUnlessSaid(network, "allow", " none");
  if (r.OneIn(2)) text.rules.push_back(Rule(r, fmt::format("l{}", first)));
}

}  // namespace

ClassText GenerateNarrowing(Random& r, const ClassText& base, const std::string& name) {
  ClassText text;
  text.head =
      fmt::format("sandbox {} narrows {}{}", name, base.name(), r.OneIn(6) ? " by name" : "");
  if (r.OneIn(2)) text.head += " when " + Condition(r, {"create", "exec"}, 1);
  for (const auto& [plane, statements] : base.planes) {
    for (const std::string& statement : statements) {
      if (r.OneIn(3)) text.planes[plane].push_back(statement);
    }
  }
  auto& image = text.planes["image"];
  if (r.OneIn(4)) AddUnlessSaid(image, "allow", " i0");
  if (r.OneIn(4)) AddUnlessSaid(image, "exec", r.OneIn(2) ? " any" : " \"/usr/bin/p*\"");
  if (r.OneIn(6)) AddUnlessSaid(image, "isolation", " any");
  if (r.OneIn(4)) AddUnlessSaid(text.planes["identity"], "access", " \"group:g2\", \"user:cy\"");
  if (r.OneIn(4)) {
    text.planes["filesystem"].push_back(
        fmt::format("more: export \"/work/out/**\" at most {}MiB", 1 + r.Below(16)));
  }
  if (r.OneIn(4)) text.planes["network"].push_back(NetworkStatement(r, 20));
  auto& network = text.planes["network"];
  if (!network.empty()) AddUnlessSaid(network, "tls", r.OneIn(4) ? " names" : " inspect");
  AddDenials(r, text, 30);
  AddLimits(r, text);
  return text;
}

ClassText GenerateFloor(Random& r, std::size_t number) {
  ClassText text;
  text.head = "every sandbox";
  AddDenials(r, text, 40 + 10 * number);
  AddLimits(r, text);
  return text;
}

ClassText GenerateLimits(Random& r, const ClassText& base, const std::string& name) {
  ClassText text;
  text.head = fmt::format("sandbox {} narrows {}", name, base.name());
  AddDenials(r, text, 50);
  auto& image = text.planes["image"];
  if (r.OneIn(4)) image.push_back("exec none");
  if (r.OneIn(4)) image.push_back("isolation kvm");
  if (r.OneIn(2)) text.planes["lifetime"].push_back("ttl " + BoundText(r, 10, 60, "m"));
  if (r.OneIn(4)) text.planes["lifetime"].push_back("idle 2m then close");
  if (r.OneIn(4)) text.planes["filesystem"].push_back("export none");
  if (r.OneIn(4)) text.planes["identity"].push_back("access none");
  // Where the base is silent there is no bound to narrow.
  for (const char* size : {"cpu at most 2", "memory at most 512MiB", "disk at most 1GiB"}) {
    const std::string_view item(size);
    const std::string word(item.substr(0, item.find(' ')));
    for (const std::string& statement : base.planes.at("image")) {
      const bool bounded =
          statement.starts_with("size") && statement.find(" " + word + " ") != std::string::npos;
      if (bounded && r.OneIn(2) && !Says(image, "size"))
        image.push_back("size " + std::string(item));
    }
  }
  return text;
}

}  // namespace curfew::properties
