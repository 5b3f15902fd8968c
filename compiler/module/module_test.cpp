#include "compiler/module/lifetime.h"
#include "compiler/module/request.h"

#include <catch2/catch.hpp>

namespace curfew::module {
namespace {

using schema::Action;

TEST_CASE("a new request knows nothing, and absent is not unknown") {
  Request request(Action::Create);
  CHECK_FALSE(request.is_known(schema::slot::CallerId));
  request.SetAbsent(schema::slot::CallerId);
  CHECK(request.is_known(schema::slot::CallerId));
  CHECK_FALSE(request.is_present(schema::slot::CallerId));
  request.SetText(schema::slot::CallerId, "user:ana");
  CHECK(request.value(schema::slot::CallerId).text() == "user:ana");
}

TEST_CASE("the day and its time follow from now") {
  Request request(Action::Create);
  request.SetNow(0);  // Thursday
  CHECK(request.value(schema::slot::NowWeekday).integer == 3);
  request.SetNow(-1);  // the last millisecond of Wednesday
  CHECK(request.value(schema::slot::NowWeekday).integer == 2);
  CHECK(request.value(schema::slot::NowTimeOfDay).integer == 86'399'999);
}

TEST_CASE("authority ends at the deadline, not after it") {
  const LifetimeTerms terms{.created_ms = 0, .deadline_ms = 1000, .grace_ms = 100, .idle_ms = 300};
  LifetimeFacts facts{.last_activity_ms = 800, .busy = false};
  CHECK(ReadLifetime(terms, facts, 999).state == LifetimeState::Authority);
  CHECK(ReadLifetime(terms, facts, 1000).state == LifetimeState::Grace);
  CHECK(ReadLifetime(terms, facts, 1099).state == LifetimeState::Grace);
  CHECK(ReadLifetime(terms, facts, 1100).state == LifetimeState::Over);
  CHECK_FALSE(ReadLifetime(terms, facts, 1100).next_ms);
}

TEST_CASE("another policy set only brings the end of a running sandbox nearer") {
  const LifetimeTerms terms{.created_ms = 500,
                            .deadline_ms = 1500,
                            .grace_ms = 100,
                            .idle_ms = 300,
                            .idle_end = IdleEnd::Freeze};
  PlanTemplate granted;
  granted.ttl_ms.most = 5000;
  granted.grace_ms = 200;
  LifetimeTerms same = Tightened(terms, granted);
  CHECK(same.deadline_ms == 1500);
  CHECK(same.grace_ms == 100);
  CHECK(same.idle_ms == 300);
  CHECK(same.idle_end == IdleEnd::Freeze);
  granted.idle_ms = 400;
  CHECK(Tightened(terms, granted).idle_ms == 300);

  granted.ttl_ms.most = 700;
  granted.grace_ms = 0;
  granted.idle_ms = 200;
  const LifetimeTerms nearer = Tightened(terms, granted);
  CHECK(nearer.deadline_ms == 1200);
  CHECK(nearer.grace_ms == 0);
  CHECK(nearer.idle_ms == 200);
  CHECK(nearer.idle_end == IdleEnd::Close);

  LifetimeTerms without_idle = terms;
  without_idle.idle_ms.reset();
  CHECK(Tightened(without_idle, granted).idle_ms == 200);
  granted.ttl_ms.most = INT64_MAX;
  CHECK(Tightened(terms, granted).deadline_ms == 1500);
}

TEST_CASE("idleness counts from the last activity, and a busy sandbox has none") {
  const LifetimeTerms terms{.created_ms = 0, .deadline_ms = 1000, .grace_ms = 0, .idle_ms = 300};
  LifetimeFacts facts{.last_activity_ms = 100, .busy = false};
  CHECK(ReadLifetime(terms, facts, 399).next_ms == 400);
  CHECK(ReadLifetime(terms, facts, 400).state == LifetimeState::IdleEnd);
  facts.busy = true;
  CHECK(ReadLifetime(terms, facts, 400).state == LifetimeState::Authority);
  CHECK(ReadLifetime(terms, facts, 400).next_ms == 1000);
}

TEST_CASE(
    "the idleness of a frozen sandbox stands still, and it is over when it was frozen for too "
    "long") {
  const LifetimeTerms terms{.created_ms = 0,
                            .deadline_ms = 1000,
                            .grace_ms = 50,
                            .idle_ms = 100,
                            .idle_end = IdleEnd::Freeze,
                            .frozen_ms = 300};
  const LifetimeFacts facts{.last_activity_ms = 100, .busy = false, .frozen_since_ms = 200};
  const LifetimeReading frozen = ReadLifetime(terms, facts, 500);
  CHECK(frozen.state == LifetimeState::Authority);
  CHECK(frozen.idle_ms == 100);
  CHECK(frozen.next_ms == 501);
  CHECK(ReadLifetime(terms, facts, 501).state == LifetimeState::Over);
  LifetimeTerms unbounded = terms;
  unbounded.frozen_ms.reset();
  CHECK(ReadLifetime(unbounded, facts, 999).state == LifetimeState::Authority);
  CHECK(ReadLifetime(unbounded, facts, 999).next_ms == 1000);
  CHECK(ReadLifetime(unbounded, facts, 1000).state == LifetimeState::Grace);

  PlanTemplate granted;
  granted.ttl_ms.most = 1000;
  granted.frozen_ms = 200;
  CHECK(Tightened(terms, granted).frozen_ms == 200);
  CHECK(Tightened(unbounded, granted).frozen_ms == 200);
  granted.frozen_ms = 400;
  CHECK(Tightened(terms, granted).frozen_ms == 300);
}

}  // namespace
}  // namespace curfew::module
