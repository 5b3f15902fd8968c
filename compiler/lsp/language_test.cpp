// What is answered about a text: completion, hover, references, renaming.
#include "compiler/lsp/completion.h"
#include "compiler/lsp/hover.h"
#include "compiler/lsp/outline.h"
#include "compiler/lsp/rename.h"

#include <algorithm>

#include <catch2/catch.hpp>

namespace curfew::lsp {
namespace {

using Catch::Matchers::Contains;

constexpr std::string_view Policy = R"(language 1

attributes task {
  ## How much harm it could do.
  risk: low < medium < high
  blocks: set of cidr?
}

## The one image.
image base {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}

hosts npm ["npm.packages.example"]

## Where code is written.
sandbox coding when task.kind == "coding" and task.risk < high {
  image { allow base  isolation any  size cpu 1 at most 2, memory 1GiB, disk 1GiB }
  network {
    packages: allow GET npm
    deny any "https://npm.packages.example/evil/**" when task.risk == low or (has egress.method and egress.method == "GET") tls inspect
  }
  lifetime { ttl 1h at most 2h }
}

no_base: deny create when create.image == base and task.risk in [medium, high]
  because "not for these"

test "one" {
  given task   { kind: "coding", risk: low, owner: "user:ana" }
  given caller { id: "user:ana" }
  create image base -> allow coding
  egress GET "https://npm.packages.example/x" -> allow coding.network.packages
  given task { kind: "coding", risk: high }
}
)";

// A set of one text, as an editor holds it. `|` is the place of the caret, and is not of the text.
struct Scene {
  std::string text;
  std::uint32_t caret = 0;
  source::Overlay overlay;
  SetPlace place{.name = "untitled:1", .is_path = false};
  Analysis analysis;
  Vocabulary vocabulary{{}};
  Index index;

  explicit Scene(std::string_view marked) : text(marked) {
    const std::size_t mark = text.find('|');
    if (mark != std::string::npos) text.erase(mark, 1);
    caret = static_cast<std::uint32_t>(mark == std::string::npos ? 0 : mark);
    overlay[place.name] = text;
    analysis = Analyse(place, overlay);
    vocabulary = Vocabulary(analysis.files);
    index = IndexOf(analysis, vocabulary);
  }
  // The policy with the caret at the `nth` occurrence of `word`, inside of it.
  static Scene At(std::string_view word, int nth = 1) {
    std::string marked(Policy);
    std::size_t at = std::string::npos;
    for (int i = 0; i < nth; ++i) at = marked.find(word, at + 1);
    REQUIRE(at != std::string::npos);
    marked.insert(at + 1, "|");
    return Scene(marked);
  }
  // The policy with `more` behind it.
  static Scene With(const std::string& more) { return Scene(std::string(Policy) + more); }

  [[nodiscard]] std::string HoverText() const {
    const auto hover = HoverAt(analysis, index, vocabulary, 0, caret);
    return hover ? hover->markdown : std::string();
  }
  [[nodiscard]] std::vector<std::string> Proposed() const {
    std::vector<std::string> texts;
    const Completion completion = Complete(text, caret, index, vocabulary, analysis.known_ids);
    for (const Proposal& proposal : completion.proposals) texts.push_back(proposal.text);
    return texts;
  }
  [[nodiscard]] bool Proposes(std::string_view word) const {
    const auto texts = Proposed();
    return std::find(texts.begin(), texts.end(), word) != texts.end();
  }
  [[nodiscard]] std::string Renamed(std::string_view to) const {
    const auto edits = Rename(analysis, place, overlay, index, 0, caret, to);
    if (!edits) return "!" + edits.error().message;
    std::string changed = text;
    for (auto edit = edits->rbegin(); edit != edits->rend(); ++edit) {
      changed.replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
    }
    return changed;
  }
};

TEST_CASE("the policy of this test is valid") {
  const Scene scene{Policy};
  INFO((scene.analysis.diagnostics.has_errors()
            ? scene.analysis.diagnostics.diagnostics().front().message
            : ""));
  REQUIRE_FALSE(scene.analysis.diagnostics.has_errors());
  REQUIRE_FALSE(scene.analysis.known_ids.empty());
}

TEST_CASE("hover says what a word is") {
  CHECK_THAT(Scene::At("task.kind").HoverText(),
             Contains("task.kind: string") && Contains("stated by who asks") &&
                 Contains("every action") && Contains("what kind of work the task is"));
  CHECK_THAT(Scene::At("egress.method").HoverText(),
             Contains("egress.method: string?") && Contains("`egress`: `string?`, verified"));
  CHECK_THAT(Scene::At("task.risk").HoverText(),
             Contains("task.risk: low < medium < high") && Contains("How much harm"));
  CHECK_THAT(Scene::At("risk").HoverText(), Contains("How much harm"));
  CHECK_THAT(Scene::At("risk: low,").HoverText(), Contains("How much harm"));
  CHECK_THAT(Scene::At("base and").HoverText(),
             Contains("image base") && Contains("The one image"));
  CHECK_THAT(Scene::At("npm\n").HoverText(), Contains("hosts npm"));
  CHECK_THAT(Scene::At("medium, high]").HoverText(), Contains("a value of task.risk"));
  CHECK_THAT(Scene::At("coding\n").HoverText(),
             Contains("sandbox coding") && Contains("Where code is written") &&
                 Contains("lifetime ttl: `1h at most 2h`") && Contains("image cpu: `1 at most 2`"));
  CHECK_THAT(Scene::At("packages\n").HoverText(), Contains("coding.network.packages"));
  CHECK_THAT(Scene::At("egress GET").HoverText(), Contains("a request is about to leave"));
  CHECK(Scene::At("language").HoverText().empty());
}

TEST_CASE("hover over a class has what holds in the end, of its whole chain and the floor") {
  const std::string more =
      "sandbox careful narrows coding when has task.blocks and task.blocks subset of "
      "[\"10.0.0.0/8\"] {\n"
      "  image    { size memory 512MiB }\n  lifetime { ttl 30m  grace 5s }\n}\n"
      "every sandbox { lifetime { grace 2s }  evidence { retain 120d } }\n";
  const auto of = [&](const std::string& text) {
    std::string marked = std::string(Policy) + text;
    marked.insert(marked.find("careful") + 1, "|");
    return Scene(marked).HoverText();
  };
  const std::string valid = of(more);
  CHECK_THAT(valid, Contains("What holds in the end"));
  CHECK_THAT(valid, Contains("image cpu: `1 at most 2`") && Contains("image memory: `512MiB`"));
  CHECK_THAT(valid, Contains("lifetime ttl: `30m`") && !Contains("1h at most 2h"));
  CHECK_THAT(valid, Contains("lifetime grace: `2s`") && Contains("evidence retain: `120d`"));
  // With an error it is what is written, link by link.
  const std::string written = of(more + "deny create when task.risk == lw\n");
  CHECK_THAT(written, !Contains("What holds in the end"));
  CHECK_THAT(written,
             Contains("`careful`: `ttl 30m`") && Contains("`coding`: `ttl 1h at most 2h`"));
}

TEST_CASE("completion knows attributes by the actions of the rule") {
  const Scene egress = Scene::With("deny egress when egress.|");
  CHECK(egress.Proposes("egress.host"));
  CHECK(egress.Proposes("task.risk"));
  CHECK(egress.Proposes("sandbox.age"));
  CHECK_FALSE(egress.Proposes("create.ttl"));
  const Scene both = Scene::With("deny egress, create when |");
  CHECK(both.Proposes("task.risk"));
  CHECK(both.Proposes("has"));
  CHECK(both.Proposes("not"));
  CHECK_FALSE(both.Proposes("egress.host"));
  CHECK_FALSE(both.Proposes("and"));
  const Scene of_class = Scene::With("sandbox more when task.ki|");
  CHECK(of_class.Proposes("task.kind"));
  CHECK_FALSE(of_class.Proposes("create.ttl"));
  CHECK(Scene::With("deny create when has task.|").Proposes("task.blocks"));
}

TEST_CASE("completion knows values by the attribute beside them") {
  const Scene risk = Scene::With("deny create when task.risk == |");
  REQUIRE(risk.Proposed().size() > 3);
  CHECK(risk.Proposed()[0] == "low");
  CHECK(risk.Proposed()[2] == "high");
  CHECK(Scene::With("deny create when task.risk not in [low, m|").Proposes("medium"));
  CHECK(Scene::With("deny create when create.image == |").Proposes("base"));
  CHECK(Scene::With("deny egress when egress.host in |").Proposes("npm"));
  CHECK(Scene::With("deny egress when sandbox.class == |").Proposes("\"coding\""));
  CHECK(Scene::With("deny create when caller.operator == |").Proposes("true"));
}

TEST_CASE("completion knows the words that may stand at a place") {
  CHECK(Scene::With("|").Proposes("sandbox"));
  CHECK(Scene::With("sandbox more { |").Proposes("lifetime"));
  CHECK_FALSE(Scene::With("sandbox more { |").Proposes("ttl"));
  CHECK(Scene::With("sandbox more { lifetime { |").Proposes("ttl"));
  CHECK(Scene::With("sandbox more { lifetime { ttl 1h |").Proposes("at most"));
  CHECK(Scene::With("sandbox more { lifetime { ttl 1h |").Proposes("idle"));
  CHECK(Scene::With("sandbox more { lifetime { idle 1h then |").Proposes("freeze"));
  CHECK(Scene::With("sandbox more { image { allow |").Proposes("base"));
  CHECK(Scene::With("sandbox more { image { isolation |").Proposes("kvm"));
  CHECK(Scene::With("sandbox more { image { size cpu 1, |").Proposes("memory"));
  CHECK(Scene::With("sandbox more { network { allow GET |").Proposes("npm"));
  CHECK(Scene::With("sandbox more { network { allow |").Proposes("POST"));
  CHECK(Scene::With("sandbox more { network { x: deny |").Proposes("any"));
  CHECK(Scene::With("sandbox more narrows |").Proposes("coding"));
  CHECK(Scene::With("deny create |").Proposes("when"));
  CHECK(Scene::With("deny create |").Proposes("because"));
  CHECK(Scene::With("deny |").Proposes("egress"));
  CHECK(Scene::With("attributes task { size: |").Proposes("principal"));
  CHECK(Scene::With("sandbox more { identity { access task.|").Proposes("task.owner"));
}

TEST_CASE("completion in tests knows subjects, facts, wishes and ids") {
  const std::string open = "test \"two\" { ";
  CHECK(Scene::With(open + "given |").Proposes("task"));
  CHECK(Scene::With(open + "given task { |").Proposes("risk"));
  CHECK(Scene::With(open + "given task { kind: \"a\", r|").Proposes("risk"));
  CHECK(Scene::With(open + "given task { risk: |").Proposes("medium"));
  CHECK(Scene::With(open + "given task { risk: low }, caller { |").Proposes("groups"));
  CHECK(Scene::With(open + "create |").Proposes("ttl"));
  CHECK(Scene::With(open + "create image |").Proposes("base"));
  CHECK(Scene::With(open + "create class |").Proposes("coding"));
  CHECK(Scene::With(open + "create image base -> |").Proposes("allow"));
  CHECK(Scene::With(open + "create image base -> allow coding with { |").Proposes("ttl"));
  // The set has an error here; its labels are there all the same.
  CHECK(Scene::With(open + "egress GET \"https://a.example/\" -> deny |")
            .Proposes("coding.network.packages"));
}

TEST_CASE("nothing is completed inside of a string or a comment") {
  CHECK(Scene::With("deny create because \"w|").Proposed().empty());
  CHECK(Scene::With("# dea|").Proposed().empty());
  CHECK_FALSE(Scene::With("# dead\n|").Proposed().empty());
  CHECK(Scene(std::string(200, '(') + "|").Proposed().empty());
}

TEST_CASE("a name is renamed wherever it stands, and nothing else is") {
  const auto count = [](const std::string& text, std::string_view word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      ++found;
    }
    return found;
  };
  const std::string image = Scene::At("base and").Renamed("python");
  CHECK(count(image, "python") == 4);
  CHECK(count(image, " base") == 0);
  const std::string attribute = Scene::At("task.risk").Renamed("harm");
  CHECK(count(attribute, "task.harm") == 3);
  CHECK(count(attribute, "harm: ") == 3);
  CHECK(count(attribute, "risk") == 0);
  const std::string label = Scene::At("packages:").Renamed("mirror");
  CHECK_THAT(label, Contains("mirror: allow GET") && Contains("allow coding.network.mirror"));
  const std::string of_class = Scene::At("coding when").Renamed("work");
  CHECK_THAT(of_class, Contains("sandbox work when task.kind == \"coding\"") &&
                           Contains("-> allow work\n") && Contains("work.network.packages"));
  const std::string list = Scene::At("npm [").Renamed("mirrors");
  CHECK_THAT(list, Contains("hosts mirrors [") && Contains("allow GET mirrors"));
  const std::string value = Scene::At("high\n").Renamed("severe");
  CHECK(count(value, "severe") == 4);
}

TEST_CASE("a renaming that would change the set is refused") {
  CHECK(Scene::At("base and").Renamed("coding") ==
        "!`coding` is declared twice; names are unique over the set");
  CHECK_THAT(Scene::At("base and").Renamed("when"), Contains("!"));
  CHECK_THAT(Scene::At("base and").Renamed("any"), Contains("!"));
  CHECK_THAT(Scene::At("packages:").Renamed("default"), Contains("!`default`"));
  CHECK_THAT(Scene::At("risk").Renamed("kind"), Contains("built-in"));
  CHECK_THAT(Scene::At("base and").Renamed("Base"), Contains("is no name"));
  CHECK_THAT(Scene::At("base and").Renamed(""), Contains("is no name"));
  CHECK_THAT(Scene::At("language").Renamed("x"), Contains("no name of the set"));
}

TEST_CASE("the outline has what a file declares") {
  const Scene scene{Policy};
  const auto nodes = OutlineOf(scene.analysis.files.front(), scene.analysis.sources);
  std::string names;
  for (const OutlineNode& node : nodes) {
    names += node.name + "(";
    for (const OutlineNode& child : node.children) {
      names += child.name + (child.children.empty() ? " " : "." + child.children[0].name + " ");
    }
    names += ") ";
  }
  CHECK(names ==
        "attributes task(risk blocks ) base() npm() coding(image network.packages lifetime ) "
        "no_base() one() ");
  CHECK(FoldsOf(scene.analysis.sources, 0).size() == 5);
}

}  // namespace
}  // namespace curfew::lsp
