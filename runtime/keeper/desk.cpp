#include "runtime/keeper/desk.h"

namespace curfew::keeper {

SandboxFacts Desk::facts() const {
  const module::LifetimeReading reading = lifetime.Read();
  const std::int64_t left =
      driver.token_expires_ms() ? *driver.token_expires_ms() - clock.WallNowMs() : 0;
  return {.id = plan.sandbox.id,
          .class_name = plan.class_name,
          .age_ms = reading.age_ms,
          .idle_ms = reading.idle_ms,
          .ttl_left_ms = reading.ttl_left_ms,
          .image = plan.image,
          .kvm = plan.isolation == plan::Isolation::Kvm,
          .creator = creator,
          .token_valid = left > 0,
          .token_expires_in_ms = left};
}

void Desk::TellDecision(std::uint32_t id, const gate::Answer& answer, std::string subject) const {
  control.Tell(id, DecidedMessage{.action = std::string(schema::WordOf(answer.action)),
                                  .allowed = answer.allowed,
                                  .subject = std::move(subject),
                                  .class_name = answer.class_name,
                                  .reasons = answer.reasons});
}

}  // namespace curfew::keeper
