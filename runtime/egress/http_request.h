// What a request of HTTP asks for, in the one form that is judged and then sent: canonical host and
// path, no field that belongs to a single hop, no word that another server could read as another
// request. Pure. RFC 9110, 9112.
#pragma once

#include "compiler/values/address.h"
#include "runtime/egress/http_message.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace curfew::egress {

// A name or an address, and a port.
struct Place {
  std::string host;         // canonical; empty: an address was asked for
  values::Address address;  // then
  std::uint16_t port = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
// As an authority spells it; the port only where it is not `usual_port`.
std::string AuthorityOf(const Place& place, std::uint16_t usual_port);

struct HttpRequest {
  bool is_connect = false;  // then only `place` counts
  Place place;
  std::string method;
  std::string path;                  // canonical
  std::optional<std::string> query;  // as sent
  // Methods that override fields ask a server to take instead: each is judged too.
  std::vector<std::string> overrides;
};

struct HttpRefusal {
  unsigned status = 400;
  std::string message;
};

// `direct` is the place that the connection itself is for; nothing: the guest speaks to the gateway
// as to a proxy, and only then may the target be of absolute form or the method CONNECT. A direct
// request may name its own place in absolute form.
std::variant<HttpRequest, HttpRefusal> ReadRequest(const MessageHead& head,
                                                   const std::optional<Place>& direct);

// The head that is sent to the upstream. `framing` as it came.
std::string HeadForUpstream(const MessageHead& head, const HttpRequest& request);

// The head that is sent to the guest: `framing` and `keep_alive` are those of the connection to the
// guest, which need not be those of the upstream's.
std::string HeadForGuest(const MessageHead& head, Framing framing, bool keep_alive);

}  // namespace curfew::egress
