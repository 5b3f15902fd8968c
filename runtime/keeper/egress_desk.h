// A sandbox's gateway in its keeper: the judge whom the gateway asks, and where it writes what went
// out. The gateway has a thread of its own, so each of its calls takes the keeper's lock
// (gateway.h); what it says to the task crosses to the keeper's loop through a queue.
#pragma once

#include "runtime/egress/facts.h"
#include "runtime/egress/records.h"
#include "runtime/evidence/flows.h"
#include "runtime/keeper/flow_book.h"
#include "runtime/keeper/gateway.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace curfew::keeper {

class EgressDesk final : public egress::Judge, public egress::Records, public host::EventSource {
 public:
  static Result<std::unique_ptr<EgressDesk>> Open(const GatewayRequest& request);
  // With the lock held, when the gateway is gone: tells what is still to be told.
  ~EgressDesk() override;

  // On the gateway's thread.
  gate::Answer Consider(const egress::EgressFacts& facts) override;
  gate::Decision<schema::Action::Egress> Decide(const egress::EgressFacts& facts) override;
  std::int64_t WindowMs() override;
  void Add(const egress::Flow& flow) override;
  void Denied(std::string line) override;
  void OnTick() override;

  // On the keeper's: refusals that wait for it.
  [[nodiscard]] std::vector<Watch> Watches() const override;
  void OnReady() override;

 private:
  EgressDesk(const GatewayRequest& request, OwnedFd wake);
  void Write(const egress::Flow& flow, std::uint64_t times);
  void TellDenials();

  // References of the request outlive this.
  GatewayRequest request_;
  FlowBook flows_;
  std::uint64_t lost_ = 0;  // flows that could not be put on record

  OwnedFd wake_;  // an eventfd
  std::mutex queue_lock_;
  std::deque<std::string> queue_;
  std::size_t missed_ = 0;  // refusals for which the queue had no room
};

// The flow as evidence keeps it.
evidence::FlowRecord RecordOf(const egress::Flow& flow);

// The gateway of runtime/egress on the sandbox's wire, with a desk in front of it.
Result<std::unique_ptr<RunningGateway>> OpenEgressGateway(const GatewayRequest& request);

}  // namespace curfew::keeper
