// The door by which a running sandbox is given another policy set: a socket of its keeper's own,
// found by the sandbox's id. Root and whoever started the sandbox may come in, machine code only
// from root; one at a time, and whoever says nothing is sent away.
#pragma once

#include "runtime/host/clock.h"
#include "runtime/host/linux/event_loop.h"
#include "runtime/host/linux/message_socket.h"
#include "runtime/keeper/protocol.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace curfew::keeper {

// The name of its socket.
std::string ReloadDoorName(const std::string& sandbox);

class ReloadDoor final : public host::EventSource {
 public:
  // What the keeper makes of a policy set; called on its loop.
  using Reload = std::function<ReloadedMessage(const ReloadMessage&, const HandedPolicy& handed)>;

  // Whoever comes before it is in the loop waits. Busy when somebody has taken the name.
  static Result<std::unique_ptr<ReloadDoor>> Open(const std::string& sandbox, uid_t starter,
                                                  const host::Clock& clock, Reload reload);

  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;
  [[nodiscard]] std::optional<std::int64_t> due_ms() const override;
  void OnTime() override { visitor_.reset(); }

 private:
  struct Visitor {
    host::MessageSocket socket;
    std::int64_t until_ms = 0;
  };
  ReloadDoor(OwnedFd listener, uid_t starter, const host::Clock& clock, Reload reload)
      : listener_(std::move(listener)),
        starter_(starter),
        clock_(clock),
        reload_(std::move(reload)) {}
  void LetIn();
  // Nothing when it has not said yet what it wants.
  std::optional<ReloadedMessage> Hear();

  OwnedFd listener_;
  uid_t starter_;
  const host::Clock& clock_;
  Reload reload_;
  std::optional<Visitor> visitor_;
};

}  // namespace curfew::keeper
