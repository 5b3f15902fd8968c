// What lies where below Curfew's state directory. Only names; who owns a file writes it.
#pragma once

#include "compiler/base/result.h"
#include "runtime/host/files.h"

#include <string>
#include <string_view>

namespace curfew::host {

inline constexpr std::string_view StateDirectoryDefault = "/var/lib/curfew";

struct StateDirectory {
  std::string root;

  [[nodiscard]] std::string Database() const { return root + "/curfew.db"; }
  [[nodiscard]] std::string Keys() const { return root + "/keys"; }
  [[nodiscard]] std::string ReceiptKey() const { return Keys() + "/receipt.ed25519"; }
  [[nodiscard]] std::string ReceiptPublicKey() const { return Keys() + "/receipt.pub"; }
  [[nodiscard]] std::string TokenKey() const { return Keys() + "/token.ed25519"; }
  [[nodiscard]] std::string TokenPublicKey() const { return Keys() + "/token.pub"; }
  [[nodiscard]] std::string NativeCodeKey() const { return Keys() + "/native_code.ed25519"; }
  [[nodiscard]] std::string NativeCodePublicKey() const { return Keys() + "/native_code.pub"; }
  // Native code that was made before; all of it can be removed at any time.
  [[nodiscard]] std::string NativeCode() const { return root + "/native_code"; }
  // The host's chain of signed heads.
  [[nodiscard]] std::string Heads() const { return root + "/heads"; }
  [[nodiscard]] std::string Sandboxes() const { return root + "/sandboxes"; }
  // One sandbox: what stays after its end (records, receipts, exports) and what may not (run/,
  // reserve).
  [[nodiscard]] std::string Sandbox(std::string_view id) const {
    return Sandboxes() + "/" + std::string(id);
  }
  [[nodiscard]] std::string Records(std::string_view id) const { return Sandbox(id) + "/records"; }
  [[nodiscard]] std::string Receipt(std::string_view id) const {
    return Sandbox(id) + "/receipt.json";
  }
  // Receipts whose place a later one took, each by the number of records that it covers.
  [[nodiscard]] std::string Superseded(std::string_view id) const {
    return Sandbox(id) + "/superseded";
  }
  [[nodiscard]] std::string SupersededReceipt(std::string_view id, std::uint64_t records) const {
    return Superseded(id) + "/" + std::to_string(records) + ".json";
  }
  [[nodiscard]] std::string Exports(std::string_view id) const { return Sandbox(id) + "/exports"; }
  [[nodiscard]] std::string Run(std::string_view id) const { return Sandbox(id) + "/run"; }
  // Space that lets a receipt be written when the disk is full; removed before that is needed.
  [[nodiscard]] std::string Reserve(std::string_view id) const { return Sandbox(id) + "/reserve"; }

  // Makes the root and the directories below it, each 0700.
  Outcome Prepare(Files& files) const;
  // Makes the directory of one sandbox, its exports and run directories (0700), and its reserve.
  Outcome PrepareSandbox(Files& files, std::string_view id) const;
  // Removes all of a sandbox that is no evidence: the reserve and the run directory. Part of
  // closing, before its receipt is written; repeating it is no failure.
  Outcome RemoveTemporary(Files& files, std::string_view id) const;
};

inline constexpr std::uint64_t ReserveBytes = 1024 * 1024;

}  // namespace curfew::host
