#include "tests/egress/hostile_requests.h"

#include <fmt/format.h>

namespace curfew::egress::hostile {
namespace {

constexpr std::string_view End = "Connection: close\r\n\r\n";

std::string Post(const std::string& fields, const std::string& body) {
  return "POST /in/x HTTP/1.1\r\nHost: files.example\r\nConnection: close\r\n" + fields + "\r\n" +
         body;
}

}  // namespace

std::vector<std::string> Codings() {
  return {"chunked, identity", "identity, chunked", "identity", "chunked;q=1",
          "\"chunked\"",       "chunked,",          ",chunked", "chunked\x0b",
          "\x0c chunked",      "chunked chunked",   "",         "chunked\xa0"};
}

std::vector<std::string> CodingNames() {
  return {"Transfer-Encoding ",    "Transfer-Encoding\t",   " Transfer-Encoding",
          "Transfer_Encoding",     "Transfer.Encoding",     "Transfer-Encoding\xa0",
          "Transfer\x01-Encoding", "\"Transfer-Encoding\"", "Transfer~Encoding"};
}

std::vector<std::string> Lengths() {
  return {"",
          " ",
          "0x5",
          "5 5",
          "5,5",
          "5, 5",
          "-5",
          "-0",
          "+0",
          "5;",
          "5.0",
          "1e1",
          "\"5\"",
          "5\x0b",
          "5_0",
          "\xd9\xa5",
          "9223372036854775808",
          "18446744073709551615",
          "18446744073709551616",
          "99999999999999999999999"};
}

std::vector<std::string> Lines() {
  return {"\r\nGET /pub/x HTTP/1.1",
          "\nGET /pub/x HTTP/1.1",
          " GET /pub/x HTTP/1.1",
          "GET  /pub/x HTTP/1.1",
          "GET /pub/x  HTTP/1.1",
          "GET\t/pub/x HTTP/1.1",
          "GET /pub/x\tHTTP/1.1",
          "GET /pub/x HTTP/1.1 ",
          "GET /pub/x HTTP/1.10",
          "GET /pub/x HTTP/01.1",
          "GET /pub/x http/1.1",
          "GET /pub/x HTTP/1.2",
          "GET /pub/x HTTP/0.9",
          "GET /pub/x HTTP/1,1",
          "GET /pub/x HTTP/1.1\r",
          "GET",
          "GET /pub/x y HTTP/1.1",
          "G\xc4\x92T /pub/x HTTP/1.1",
          "GET pub/x HTTP/1.1",
          "GET * HTTP/1.1",
          "OPTIONS * HTTP/1.1",
          "GET http:/pub/x HTTP/1.1",
          "GET http:files.example/pub/x HTTP/1.1",
          "GET ftp://files.example/pub/x HTTP/1.1",
          "GET https://files.example/pub/x HTTP/1.1",
          "GET //files.example/pub/x HTTP/1.1",
          "GET http://files.example\\@api.example/pub/x HTTP/1.1",
          "GET http://files.example#@api.example/pub/x HTTP/1.1",
          "GET http://files.example:080/pub/x HTTP/1.1",
          "GET http://files.example:/pub/x HTTP/1.1",
          "GET /pub/x\xc3\xa4 HTTP/1.1",
          "GET /pub//../secret HTTP/1.1",
          "GET /pub/./secret/x HTTP/1.1",
          "GET /pub/%73ecret/x HTTP/1.1",
          "GET /pub/SECRET/x HTTP/1.1",
          "GET /pub//secret/x HTTP/1.1",
          "GET /pub/x/%2e%2e/secret/x HTTP/1.1",
          "GET /pub/%2e%2e/in HTTP/1.1",
          "GET /pub/x%00 HTTP/1.1",
          "GET /pub/x%0a HTTP/1.1",
          "GET /pub/x%c0%af HTTP/1.1",
          "GET /pub/x%ff HTTP/1.1",
          "GET /pub/x%2 HTTP/1.1",
          "GET /pub/%5c HTTP/1.1",
          "GET /pub/x%u002e HTTP/1.1"};
}

std::vector<std::string> Fields() {
  return {"X",       ": x",      "X Y: z", "X\t: y", "X: a\rb", "X: \x01",
          "X: \x7f", "X\x7f: y", "X(: y",  " X: y",  "\tX: y",  "X: y\r\n z"};
}

std::vector<std::string> Hosts() {
  return {"files.example, api.example",
          "files.example@api.example",
          "u:p@files.example",
          "files.example:80:80",
          "files.example:+80",
          "files.example:080",
          "files.example:",
          "files.example:0",
          "files.example:8o",
          "[files.example]",
          "files.example%00",
          "files.example%2eexample",
          "files.example/",
          "files.example?x",
          "files.example..",
          ".files.example",
          "",
          "files.example\x0b",
          "files\xe3\x80\x82"
          "example",
          "http://files.example",
          "files.example files.example",
          "xn--files-.example"};
}

std::vector<std::string> OverrideFields() {
  return {"X-HTTP-Method-Override: DELETE",
          "X_HTTP_Method_Override: DELETE",
          "X-Http_Method: DELETE",
          "X.HTTP.Method.Override: DELETE",
          "x-method_override: GET",
          "X_Original_URL: /admin",
          "X-Rewrite_URL: /admin",
          "X_Forwarded_Host: evil.example",
          "X_Host: evil.example",
          "X-HTTP-Method-Override: DELETE\r\nConnection: close, X-HTTP-Method-Override",
          "X-HTTP-Method-Override:",
          "X-HTTP-Method-Override: GET, DELETE",
          "X-HTTP-Method-Override: GET\r\nX-HTTP-Method: DELETE",
          "Connection: cookie",
          "Connection: close, Authorization",
          "Connection: \"host\"",
          "Expect: 100-continue, x",
          "Expect: 200-ok",
          "host: files.example"};
}

std::vector<std::string> TwoReadings() {
  const std::string get = "GET /pub/x HTTP/1.1\r\nHost: files.example\r\n";
  const std::string chunk = "0\r\n\r\nGET /pub/y HTTP/1.1\r\nHost: files.example\r\n\r\n";
  return {Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunk),
          Post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunk),
          Post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!"),
          Post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"),
          Post("Content-Length: 5, 6\r\n", "hello"),
          Post("Content-Length: +5\r\n", "hello"),
          Post("Content_Length: 5\r\n", "hello"),
          Post("Transfer-Encoding: xchunked\r\n", chunk),
          Post("Transfer-Encoding: gzip, chunked\r\n", chunk),
          Post("Transfer-Encoding:\x0b"
               "chunked\r\n",
               chunk),
          Post("Transfer-Encoding : chunked\r\n", chunk),
          Post("X: y\r\n Transfer-Encoding: chunked\r\n", chunk),
          Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunk),
          "GET /pub/x HTTP/1.1\nHost: files.example\n\n",
          get + "Host: api.example\r\n\r\n",
          get + "X: a\r\r\n\r\n",
          get + std::string("X: a\0b\r\n\r\n", 10),
          "GET /pub/x HTTP/1.0\r\nHost: files.example\r\nTransfer-Encoding: chunked\r\n\r\n",
          "GET /pub/x HTTP/2.0\r\nHost: files.example\r\n\r\n",
          "GET /pub/x\r\nHost: files.example\r\n\r\n",
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          get + "Connection: Host\r\n\r\n",
          get + "X-Original-URL: /admin\r\n\r\n",
          "GET /pub/..%2f..%2fetc HTTP/1.1\r\nHost: files.example\r\n\r\n",
          "GET /pub/%252e%252e/x HTTP/1.1\r\nHost: files.example\r\n\r\n",
          "GET /pub\\..\\x HTTP/1.1\r\nHost: files.example\r\n\r\n",
          "GET /pub/..;/x HTTP/1.1\r\nHost: files.example\r\n\r\n",
          "GET /pub/x#y HTTP/1.1\r\nHost: files.example\r\n\r\n"};
}

std::vector<std::string> OddButOne() {
  const std::string inner = "GET /pub/smuggled HTTP/1.1\r\nHost: files.example\r\n\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const auto get = [](const std::string& target, const std::string& fields = {}) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: files.example\r\n{}{}", target, fields, End);
  };
  std::string many;
  for (int i = 0; i < 90; ++i) many += fmt::format("X{}: y\r\n", i);
  return {
      get("/pub/x"),
      get("/pub/./x/../%7Ea//b?q=1"),
      get("/pub/a;b=c/d;e?x=;&y=%0d%0a%00&z=/../..//"),
      get("/pub/x?"),
      get("/pub/x??a?b"),
      get("/pub/%C3%A4/%20/%22%3C%3E%5E%60%7B%7C%7D"),
      get("/pub/!$&'()*+,;=:@-._~"),
      get("http://files.example/pub/x"),
      get("http://FILES.example.:80/pub/x"),
      get("/pub/x", "X: \x80\xff\xc3\xa4\r\n"),
      get("/pub/x", "X:\r\nY: \t \r\nZ:\tz\t\r\n"),
      get("/pub/x", "X_Mine: 1\r\nX.Mine: 2\r\n!#$%&'*+-.^_`|~1: y\r\n"),
      get("/pub/x", "X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n"),
      get("/pub/x", "Connection: X-Drop\r\nX-Drop: 1\r\nTE: trailers\r\nTrailer: x\r\n"),
      get("/pub/x", "X: " + std::string(6000, 'x') + "\r\n"),
      get("/pub/x", many),
      get("/pub/x", "Content-Length: 0\r\n"),
      "GET /pub/x HTTP/1.0\r\nHost: files.example\r\n\r\n",
      fmt::format("HEAD /pub/x HTTP/1.1\r\nHost: FILES.EXAMPLE.\r\n{}", End),
      fmt::format("GET /pub/x HTTP/1.1\r\nHost: files.example:80\r\nContent-Length:{}\r\n{}{}",
                  inner.size(), End, inner),
      Post("Content-Length: 0\r\n", ""),
      Post("Content-Length: 5\t\r\n", "hello"),
      Post("Content-Length: 00000000000000000005\r\n", "hello"),
      Post(fmt::format("Content-Length: {}\r\n", inner.size()), inner),
      Post("Content-Length: 7\r\n", "0\r\n\r\n\r\n"),
      Post(chunked, "0\r\n\r\n"),
      Post(chunked, "0\r\n\r\n" + inner),
      Post("Transfer-Encoding: Chunked\t\r\n",
           "2;x=\"y\"\r\nhe\r\n003\r\nllo\r\n0\r\nHost: x\r\n\r\n"),
      Post(chunked, "5\r\n0\r\n\r\n\r\n1\r\n0\r\n0;a\r\n\r\n"),
      Post(chunked, fmt::format("FFFF\r\n{}\r\n00000\r\n\r\n", std::string(65'535, 'x'))),
  };
}

std::vector<std::string> Requests() {
  const std::string smuggled(Smuggled);
  std::vector<std::string> all = OddButOne();
  const auto add = [&](const std::string& request) { all.push_back(request); };
  const std::string line = "GET /pub/x HTTP/1.1\r\n";
  for (const std::string& coding : Codings()) {
    add(Post(fmt::format("Transfer-Encoding: {}\r\n", coding), smuggled));
  }
  for (const std::string& name : CodingNames()) {
    add(Post(fmt::format("{}: chunked\r\n", name), smuggled));
    add(Post(fmt::format("Content-Length: 5\r\n{}: chunked\r\n", name), "hello"));
  }
  for (const std::string& length : Lengths()) {
    add(Post(fmt::format("Content-Length: {}\r\n", length), "hello"));
  }
  for (const std::string& begin : Lines()) {
    add(fmt::format("{}\r\nHost: files.example\r\n{}", begin, End));
  }
  for (const auto& fields : {Fields(), OverrideFields()}) {
    for (const std::string& field : fields) {
      add(fmt::format("{}{}\r\nHost: files.example\r\n{}", line, field, End));
      add(fmt::format("{}Host: files.example\r\n{}\r\n{}", line, field, End));
    }
  }
  for (const std::string& host : Hosts()) add(fmt::format("{}Host: {}\r\n{}", line, host, End));
  for (const std::string& request : TwoReadings()) add(request);
  // Refused at its very end, when all but that has passed.
  add(Post("Transfer-Encoding: chunked\r\n", "2\r\nhi\r\n0\r\nContent-Length: 9\r\n\r\n"));
  return all;
}

}  // namespace curfew::egress::hostile
