#include "runtime/client/station.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/verify.h"

#include <CLI/CLI.hpp>

namespace curfew::client {
namespace {

class ReceiptVerb final : public Verb {
 public:
  explicit ReceiptVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "receipt"; }
  [[nodiscard]] std::string_view summary() const override {
    return "show or verify the receipt of a sandbox";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Everything is computed again from the bytes: signature, statement, every record, the "
           "host's heads.\nWithout --key the host's own public key is trusted, and the answer says "
           "so. A file's records are\nsought beside it.\n"
           "exit status: 0 valid, 2 tampered or absent, 1 could not run\n\n"
           "example:\n  curfew receipt verify cf-abcdefghij234567 --key receipt.pub\n"
           "  curfew receipt show cf-abcdefghij234567";
  }
  void Configure(CLI::App& app) override {
    app.require_subcommand(1);
    for (const auto& [word, help] : {std::pair("show", "verify it and print it as a table"),
                                     std::pair("verify", "say whether it holds")}) {
      CLI::App* below = app.add_subcommand(word, help);
      below->add_option("SANDBOX", which_, "a sandbox's id, or a receipt file")->required();
      below->add_option("--key", key_, "the public key to trust, a PEM file");
      below->add_option("--state", state_, std::string(StateHelp));
      below->add_option("--format", format_, "text or json")
          ->check(CLI::IsMember({"text", "json"}));
      below->callback([this, word = std::string(word)] { show_ = word == "show"; });
    }
  }

  int Run(Console& console) override {
    const host::StateDirectory state{.root = state_};
    const bool is_id = IsSandboxId(which_);
    const std::size_t slash = which_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : which_.substr(0, slash);
    const evidence::Verification verification = evidence::Verify(
        means_.files, {.receipt_path = is_id ? state.Receipt(which_) : which_,
                       .chain_path = is_id ? state.Records(which_) : folder + "/records",
                       .heads_path = state.Heads(),
                       .key_path = key_.empty() ? state.ReceiptPublicKey() : key_,
                       .key_pinned = !key_.empty(),
                       .sandbox_id = is_id ? which_ : std::string(),
                       .witnessed = std::nullopt});
    if (format_ == "json") {
      console.Out(evidence::RenderVerificationJson(verification));
      if (show_ && verification.receipt) ShowStatement(console, *verification.receipt);
    } else {
      if (show_ && verification.receipt) {
        console.Out(evidence::RenderReceipt(*verification.receipt) + "\n");
      }
      console.Out(evidence::RenderVerification(verification));
    }
    return evidence::ExitStatusOf(verification.standing);
  }

 private:
  static void ShowStatement(Console& console, const evidence::Receipt& receipt) {
    const Result<std::string> statement = evidence::EncodeStatement(receipt);
    if (statement) console.Out(*statement + "\n");
  }

  const Means& means_;
  bool show_ = false;
  std::string which_;
  std::string key_;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeReceiptVerb(const Means& means) {
  return std::make_unique<ReceiptVerb>(means);
}

}  // namespace curfew::client
