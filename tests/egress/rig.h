// A real gateway in the played world, with the real gate and a policy that is compiled for it.
#pragma once

#include "compiler/base/text.h"
#include "runtime/egress/gateway.h"
#include "tests/egress/played_world.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace curfew::egress {

class Policy;  // a compiled set behind a gate

class Rig final : public Judge, public Records {
 public:
  // `more` stands in the network plane beside what rig.cpp allows; `set` are rules of the set.
  explicit Rig(const Limits& limits = {}, const std::string& more = {},
               const std::string& set = {});
  ~Rig() override;

  // A connection of the guest to an address and a port.
  Stream Dial(const std::string& address, std::uint16_t port);
  // To the address that the gateway's name server gives for the name.
  Stream DialName(const std::string& name, std::uint16_t port = 80);
  // To the gateway, as to a proxy.
  Stream DialProxy() { return Dial(OwnAddress, 3128); }
  // To the gateway's name server.
  Stream DialDns() { return Stream::To("127.0.0.1", dns_port_); }
  // Sends, and reads to the end of the stream.
  std::string Ask(Stream stream, std::string_view text);
  // One request that asks for the end of the connection; `head` is what follows its first line.
  std::string Get(const std::string& host, const std::string& target, const std::string& head = {});
  // The answer of the gateway's name server to a question for A, or to these bytes.
  std::string AskDns(const std::string& name);
  std::string AskDnsRaw(std::string_view query, bool tcp = false);

  // Puts another set in force, and has the gateway judge what lives.
  std::size_t Reload(const std::string& more, const std::string& set = {});

  // Once so many are there, or after ten seconds whatever is.
  std::vector<Flow> Flows(std::size_t count);
  std::vector<std::string> denials();
  // How often the gate let something out so far.
  [[nodiscard]] std::size_t permits() const { return permits_; }
  PlayedResolver resolver;
  Gateway& gateway() { return *gateway_; }
  void Stop() { gateway_.reset(); }

  gate::Answer Consider(const EgressFacts& facts) override;
  gate::Decision<schema::Action::Egress> Decide(const EgressFacts& facts) override;
  void Add(const Flow& flow) override;
  void Denied(std::string line) override;
  void OnTick() override {}

  static constexpr const char* OwnAddress = "10.0.2.2";

 private:
  std::shared_ptr<Policy> policy();
  std::mutex mutex_;
  std::shared_ptr<Policy> policy_;
  std::map<std::uint16_t, Endpoint> destinations_;
  std::vector<Flow> flows_;
  std::vector<std::string> denials_;
  std::unique_ptr<host::Clock> clock_;
  SameNamespace outside_;
  std::atomic<std::size_t> permits_ = 0;
  std::uint16_t streams_port_ = 0;
  std::uint16_t dns_port_ = 0;
  std::unique_ptr<Gateway> gateway_;
};

}  // namespace curfew::egress
