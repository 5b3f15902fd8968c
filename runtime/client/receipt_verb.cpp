#include "runtime/client/station.h"
#include "runtime/evidence/heads.h"
#include "runtime/evidence/receipt.h"
#include "runtime/evidence/signing_key.h"
#include "runtime/evidence/verify.h"

#include <algorithm>

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
           "exit status: 0 valid, 2 tampered, absent or superseded, 1 could not run; of several "
           "the "
           "highest\n\n"
           "example:\n  curfew receipt verify cf-abcdefghij234567 --key receipt.pub\n"
           "  curfew receipt show cf-abcdefghij234567";
  }
  void Configure(CLI::App& app) override {
    app.require_subcommand(1);
    for (const auto& [word, help] : {std::pair("show", "verify it and print it as a table"),
                                     std::pair("verify", "say whether it holds")}) {
      CLI::App* below = app.add_subcommand(word, help);
      below->add_option("SANDBOX", which_, "a sandbox's id, or a receipt file; or several")
          ->required();
      below->add_option("--key", key_, "the public key to trust, a PEM file");
      below->add_option("--state", state_, std::string(StateHelp));
      below->add_option("--format", format_, "text or json")
          ->check(CLI::IsMember({"text", "json"}));
      below->callback([this, word = std::string(word)] { show_ = word == "show"; });
    }
  }

  int Run(Console& console) override {
    for (const std::string& one : which_) {
      if (const Outcome named = CheckName(one); !named) {
        console.Complain(named.error().message);
        return ExitStatusOf(named.error().code);
      }
    }
    // Read once for all that are asked for. Without a key each says that it is missing.
    std::optional<Result<evidence::HeadsLog>> heads;
    if (const auto key = evidence::LoadPublicKey(means_.files, KeyPath());
        key && which_.size() > 1) {
      heads = evidence::ReadHeads(means_.files, State().Heads(), *key);
    }
    int status = exit_status::Fine;
    for (const std::string& one : which_) {
      const evidence::VerifyRequest request = RequestFor(one);
      const evidence::Verification verification =
          heads ? evidence::Verify(means_.files, request, *heads)
                : evidence::Verify(means_.files, request);
      Show(console, verification);
      status = std::max(status, evidence::ExitStatusOf(verification.standing));
    }
    return status;
  }

 private:
  [[nodiscard]] host::StateDirectory State() const { return {.root = state_}; }
  [[nodiscard]] std::string KeyPath() const {
    return key_.empty() ? State().ReceiptPublicKey() : key_;
  }

  // What is no sandbox's id must be a file.
  [[nodiscard]] Outcome CheckName(const std::string& name) const {
    if (IsSandboxId(name)) return Ok();
    const Result<host::FileStatus> status = means_.files.Inspect(name, host::Follow::Yes);
    if (status && status->kind == host::FileKind::Regular) return Ok();
    return Failure(FailureCode::Usage,
                   Printable(name) +
                       " is neither a sandbox's id (`curfew ps --all` lists them) "
                       "nor a receipt file");
  }

  [[nodiscard]] evidence::VerifyRequest RequestFor(const std::string& name) const {
    const bool is_id = IsSandboxId(name);
    const std::size_t slash = name.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : name.substr(0, slash);
    return {.receipt_path = is_id ? State().Receipt(name) : name,
            .chain_path = is_id ? State().Records(name) : folder + "/records",
            .heads_path = State().Heads(),
            .key_path = KeyPath(),
            .key_pinned = !key_.empty(),
            .sandbox_id = is_id ? name : std::string(),
            .witnessed = std::nullopt};
  }

  void Show(Console& console, const evidence::Verification& verification) const {
    if (format_ == "json") {
      console.Out(evidence::RenderVerificationJson(verification));
      if (show_ && verification.receipt) ShowStatement(console, *verification.receipt);
      return;
    }
    if (show_ && verification.receipt) {
      console.Out(evidence::RenderReceipt(*verification.receipt) + "\n");
    }
    console.Out(evidence::RenderVerification(verification));
  }

  static void ShowStatement(Console& console, const evidence::Receipt& receipt) {
    const Result<std::string> statement = evidence::EncodeStatement(receipt);
    if (statement) console.Out(*statement + "\n");
  }

  const Means& means_;
  bool show_ = false;
  std::vector<std::string> which_;
  std::string key_;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> MakeReceiptVerb(const Means& means) {
  return std::make_unique<ReceiptVerb>(means);
}

}  // namespace curfew::client
