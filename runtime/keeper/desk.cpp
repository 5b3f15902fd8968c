#include "runtime/keeper/desk.h"

namespace curfew::keeper {

void Desk::TellDecision(std::uint32_t id, const gate::Answer& answer, std::string subject) const {
  control.Tell(id, DecidedMessage{.action = std::string(schema::WordOf(answer.action)),
                                  .allowed = answer.allowed,
                                  .subject = std::move(subject),
                                  .class_name = answer.class_name,
                                  .reasons = answer.reasons});
}

}  // namespace curfew::keeper
