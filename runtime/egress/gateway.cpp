#include "runtime/egress/gateway.h"

#include "runtime/egress/core.h"

#include <boost/asio/post.hpp>
#include <future>
#include <thread>
#include <utility>

namespace curfew::egress {

struct Gateway::Running {
  explicit Running(std::unique_ptr<Core> the_core) : core(std::move(the_core)) {
    thread = std::thread([this] { core->Run(); });
  }
  // Runs `act` on the gateway's thread and waits for what it returns.
  template <typename Act>
  auto Ask(Act act) {
    std::packaged_task<decltype(act())()> task(std::move(act));
    auto answer = task.get_future();
    boost::asio::post(core->io, [&task] { task(); });
    return answer.get();
  }
  std::unique_ptr<Core> core;
  std::thread thread;
};

Gateway::Gateway(std::unique_ptr<Running> running) : running_(std::move(running)) {}

Result<std::unique_ptr<Gateway>> Gateway::Start(Setup setup, Judge& judge, Outside& outside,
                                                Records& records, const host::Clock& clock) {
  if (!setup.destination_of || !values::IsIpv4(setup.names_base)) {
    return Failure(FailureCode::Usage,
                   "a gateway needs to know where connections were meant to go, and a block of "
                   "IPv4 addresses for names");
  }
  auto core = std::make_unique<Core>(std::move(setup), judge, outside, records, clock);
  CURFEW_TRY_VOID(core->Open());
  return std::unique_ptr<Gateway>(new Gateway(std::make_unique<Running>(std::move(core))));
}

Gateway::~Gateway() {
  boost::asio::post(running_->core->io, [this] { running_->core->Stop(); });
  running_->thread.join();
}

std::size_t Gateway::Rejudge() {
  return running_->Ask([this] { return running_->core->Rejudge(); });
}

std::vector<std::string> Gateway::Names() {
  return running_->Ask([this] { return running_->core->names.All(); });
}

Gateway::Load Gateway::load() {
  return running_->Ask([this] {
    const Core& core = *running_->core;
    Load load;
    load.connections = core.connections.size() + core.dns_connections;
    load.memory_bytes = core.meter.held();
    load.total_bytes = static_cast<std::uint64_t>(core.total_bytes);
    load.dns_questions = core.dns_questions;
    load.resolutions = core.resolver->asked();
    return load;
  });
}

}  // namespace curfew::egress
