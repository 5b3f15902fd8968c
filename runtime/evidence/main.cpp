// curfew-verify: does a receipt hold? Needs nothing of a host but the files.
#include "runtime/evidence/verify.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/host/state_directory.h"

#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace curfew;

constexpr const char* Footer =
    R"(A sandbox is named by its id, below the state directory, or by its folder with the heads beside.

Examples:
  curfew-verify cf-4f7k2mzq5x3jw6ab
  curfew-verify --key receipt.pub --heads ./heads ./cf-4f7k2mzq5x3jw6ab

Exit status: 0 valid, 2 tampered, absent or superseded, 1 could not run.)";

// "N:sha256:…"
std::optional<evidence::VerifyRequest::Witnessed> ParseWitness(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos || colon > 18) return std::nullopt;
  const std::string number = text.substr(0, colon);
  if (number.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const std::optional<Digest> digest = ParseDigest(text.substr(colon + 1));
  if (!digest) return std::nullopt;
  return evidence::VerifyRequest::Witnessed{std::stoull(number), *digest};
}

int Run(int argc, char** argv) {
  CLI::App app{"Verifies the receipt of a sandbox against its records and its host's heads.",
               "curfew-verify"};
  app.footer(Footer);
  std::string sandbox;
  std::string state_root(host::StateDirectoryDefault);
  std::string key_path;
  std::string heads_path;
  std::string witness;
  std::string format = "text";
  app.add_option("sandbox", sandbox, "The sandbox's id, or the path of its folder")->required();
  app.add_option("--state", state_root, "The state directory")->envname("CURFEW_STATE");
  app.add_option("--key", key_path, "The public key to trust (PEM) instead of the host's own");
  app.add_option("--heads", heads_path, "The host's chain of heads");
  app.add_option("--witness", witness, "N:sha256:…, a head that was seen outside the host");
  app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;
  }

  const host::StateDirectory state{state_root};
  const bool by_id = IsSandboxId(sandbox);
  if (std::error_code error; !by_id && !std::filesystem::is_directory(sandbox, error)) {
    fmt::print(stderr, "curfew-verify: {} is neither a sandbox's id nor its folder\n",
               Printable(sandbox));
    return 1;
  }
  const std::string folder = by_id ? state.Sandbox(sandbox) : sandbox;
  evidence::VerifyRequest request;
  request.receipt_path = folder + "/receipt.json";
  request.chain_path = folder + "/records";
  request.heads_path = heads_path.empty() ? state.Heads() : heads_path;
  request.key_pinned = !key_path.empty();
  request.key_path = request.key_pinned ? key_path : state.ReceiptPublicKey();
  // A folder that is named as a sandbox is to hold that one's receipt.
  const std::string name = std::filesystem::path(folder).lexically_normal().filename();
  if (IsSandboxId(name)) request.sandbox_id = name;
  if (!witness.empty()) {
    request.witnessed = ParseWitness(witness);
    if (!request.witnessed) {
      fmt::print(stderr, "curfew-verify: --witness takes N:sha256: and 64 digits\n");
      return 1;
    }
  }
  const host::LinuxHost host;
  const evidence::Verification verification = evidence::Verify(*host.files, request);
  std::string text = evidence::RenderVerificationJson(verification);
  if (format == "text") {
    text = evidence::RenderVerification(verification);
    if (verification.receipt) text += "\n" + evidence::RenderReceipt(*verification.receipt);
  }
  fmt::print("{}", text);
  if (std::fflush(stdout) != 0) {
    fmt::print(stderr, "curfew-verify: the answer could not be written\n");
    return 1;
  }
  return evidence::ExitStatusOf(verification.standing);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "curfew-verify: {}\n", error.what());
    return 1;
  }
}
