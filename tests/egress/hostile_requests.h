// Requests of a guest that means harm: every spelling by which one server would read another
// request than the next does. One list for all who ask them, so that what is refused here, and what
// passes, is also what other servers are asked to read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace curfew::egress::hostile {

// A body that is a request of its own for whoever reads no chunks.
inline constexpr std::string_view Smuggled =
    "0\r\n\r\nGET /pub/y HTTP/1.1\r\nHost: files.example\r\n\r\n";

// None of these may pass: values of Transfer-Encoding and Content-Length, names that are read as
// Transfer-Encoding, first lines, fields, hosts, and whole requests.
std::vector<std::string> Codings();
std::vector<std::string> CodingNames();
std::vector<std::string> Lengths();
std::vector<std::string> Lines();
std::vector<std::string> Fields();
std::vector<std::string> OverrideFields();
std::vector<std::string> Hosts();
std::vector<std::string> TwoReadings();

// Whole requests, oddly spelled, of one meaning: these pass, and each is one request.
std::vector<std::string> OddButOne();

// All of the above, each as a whole request.
std::vector<std::string> Requests();

}  // namespace curfew::egress::hostile
