#include "compiler/inspect/class_table.h"
#include "compiler/inspect/search_cost.h"
#include "compiler/module/index_cost.h"
#include "compiler/module/policy_module.h"
#include "compiler/tool/policy_option.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

using Opened = PolicyOption::Opened;

class InspectVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "inspect"; }
  [[nodiscard]] std::string_view summary() const override {
    return "show what a policy set comes to: every class with its effective bounds, every rule";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Of a set or a bundle. Bounds are those that hold in the end, whichever class of a "
           "chain "
           "wrote them;\na rule bears the id of the class that declares it. With --files the texts "
           "of a bundle are printed.\n"
           "exit status: 0 shown, 2 the bundle is not what it says or nobody trusted signed it, 3 "
           "the policy is\ninvalid, 1 could not run\n\n"
           "example:\n  curfew inspect policies/\n"
           "  curfew inspect acme.bundle --trust policy.pub --format json";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    policy_.Configure(app);
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--class", class_, "only this class");
    app.add_flag("--files", files_, "print every file of the set, each behind its name");
  }
  Result<int> TryRun(Console& console) override {
    CURFEW_TRY(const std::optional<Opened> opened, policy_.ReadContent(console));
    if (!opened) return exit_status::InvalidPolicy;
    const Opened& inspected = *opened;
    if (files_) {
      for (const module::BundleFile& file : inspected.content.files) {
        console.Out(fmt::format("# {}\n{}", Printable(file.name), file.text));
        if (!file.text.ends_with('\n')) console.Out("\n");
      }
      return exit_status::Fine;
    }
    CURFEW_TRY(const module::PolicyModule policy,
               module::PolicyModule::Load(inspected.content.module, 1));
    if (!class_.empty() && !policy.FindClass(class_)) {
      return Failure(FailureCode::NotFound, "the set has no class named " + Printable(class_, 60));
    }
    console.Out(format_ == "json" ? AsJson(inspected, policy) : AsTables(inspected, policy));
    return exit_status::Fine;
  }

  [[nodiscard]] bool IsWanted(std::string_view name) const {
    return class_.empty() || name == class_;
  }

  [[nodiscard]] std::string AsTables(const Opened& inspected,
                                     const module::PolicyModule& policy) const {
    const module::BundleContent& content = inspected.content;
    std::string text = fmt::format("policy    {}\nlanguage  {}, compiler {}\n",
                                   ToString(content.policy), content.language, content.compiler);
    if (!content.packages.empty()) {
      text += fmt::format("packages  {}\n", fmt::join(content.packages, ", "));
    }
    for (const module::BundleFile& file : content.files) {
      text += fmt::format("file      {}, {} bytes\n", Printable(file.name), file.text.size());
    }
    text += fmt::format("code      {} bytes, at most {} steps a decision\n", content.module.size(),
                        policy.manifest().operations_max);
    if (inspected.is_bundle) {
      text += inspected.signer
                  ? fmt::format("signed    by {}\n", ToString(Sha256(*inspected.signer)))
                  : "signed    no\n";
    }
    text += fmt::format("index     {} bytes; a decision looks at what its facts lead to\n",
                        module::IndexBytes(policy.tables()));
    text += RenderText(inspect::SearchCostsOf(policy));
    for (const inspect::ClassTable& table : inspect::TablesOf(policy)) {
      if (IsWanted(table.name)) text += "\n" + RenderText(table);
    }
    return text;
  }

  [[nodiscard]] std::string AsJson(const Opened& inspected,
                                   const module::PolicyModule& policy) const {
    const module::BundleContent& content = inspected.content;
    Json json = {
        {"version", 1},
        {"policy", ToString(content.policy)},
        {"language", content.language},
        {"compiler", content.compiler},
        {"packages", content.packages},
        {"code",
         {{"bytes", content.module.size()}, {"steps_at_most", policy.manifest().operations_max}}}};
    json["files"] = Json::array();
    for (const module::BundleFile& file : content.files) {
      json["files"].push_back({{"name", file.name},
                               {"bytes", file.text.size()},
                               {"digest", ToString(Sha256(AsBytes(file.text)))}});
    }
    if (inspected.is_bundle) {
      json["signed_by"] =
          inspected.signer ? Json(ToString(Sha256(*inspected.signer))) : Json(nullptr);
    }
    json["index"] = {{"bytes", module::IndexBytes(policy.tables())}, {"actions", Json::array()}};
    for (const inspect::SearchCost& cost : inspect::SearchCostsOf(policy)) {
      json["index"]["actions"].push_back(JsonOf(cost));
    }
    json["classes"] = Json::array();
    for (const inspect::ClassTable& table : inspect::TablesOf(policy)) {
      if (!IsWanted(table.name)) continue;
      Json planes = Json::array();
      for (const inspect::PlaneTable& plane : table.planes) {
        Json rows = Json::array();
        for (const inspect::PlaneRow& row : plane.rows) rows.push_back(JsonOf(row));
        planes.push_back({{"plane", plane.name}, {"rows", std::move(rows)}});
      }
      json["classes"].push_back({{"class", table.name}, {"planes", std::move(planes)}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  static Json JsonOf(const std::vector<inspect::FoundRules>& found) {
    Json json = Json::array();
    for (const auto& [fact, rules] : found) json.push_back({{"fact", fact}, {"rules", rules}});
    return json;
  }

  static Json JsonOf(const inspect::SearchCost& cost) {
    Json json = {{"action", cost.action},
                 {"class", cost.class_name},
                 {"found", JsonOf(cost.found)},
                 {"on_every_request", cost.always}};
    if (cost.action == schema::WordOf(schema::Action::Create)) {
      json["classes_found"] = JsonOf(cost.classes_found);
      json["classes_on_every_request"] = cost.classes_always;
    }
    return json;
  }

  static Json JsonOf(const inspect::PlaneRow& row) {
    Json json = {{"what", row.what}, {"value", row.value}};
    if (!row.id.empty()) json["id"] = row.id;
    if (!row.file.empty()) {
      json["file"] = row.file;
      json["line"] = row.line;
    }
    return json;
  }

  PolicyOption policy_;
  std::string format_ = "text";
  std::string class_;
  bool files_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeInspectVerb() { return std::make_unique<InspectVerb>(); }

}  // namespace curfew::tool
