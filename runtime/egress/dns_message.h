// The guest's questions to the name server, and the answer to each: every valid name has an
// address of the gateway's own, and no question goes any further. Pure: bytes in, bytes out. What
// is asked of the world's resolvers is another matter (resolver.h).
//
//   A            the address of the name; SERVFAIL when every address has its name
//   other types  NOERROR without data: such records do not exist here
//   no host name NXDOMAIN; so is `use-application-dns.net`, which tells clients that bring a
//                resolver of their own not to use it. Those that look for one over TLS or HTTPS
//                by an SVCB record (RFC 9462) find none, as of every type. Who asks one all the
//                same finds a host like any other: denied, unless a rule allows it.
//   other class  REFUSED; other opcode, transfers: NOTIMP; EDNS beyond version 0: BADVERS
//   malformed, also compressed, two questions, records where none belong: FORMERR
//
// RFC 1035, 2308, 6891, 8482.
#pragma once

#include "compiler/base/text.h"
#include "runtime/egress/names.h"

#include <optional>

namespace curfew::egress {

inline constexpr std::size_t DnsQueryBytesMax = 4096;

// Nothing where an answer would be wrong too: less than a header, or itself an answer. Never more
// than 512 bytes.
std::optional<Bytes> AnswerDns(ByteView query, Names& names);

}  // namespace curfew::egress
