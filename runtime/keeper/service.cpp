#include "runtime/keeper/service.h"

namespace curfew::keeper {

using module::LifetimeState;

bool Service::OnPacket(const Packet& packet) {
  switch (packet.kind) {
    case Kind::Exec: {
      Result<ExecMessage> message = DecodeMessage<ExecMessage>(packet);
      if (!message) return false;
      if (!ending_) return commands_.Begin(packet.id, *std::move(message));
      desk_.control.Tell(packet.id, ExitedMessage{.status = {},
                                                  .signal = {},
                                                  .timed_out = false,
                                                  .failure = "the sandbox's authority is over"});
      return true;
    }
    case Kind::Export: {
      Result<ExportMessage> message = DecodeMessage<ExportMessage>(packet);
      return message && exports_.Begin(packet.id, *std::move(message));
    }
    case Kind::Input:
      return commands_.Input(packet.id, packet.payload);
    case Kind::InputEnd:
      return commands_.InputEnd(packet.id);
    case Kind::Signal: {
      Result<SignalMessage> message = DecodeMessage<SignalMessage>(packet);
      return message && commands_.Signal(packet.id, message->number);
    }
    case Kind::Close: {
      Result<CloseMessage> message = DecodeMessage<CloseMessage>(packet);
      if (!message) return false;
      if (!end_) {
        end_ = EndOfService{.reason = ending_ ? std::string(NameOf(*ending_)) : message->reason,
                            .status = message->status};
      }
      return true;
    }
    case Kind::Create:
    case Kind::Reload:
    case Kind::Reloaded:
    case Kind::Step:
    case Kind::Decided:
    case Kind::Ready:
    case Kind::Started:
    case Kind::Output:
    case Kind::InputRoom:
    case Kind::Exited:
    case Kind::Exported:
    case Kind::ExportEnd:
    case Kind::Ending:
    case Kind::Closed:
    case Kind::Failed:
      return false;
  }
  return false;
}

void Service::OnClassGone() {
  End(EndingWhy::ClassGone, "another policy set is in force, and it does not have this class");
}

void Service::OnTermination() { End(EndingWhy::Terminated, "the keeper was asked to end"); }

std::optional<std::int64_t> Service::due_ms() const {
  if (end_) return std::nullopt;
  return desk_.lifetime.Read().next_ms;
}

void Service::Look() {
  if (end_) return;
  const LifetimeState state = desk_.lifetime.Read().state;
  const std::optional<Failure> loss = desk_.driver.loss();
  // Past the grace a machine may rightly be gone: its watchdog has killed it.
  if (loss && state != LifetimeState::Over) return End(EndingWhy::MachineLost, loss->message);
  switch (state) {
    case LifetimeState::Authority:
      return;
    case LifetimeState::IdleEnd:
      return End(EndingWhy::Idle, "nothing came from outside for too long");
    case LifetimeState::Grace:
      return End(EndingWhy::Deadline, "its time is over");
    case LifetimeState::Over:
      End(EndingWhy::Deadline, "its time is over");
      end_ = EndOfService{.reason = std::string(NameOf(*ending_)), .status = std::nullopt};
      return;
  }
}

// Authority ends now. Where somebody is there to take it, what they have to export may still leave
// until the grace is over; otherwise this is the end.
void Service::End(EndingWhy why, std::string detail) {
  const bool exports_may_finish = why == EndingWhy::Deadline && !desk_.control.is_gone();
  if (!ending_) {
    ending_ = why;
    desk_.driver.RevokeToken();
    desk_.driver.StopGateway();
    desk_.control.Tell(0, EndingMessage{.why = why, .detail = std::move(detail)});
    commands_.Terminate();
  }
  if (!exports_may_finish && !end_) {
    end_ = EndOfService{.reason = std::string(NameOf(*ending_)), .status = std::nullopt};
  }
}

}  // namespace curfew::keeper
