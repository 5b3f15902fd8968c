// The gateway of one sandbox: the only way out. It answers the guest's DNS, reads its HTTP and the
// first message of its TLS, and lets pass what the judge allows, as it was judged; all else is
// refused with a reason that helps. It has a thread of its own, and everything that it owns is
// touched by that thread only. What goes over the wire: http_request.h, client_hello.h,
// dns_message.h.
//
//   connection ► place ► name stage ► resolve ► address stage ► request stage ► permit ► dial
//
// The place is the name whose address the guest dialled, or the address itself. A stream that is
// allowed by host and port (`allow connect`) is a raw stream; on port 443 it begins with a
// ClientHello. Anything else shows in its first bytes what it is: a ClientHello is judged as
// `https` without method and path, HTTP by its requests. HTTP sent to `own_address` is HTTP to a
// proxy: absolute form, or CONNECT, behind which all of this begins anew.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/values/address.h"
#include "runtime/egress/facts.h"
#include "runtime/egress/limits.h"
#include "runtime/egress/outside.h"
#include "runtime/egress/records.h"
#include "runtime/host/clock.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace curfew::egress {

struct Endpoint {
  values::Address address;
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct Setup {
  // Listening, inside the sandbox's namespace; an empty descriptor: not served.
  OwnedFd streams;        // every TCP connection of the guest
  OwnedFd dns_datagrams;  // bound
  OwnedFd dns_streams;
  // Where a connection that was accepted from `streams` was meant to go.
  std::function<Result<Endpoint>(int connection)> destination_of;
  values::Address own_address;      // where the guest may speak to the gateway as to a proxy
  values::Address names_base;       // the first of 65,536 addresses for names
  std::vector<std::string> names;   // of a sandbox that was frozen: Gateway::Names
  std::vector<Endpoint> resolvers;  // to ask for allowed names; empty: those of this host
  Limits limits;
};

class Gateway {
 public:
  // Serves from now on. The references outlive it.
  static Result<std::unique_ptr<Gateway>> Start(Setup setup, Judge& judge, Outside& outside,
                                                Records& records, const host::Clock& clock);
  // Cuts every flow, records it, and ends the thread.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // After a reload: every live flow is judged again by what is known of it, and those that are now
  // denied are cut. Returns when that is done, with how many were cut.
  std::size_t Rejudge();

  // Every name that has an address, in their order: what a frozen sandbox needs again.
  std::vector<std::string> Names();

  struct Load {
    std::size_t connections = 0;      // open now, streams and DNS
    std::size_t memory_bytes = 0;     // held for slow peers now
    std::uint64_t total_bytes = 0;    // relayed so far, both ways
    std::uint64_t dns_questions = 0;  // of the guest
    std::uint64_t resolutions = 0;    // of the world
  };
  Load load();

 private:
  struct Running;
  explicit Gateway(std::unique_ptr<Running> running);
  std::unique_ptr<Running> running_;
};

}  // namespace curfew::egress
