#include "compiler/module/bundle.h"
#include "compiler/tool/compile_set.h"
#include "compiler/tool/pem_key.h"
#include "compiler/tool/result_verb.h"
#include "compiler/tool/root_option.h"
#include "compiler/tool/verbs.h"
#include "compiler/tool/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::tool {
namespace {

class CompileVerb : public ResultVerb {
 public:
  [[nodiscard]] std::string_view name() const override { return "compile"; }
  [[nodiscard]] std::string_view summary() const override {
    return "make a policy set one file that decides elsewhere, signed or not";
  }
  [[nodiscard]] std::string_view example() const override {
    return "The bundle holds the decision code and every file of the set; equal files under equal "
           "names\nmake equal bytes. `eval`, `run`, `reload` and `inspect` take it in place of the "
           "files, and with\n--trust only one that the owner of a key signed. Keys are Ed25519 in "
           "PEM:\n  openssl genpkey -algorithm ed25519 -out policy.key   (mode 0600)\n  openssl "
           "pkey -in policy.key -pubout -out policy.pub\n"
           "exit status: 0 written, 3 the policy is invalid, 1 could not run\n\n"
           "example:\n  curfew compile policies/ -o acme.bundle --sign policy.key\n"
           "  curfew eval acme.bundle --trust policy.pub --request request.json";
  }

 private:
  void ConfigureRest(CLI::App& app) override {
    app.add_option("POLICY", paths_, "files and folders of the set")->required();
    app.add_option("-o,--output", output_, "the bundle, or - for standard output")->required();
    app.add_option("--sign", key_, "a private key of Ed25519 in PEM");
    root_.Configure(app);
  }
  Result<int> TryRun(Console& console) override {
    // A key that cannot sign is known before the work.
    std::optional<module::BundleSigner> signer;
    if (!key_.empty()) {
      CURFEW_TRY(signer, ReadSigningKey(key_));
    }
    CURFEW_TRY(Compilation made, CompileSet(paths_, {.root = root_.folder()}));
    if (const int status = PrintDiagnostics(made, console); status != 0) return status;
    module::BundleContent content = ContentOf(made);
    const Digest policy = content.policy;
    const std::size_t files = content.files.size();
    const Bytes bundle = module::WriteBundle(std::move(content), signer);
    CURFEW_TRY_VOID(WriteOutput(output_, bundle, console));
    if (output_ == "-") return exit_status::Fine;
    console.Out(fmt::format("{}: {} of {}, {} bytes, {}\n", output_, Counted(files, "file"),
                            ToString(policy), bundle.size(),
                            signer ? "signed by " + ToString(Sha256(signer->key)) : "not signed"));
    return exit_status::Fine;
  }

  std::vector<std::string> paths_;
  std::string output_;
  std::string key_;
  RootOption root_;
};

}  // namespace

std::unique_ptr<Verb> MakeCompileVerb() { return std::make_unique<CompileVerb>(); }

}  // namespace curfew::tool
