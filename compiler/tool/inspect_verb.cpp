#include "compiler/module/policy_module.h"
#include "compiler/tool/class_table.h"
#include "compiler/tool/color_option.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/open_bundle.h"
#include "compiler/tool/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace curfew::tool {
namespace {

using Json = nlohmann::ordered_json;

// What there is to see, from either a bundle or files.
struct Inspected {
  module::BundleContent content;
  bool is_bundle = false;
  std::optional<Ed25519PublicKey> signer;
};

class InspectVerb : public Verb {
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
  void Configure(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set, or a bundle")->required();
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--class", class_, "only this class");
    app.add_flag("--files", files_, "print every file of the set, each behind its name");
    trust_.Configure(app);
    color_.Configure(app);
  }
  int Run(Console& console) override {
    color_.Apply(console);
    const auto run = TryRun(console);
    if (run) return *run;
    console.Complain(run.error().message);
    return ExitStatusOf(run.error().code);
  }

 private:
  Result<int> TryRun(Console& console) {
    Inspected inspected;
    CURFEW_TRY(std::optional<module::Bundle> bundle, OpenBundle(paths_, trust_.keys()));
    if (bundle) {
      inspected = {std::move(bundle->content), true, bundle->signer};
    } else {
      CURFEW_TRY(Compilation made, CompileSet(paths_));
      if (const int status = PrintDiagnostics(made, console); status != 0) return status;
      inspected.content = ContentOf(made);
    }
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

  [[nodiscard]] std::string AsTables(const Inspected& inspected,
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
    for (const ClassTable& table : TablesOf(policy)) {
      if (IsWanted(table.name)) text += "\n" + RenderText(table);
    }
    return text;
  }

  [[nodiscard]] std::string AsJson(const Inspected& inspected,
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
    json["classes"] = Json::array();
    for (const ClassTable& table : TablesOf(policy)) {
      if (!IsWanted(table.name)) continue;
      Json planes = Json::array();
      for (const PlaneTable& plane : table.planes) {
        Json rows = Json::array();
        for (const PlaneRow& row : plane.rows) rows.push_back(JsonOf(row));
        planes.push_back({{"plane", plane.name}, {"rows", std::move(rows)}});
      }
      json["classes"].push_back({{"class", table.name}, {"planes", std::move(planes)}});
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  static Json JsonOf(const PlaneRow& row) {
    Json json = {{"what", row.what}, {"value", row.value}};
    if (!row.id.empty()) json["id"] = row.id;
    if (!row.file.empty()) {
      json["file"] = row.file;
      json["line"] = row.line;
    }
    return json;
  }

  std::vector<std::string> paths_;
  std::string format_ = "text";
  std::string class_;
  bool files_ = false;
  TrustOption trust_;
  ColorOption color_;
};

}  // namespace

std::unique_ptr<Verb> MakeInspectVerb() { return std::make_unique<InspectVerb>(); }

}  // namespace curfew::tool
