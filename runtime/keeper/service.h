// A sandbox at work: takes the client's packets, keeps the time, and says when and why it ends.
#pragma once

#include "runtime/keeper/commands.h"
#include "runtime/keeper/exports.h"

#include <optional>
#include <string>

namespace curfew::keeper {

// Why a sandbox ended, and what the client still wanted to say.
struct EndOfService {
  std::string reason;  // for the receipt: "done", "deadline", "idle", …
  std::optional<int> status;
};

class Service final : public host::EventSource {
 public:
  Service(Desk& desk, host::ExportDirectory directory)
      : desk_(desk), commands_(desk), exports_(desk, std::move(directory)) {}

  // False: what came makes no sense, and the client is taken for gone.
  bool OnPacket(const Packet& packet);
  // Somebody ends the keeper itself.
  void OnTermination();
  // A reload took the sandbox's class away.
  void OnClassGone();

  // Set when it is over. From then on nothing more is begun.
  [[nodiscard]] const std::optional<EndOfService>& end() const { return end_; }

  // The sandbox's time, as events of the loop.
  [[nodiscard]] std::vector<Watch> Watches() const override { return {}; }
  void OnReady() override {}
  [[nodiscard]] std::optional<std::int64_t> due_ms() const override;
  void OnTime() override { Look(); }
  // Whether time, or the loss of the machine, has ended it.
  void Look();

 private:
  void End(EndingWhy why, std::string detail);

  Desk& desk_;
  Commands commands_;
  Exports exports_;
  std::optional<EndingWhy> ending_;  // authority is over; an export may still finish
  std::optional<EndOfService> end_;
};

}  // namespace curfew::keeper
