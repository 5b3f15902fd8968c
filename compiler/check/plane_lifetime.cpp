// The plane `lifetime`: how long authority lasts, what idleness does to it, and how it may grow.
#include "compiler/check/literal.h"
#include "compiler/check/plane.h"

namespace curfew::check {

void PlaneChecker::operator()(const syntax::TtlStatement& statement) {
  if (!Once("ttl", statement.span)) return;
  class_.lifetime.ttl = ReadBound(statement.bound, Unit::Duration, "ttl", "lifetime.ttl");
}

void PlaneChecker::operator()(const syntax::IdleStatement& statement) {
  if (!Once("idle", statement.span)) return;
  constexpr std::string_view kEnds[] = {"close", "freeze"};
  const auto after = ReadPositive(statement.after, Unit::Duration, "idle");
  const bool freezes = statement.then.text == "freeze";
  if (!freezes && statement.then.text != "close") {
    return ReportUnknown(context_, "end of idleness", statement.then, kEnds);
  }
  if (!after) return;
  class_.lifetime.idle =
      model::Idle{IdOf("lifetime.idle"), *after,
                  freezes ? module::IdleEnd::Freeze : module::IdleEnd::Close, statement.span};
}

void PlaneChecker::operator()(const syntax::FrozenStatement& statement) {
  if (!Once("frozen", statement.span)) return;
  const auto most = ReadPositive(statement.at_most, Unit::Duration, "frozen at most");
  if (most) class_.lifetime.frozen = model::Frozen{IdOf("lifetime.frozen"), *most, statement.span};
}

void PlaneChecker::operator()(const syntax::RenewStatement& statement) {
  if (!Once("renew", statement.span)) return;
  class_.lifetime.renew_none = statement.none;
  if (statement.none) return;
  const auto times = ReadPositive(statement.times, Unit::Count, "renew at most");
  const auto by = ReadPositive(statement.by, Unit::Duration, "by");
  if (!times || !by) return;
  class_.lifetime.renewal = model::Renewal{IdOf("lifetime.renew"), {*times, *by}, statement.span};
}

void PlaneChecker::operator()(const syntax::GraceStatement& statement) {
  if (!Once("grace", statement.span)) return;
  class_.lifetime.grace_ms = ReadDuration(context_, statement.duration);
}

}  // namespace curfew::check
