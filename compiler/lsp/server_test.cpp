// The lifecycle, documents and diagnostics, as messages. tests/editor drives the program by a
// client that is not ours.
#include "compiler/lsp/server.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::lsp {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kNowMs = 1'795'996'800'000;  // 2026-11-30

struct Client {
  std::vector<Json> sent;
  Server server{{.version = "test", .now_ms = [] { return kNowMs; }},
                [this](const std::string& body) { sent.push_back(Json::parse(body)); }};
  int last_id = 0;

  // The answer, whole.
  Json Ask(const std::string& method, const Json& params = Json::object()) {
    const Json body{{"jsonrpc", "2.0"}, {"id", ++last_id}, {"method", method}, {"params", params}};
    server.Receive(body.dump());
    REQUIRE_FALSE(sent.empty());
    REQUIRE(sent.back()["id"] == last_id);
    return sent.back();
  }
  void Tell(const std::string& method, const Json& params = Json::object()) {
    server.Receive(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  void Initialize(const Json& params = {{"capabilities", Json::object()}}) {
    Ask("initialize", params);
    Tell("initialized");
  }
  void Open(const std::string& uri, const std::string& text) {
    Tell("textDocument/didOpen",
         {{"textDocument",
           {{"uri", uri}, {"languageId", "curfew"}, {"version", 1}, {"text", text}}}});
  }
  void Change(const std::string& uri, int version, const Json& changes) {
    Tell("textDocument/didChange",
         {{"textDocument", {{"uri", uri}, {"version", version}}}, {"contentChanges", changes}});
  }
  // What is published by settling, by URI: the errors, or with findings of lint too.
  enum class Which { Errors, All };
  std::map<std::string, Json> Settle(Which which = Which::Errors) {
    sent.clear();
    server.Settle();
    std::map<std::string, Json> published;
    for (const Json& message : sent) {
      Json& shown = published[message["params"]["uri"]] = Json::array();
      for (const Json& one : message["params"]["diagnostics"]) {
        if (which == Which::All || one["severity"] == 1) shown.push_back(one);
      }
    }
    return published;
  }
};

constexpr const char* Untitled = "untitled:1";

Json Range(int line, int from, int to) {
  return {{"start", {{"line", line}, {"character", from}}},
          {"end", {{"line", line}, {"character", to}}}};
}

TEST_CASE("the lifecycle is the protocol's") {
  Client client;
  CHECK(client.Ask("textDocument/hover")["error"]["code"] == -32002);
  const Json capabilities = client.Ask("initialize")["result"]["capabilities"];
  CHECK(capabilities["positionEncoding"] == "utf-16");
  CHECK(capabilities["textDocumentSync"]["change"] == 2);
  CHECK(client.Ask("initialize")["error"]["code"] == -32600);
  CHECK(client.Ask("no/such")["error"]["code"] == -32601);
  CHECK(client.Ask("textDocument/hover")["error"]["code"] == -32602);
  CHECK(client.Ask("shutdown")["result"].is_null());
  CHECK(client.Ask("textDocument/hover")["error"]["code"] == -32600);
  client.Tell("exit");
  CHECK(client.server.exit_status() == 0);
  Client rude;
  rude.Initialize();
  rude.Tell("exit");
  CHECK(rude.server.exit_status() == 1);
}

TEST_CASE("what is no message gets an error, and the server goes on") {
  Client client;
  client.server.Receive("{");
  CHECK(client.sent.back()["error"]["code"] == -32700);
  CHECK(client.sent.back()["id"].is_null());
  client.server.RefuseTooLarge();
  CHECK(client.sent.back()["error"]["code"] == -32600);
  client.Initialize();
  client.Change(Untitled, 2, Json::array());
  CHECK(client.sent.back()["method"] == "window/logMessage");
}

TEST_CASE("diagnostics come while typing and go when they are gone") {
  Client client;
  client.Initialize();
  client.Open(Untitled, "language 1\ndeny create when task.knd == \"é\" because \"x\"\n");
  const auto first = client.Settle();
  REQUIRE(first.at(Untitled).size() == 1);
  const Json diagnostic = first.at(Untitled)[0];
  CHECK(diagnostic["code"] == "CUR3004");
  CHECK(diagnostic["severity"] == 1);
  CHECK(diagnostic["range"] == Range(1, 17, 25));
  CHECK(client.Settle().empty());

  const Json params{{"textDocument", {{"uri", Untitled}}},
                    {"range", Range(1, 18, 18)},
                    {"context", {{"diagnostics", Json::array()}}}};
  const Json actions = client.Ask("textDocument/codeAction", params)["result"];
  REQUIRE(actions.size() == 1);
  const Json edit = actions[0]["edit"]["changes"][Untitled][0];
  CHECK(actions[0]["title"] == "Write `task.kind` instead of `task.knd`");

  client.Change(Untitled, 2, {{{"range", edit["range"]}, {"text", edit["newText"]}}});
  const auto second = client.Settle();
  REQUIRE(second.contains(Untitled));
  CHECK(second.at(Untitled).empty());
}

TEST_CASE("of changes in a row only the last is judged") {
  Client client;
  client.Initialize();
  client.Open(Untitled, "language 1\n");
  client.Change(Untitled, 2, {{{"text", "language 2\n"}}});
  client.Change(Untitled, 3, {{{"range", Range(0, 9, 10)}, {"text", "1"}}});
  const auto published = client.Settle();
  REQUIRE(client.sent.size() == 1);
  CHECK(client.sent[0]["params"]["version"] == 3);
  CHECK(published.at(Untitled).empty());
}

TEST_CASE("places are in the encoding that was agreed on") {
  const std::string text = "deny create because \"😀\" x\n";
  const auto column = [&](const Json& capabilities) {
    Client client;
    client.Initialize({{"capabilities", capabilities}});
    client.Open(Untitled, text);
    return client.Settle().at(Untitled)[0]["range"]["start"]["character"].get<int>();
  };
  CHECK(column(Json::object()) == 25);
  CHECK(column({{"general", {{"positionEncodings", Json::array({"utf-8", "utf-16"})}}}}) == 27);
}

TEST_CASE("formatting changes what differs, and nothing of a file with errors") {
  Client client;
  client.Initialize();
  const Json document{{"textDocument", {{"uri", Untitled}}}, {"options", Json::object()}};
  client.Open(Untitled, "language 1\n\n\n\ndeny   create because \"x\"\n");
  const Json edits = client.Ask("textDocument/formatting", document)["result"];
  REQUIRE(edits.size() == 1);
  CHECK(edits[0]["newText"] == "deny create because \"x\"\n");
  CHECK(edits[0]["range"]["start"] == Json{{"line", 2}, {"character", 0}});
  client.Change(Untitled, 2, {{{"text", "deny   create becuase \"x\"\n"}}});
  CHECK(client.Ask("textDocument/formatting", document)["result"].is_null());
}

// A folder that goes with the test.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "curfew-lsp-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = std::filesystem::canonical(name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  void Write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string Uri(const std::string& name) const {
    return "file://" + (path / name).string();
  }
};

constexpr std::string_view Class = R"(language 1
use "shared/lists.curfew"
sandbox work when task.kind == "work" {
  image    { allow base  isolation any }
  network  { allow GET mirrors tls inspect }
  lifetime { ttl 1h }
}
)";
constexpr std::string_view Base =
    "image base { digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 "
    "}\n";

TEST_CASE("a set is the folder, with what is open in the place of what is on disk") {
  const Folder folder;
  folder.Write("work.curfew", Class);
  folder.Write("base.curfew", Base);
  folder.Write("shared/lists.curfew", "hosts mirrors from \"mirrors.txt\"\n");
  folder.Write("shared/mirrors.txt", "npm.example\n");
  Client client;
  client.Initialize({{"capabilities", Json::object()},
                     {"workspaceFolders", {{{"uri", folder.Uri("")}, {"name", "x"}}}}});
  client.Open(folder.Uri("work.curfew"), std::string(Class));
  CHECK(client.Settle().at(folder.Uri("work.curfew")).empty());

  // A buffer that is not saved takes the image away; the file that names it says so.
  client.Open(folder.Uri("base.curfew"),
              "image bass { digest sha256:" + std::string(64, 'a') + " }\n");
  const auto published = client.Settle();
  REQUIRE(published.at(folder.Uri("work.curfew")).size() == 1);
  CHECK(published.at(folder.Uri("work.curfew"))[0]["code"] == "CUR3001");
  CHECK(published.at(folder.Uri("base.curfew")).empty());

  // A file that is not open can have diagnostics too, and related places.
  client.Change(folder.Uri("base.curfew"), 2,
                {{{"text", std::string(Base) + "strings mirrors [\"a\"]\n"}}});
  const auto twice = client.Settle();
  const bool elsewhere = twice.contains(folder.Uri("shared/lists.curfew"));
  REQUIRE(elsewhere);
  const Json taken = twice.at(folder.Uri("shared/lists.curfew"))[0];
  CHECK(taken["code"] == "CUR3002");
  CHECK(taken["relatedInformation"][0]["location"]["uri"] == folder.Uri("base.curfew"));

  // Closed, the disk counts again, and nothing is left of what was said.
  client.Tell("textDocument/didClose", {{"textDocument", {{"uri", folder.Uri("base.curfew")}}}});
  const auto closed = client.Settle();
  CHECK(closed.at(folder.Uri("shared/lists.curfew")).empty());
  CHECK(closed.at(folder.Uri("work.curfew")).empty());
  client.Tell("textDocument/didClose", {{"textDocument", {{"uri", folder.Uri("work.curfew")}}}});
  client.Settle();
}

TEST_CASE("files of a set name what lies below the root that the server was given") {
  const Folder folder;
  folder.Write("base.curfew", Base);
  folder.Write("work/a.curfew", "use \"../base.curfew\"\n");
  for (const bool has_root : {false, true}) {
    std::vector<Json> sent;
    const auto send = [&](const std::string& body) { sent.push_back(Json::parse(body)); };
    const std::string uri = folder.Uri("work/a.curfew");
    const std::string path = uri.substr(std::string("file://").size());
    Server server({.version = "test",
                   .root = has_root ? path.substr(0, path.rfind("/work/")) : "",
                   .now_ms = [] { return kNowMs; }},
                  send);
    const auto tell = [&](const std::string& method, const Json& params, bool is_request) {
      Json body{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
      if (is_request) body["id"] = 1;
      server.Receive(body.dump());
    };
    tell("initialize", {{"capabilities", Json::object()}}, true);
    tell("textDocument/didOpen",
         {{"textDocument",
           {{"uri", uri},
            {"languageId", "curfew"},
            {"version", 1},
            {"text", "use \"../base.curfew\"\n"}}}},
         false);
    sent.clear();
    server.Settle();
    Json said = Json::array();
    for (const Json& message : sent) {
      if (message["params"]["uri"] == uri) said = message["params"]["diagnostics"];
    }
    const bool refused = std::any_of(said.begin(), said.end(),
                                     [](const Json& one) { return one["code"] == "CUR3014"; });
    CHECK(refused != has_root);
  }
}

TEST_CASE("what lint finds is shown with its severity and its fix, less what is suppressed") {
  const std::string text = "language 1\n" + std::string(Base) +
                           "## Work.\nsandbox work when task.kind == \"work\" {\n"
                           "  image    { allow base }\n  lifetime { ttl 1h }\n}\n"
                           "hosts idle [\"npm.example\"]\n";
  Client client;
  client.Initialize();
  client.Open(Untitled, text);
  const auto of_list = [](const Json& all) {
    Json found = Json::array();
    for (const Json& one : all) {
      if (one["code"] == "CUR9507") found.push_back(one);
    }
    return found;
  };
  const Json found = of_list(client.Settle(Client::Which::All).at(Untitled));
  REQUIRE(found.size() == 1);
  CHECK(found[0]["severity"] == 2);
  CHECK(found[0]["source"] == "curfew");
  CHECK(found[0]["range"]["start"]["line"] == 7);
  const Json actions = client.Ask("textDocument/codeAction",
                                  {{"textDocument", {{"uri", Untitled}}},
                                   {"range", found[0]["range"]},
                                   {"context", {{"diagnostics", Json::array()}}}})["result"];
  CHECK(of_list(actions.empty() ? Json::array() : actions[0]["diagnostics"]).size() == 1);

  // What is suppressed is not shown, and a mistake is said alone.
  client.Change(
      Untitled, 2,
      {{{"text", text.substr(0, text.find("hosts")) +
                     "# curfew: allow CUR9507 until 2027-03-01T00:00:00Z because \"soon\"\n" +
                     text.substr(text.find("hosts"))}}});
  CHECK(of_list(client.Settle(Client::Which::All).at(Untitled)).empty());
  client.Change(Untitled, 3, {{{"text", text + "deny create when task.risk == low\n"}}});
  const Json mistakes = client.Settle(Client::Which::All).at(Untitled);
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0]["severity"] == 1);
}

TEST_CASE("definition and renaming reach other files") {
  const Folder folder;
  folder.Write("work.curfew", Class);
  folder.Write("base.curfew", Base);
  folder.Write("shared/lists.curfew", "hosts mirrors [\"npm.example\"]\n");
  Client client;
  client.Initialize();
  const std::string uri = folder.Uri("work.curfew");
  client.Open(uri, std::string(Class));
  const auto at = [&](int line, int character) {
    return Json{{"textDocument", {{"uri", uri}}},
                {"position", {{"line", line}, {"character", character}}},
                {"newName", "python"}};
  };
  const Json image = client.Ask("textDocument/definition", at(3, 20))["result"];
  CHECK(image["uri"] == folder.Uri("base.curfew"));
  CHECK(image["range"] == Range(0, 6, 10));
  const Json used = client.Ask("textDocument/definition", at(1, 8))["result"];
  CHECK(used["uri"] == folder.Uri("shared/lists.curfew"));
  CHECK(client.Ask("textDocument/references", at(4, 23))["result"].size() == 2);
  const Json changes = client.Ask("textDocument/rename", at(3, 20))["result"]["changes"];
  CHECK(changes[folder.Uri("base.curfew")].size() == 1);
  CHECK(changes[uri].size() == 1);
  CHECK(changes[uri][0]["newText"] == "python");
  const Json prepared = client.Ask("textDocument/prepareRename", at(3, 20))["result"];
  CHECK(prepared["placeholder"] == "base");
}

TEST_CASE(
    "a document outside of the workspace is a set of its own, and one above takes those below") {
  const Folder folder;
  folder.Write("a/x.curfew", "language 1\ndeny create because \"x\"\n");
  folder.Write("a/b/y.curfew", "language 1\nhosts one [\"a.example\"]\n");
  folder.Write("other.curfew", "hosts one [\"b.example\"]\n");
  Client client;
  client.Initialize({{"capabilities", Json::object()},
                     {"workspaceFolders", {{{"uri", folder.Uri("a")}, {"name", "a"}}}}});
  client.Open(folder.Uri("a/b/y.curfew"), "language 1\nhosts one [\"a.example\"]\n");
  client.Open(folder.Uri("other.curfew"), "hosts one [\"b.example\"]\n");
  const auto apart = client.Settle();
  CHECK(apart.at(folder.Uri("other.curfew")).empty());
  // Now the set is the folder above, and its file that is not saved yet belongs to it.
  client.Open(folder.Uri("a/new.curfew"), "hosts one [\"c.example\"]\n");
  const auto joined = client.Settle();
  const std::size_t said =
      (joined.contains(folder.Uri("a/new.curfew")) ? joined.at(folder.Uri("a/new.curfew")).size()
                                                   : 0) +
      (joined.contains(folder.Uri("a/b/y.curfew")) ? joined.at(folder.Uri("a/b/y.curfew")).size()
                                                   : 0);
  CHECK(said == 1);
}

TEST_CASE("what is saved is proven, what is typed is not") {
  int proofs = 0;
  std::vector<Json> sent;
  Server server({.version = "test",
                 .now_ms = [] { return std::int64_t{0}; },
                 .prove =
                     [&](const Analysis& analysis, diagnostics::Sink& sink) {
                       ++proofs;
                       sink.Report(analysis.model->classes.front().span, diag::NeverUndecided,
                                   "shown");
                     }},
                [&](const std::string& message) { sent.push_back(Json::parse(message)); });
  const auto tell = [&](const std::string& method, const Json& params) {
    server.Receive(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
    server.Settle();
  };
  const auto shown = [&] { return sent.back().dump().find("shown") != std::string::npos; };
  server.Receive(Json{{"jsonrpc", "2.0"},
                      {"id", 1},
                      {"method", "initialize"},
                      {"params", {{"capabilities", Json::object()}}}}
                     .dump());
  tell("initialized", Json::object());
  const std::string digest(64, 'a');
  const std::string text = "language 1\nimage i { digest sha256:" + digest +
                           " }\nsandbox a { image { allow i } lifetime { ttl 1h } }\n";
  tell("textDocument/didOpen",
       {{"textDocument",
         {{"uri", Untitled}, {"languageId", "curfew"}, {"version", 1}, {"text", text}}}});
  CHECK(proofs == 0);
  tell("textDocument/didSave", {{"textDocument", {{"uri", Untitled}}}});
  CHECK(proofs == 1);
  CHECK(shown());
  tell("textDocument/didChange",
       {{"textDocument", {{"uri", Untitled}, {"version", 2}}},
        {"contentChanges", Json::array({{{"text", text + "# more\n"}}})}});
  CHECK(proofs == 1);
  CHECK_FALSE(shown());
}

}  // namespace
}  // namespace curfew::lsp
