#include "tests/properties/generated_policy.h"

#include "tests/properties/generated_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::properties {
namespace {

std::string DigestText(std::size_t n) { return fmt::format("sha256:{:064x}", 0xabc0 + n); }

// ---- Conditions ---------------------------------------------------------------------------------

// What a condition on any action may read.
std::string SharedAtom(Random& r) {
  switch (r.Below(25)) {
    case 0:
      return fmt::format("task.kind == \"k{}\"", r.Below(4));
    case 1:
      return fmt::format("task.team in [\"t{}\", \"t{}\"]", r.Below(2), 2 + r.Below(2));
    case 2:
      return fmt::format("task.team != \"t{}\"", r.Below(4));
    case 3:
      return "caller.id == task.owner";
    case 4:
      return "task.owner in caller.groups";
    case 5:
      return fmt::format("caller.groups intersects [\"group:g{}\", \"group:g9\"]", r.Below(3));
    case 6:
      return "caller.groups subset of [\"group:g0\", \"group:g1\"]";
    case 7:
      return fmt::format("count(caller.groups) {} {}", r.Pick({"<", ">=", "=="}), r.Below(4));
    case 8:
      return fmt::format("\"group:g{}\" in caller.groups", r.Below(3));
    case 9:
      return fmt::format("{} g in caller.groups where (g == \"group:g{}\" or g == task.owner)",
                         r.Pick({"any", "all", "none"}), r.Below(3));
    case 10:
      return "caller.operator";
    case 11:
      return fmt::format("caller.kind {} agent", r.Pick({"==", "!="}));
    case 12:
      return fmt::format("now.weekday {} fri", r.Pick({"<", "<=", ">", ">=", "=="}));
    case 13:
      return fmt::format("now.time_of_day {} {}h", r.Pick({"<", ">="}), 1 + r.Below(20));
    case 14:
      return "now > 2026-06-01T00:00:00Z";
    case 15:
      return fmt::format("task.risk {} medium", r.Pick({"<", "<=", ">", ">=", "==", "!="}));
    case 16:
      return fmt::format("has task.ticket and task.ticket == \"T-{}\"", r.Below(3));
    case 17:
      return "(not has task.ticket or task.ticket matches \"T-*\")";
    case 18:
      return fmt::format("task.labels intersects [\"l{}\"]", r.Below(3));
    case 19:
      return fmt::format("{} l in task.labels where (l matches \"l*\")",
                         r.Pick({"any", "all", "none"}));
    case 20:
      return fmt::format("task.budget {} {}", r.Pick({"<", "<=", ">", ">="}), r.Below(6));
    case 21:
      return fmt::format("task.kind matches \"{}\"", r.Pick({"k*", "*0", "*", "x*", "k*1"}));
    case 22:
      return "caller.operator == task.urgent";
    case 23:
      return fmt::format("all g in caller.groups where (g != \"group:g{}\")", r.Below(3));
    default:
      return fmt::format("task.trigger == {}", r.Pick({"human", "schedule", "api", "agent"}));
  }
}

std::string SandboxAtom(Random& r) {
  switch (r.Below(6)) {
    case 0:
      return fmt::format("sandbox.age {} {}m", r.Pick({"<", ">="}), 10 + r.Below(60));
    case 1:
      return fmt::format("sandbox.age + sandbox.idle > {}m", 10 + r.Below(60));
    case 2:
      return fmt::format("sandbox.isolation == {}", r.Pick({"kvm", "emulated"}));
    case 3:
      return "sandbox.creator == caller.id";
    case 4:
      return r.OneIn(2) ? "token.valid" : "token.expires_in > 5m";
    default:
      return fmt::format("sandbox.image == {}", DigestText(r.Below(3)));
  }
}

std::string OwnAtom(Random& r, const std::string& action) {
  if (action == "create") {
    switch (r.Below(7)) {
      case 0:
        return fmt::format("create.ttl {} {}m", r.Pick({">", "<="}), 10 + r.Below(60));
      case 1:
        return fmt::format("create.cpu >= {}", 1 + r.Below(4));
      case 2:
        return fmt::format("create.image == {}", DigestText(r.Below(3)));
      case 3:
        return "create.env intersects [\"LANG\"]";
      case 4:
        return "create.isolation == any";
      case 5:
        return "has create.class and create.class == \"c0\"";
      default:
        return fmt::format("create.running > {}", r.Below(4));
    }
  }
  if (action == "exec") {
    switch (r.Below(12)) {
      case 6:
      case 8:
      case 9:
        return fmt::format("exec.args {} [\"-m\", \"pip\"]", r.Pick({"==", "!="}));
      case 7:
      case 10:
        return "exec.args starts [\"-m\", \"pip\"]";
      case 0:
        return fmt::format("exec.program matches \"{}\"",
                           r.Pick({"/usr/bin/*", "/usr/**", "/bin/sh", "/**", "/usr/bin/p*"}));
      case 1:
        return "exec.args starts [\"-m\"]";
      case 2:
        return "any a in exec.args where (a matches \"-*\")";
      case 3:
        return fmt::format("exec.user == \"{}\"", r.Pick({"root", "agent"}));
      case 4:
        return r.OneIn(2) ? "exec.terminal" : "not exec.background";
      default:
        return "count(exec.args) > 1";
    }
  }
  if (action == "egress") {
    switch (r.Below(12)) {
      case 0:
        return fmt::format("egress.host matches \"{}\"",
                           r.Pick({"*.example.com", "**.example.com", "api.example.com"}));
      case 1:
        return "has egress.ip and egress.ip in \"10.0.0.0/8\"";
      case 2:
        return fmt::format("has egress.method and egress.method == \"{}\"",
                           r.Pick({"GET", "POST"}));
      case 3:
        return "has egress.path and egress.path matches \"/a/**\"";
      case 4:
        return "egress.port in [443, 80]";
      case 5:
        return "egress.scheme == https";
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return "has egress.ip and egress.ip in task.nets";
      default:
        return "egress.bytes > 1MiB";
    }
  }
  if (action == "export") {
    switch (r.Below(3)) {
      case 0:
        return fmt::format("export.path matches \"{}\"",
                           r.Pick({"/work/**", "/work/out/*", "/**"}));
      case 1:
        return "export.size > 1MiB";
      default:
        return "export.kind == link";
    }
  }
  if (action == "resume") {
    switch (r.Below(4)) {
      case 0:
        return fmt::format("snapshot.kind {} {}", r.Pick({"==", "!="}),
                           r.Pick({"frozen", "disk", "memory"}));
      case 1:
        return fmt::format("snapshot.age > {}m", 1 + r.Below(70));
      case 2:
        return "snapshot.class == sandbox.class";
      default:
        return "snapshot.policy_changed";
    }
  }
  if (action == "import") {
    return r.OneIn(2) ? "import.total > 4MiB" : "import.path matches \"/work/**\"";
  }
  if (action == "snapshot") {
    switch (r.Below(4)) {
      case 0:
        return "has snapshot.expires_in and snapshot.expires_in > 15m";
      case 1:
        return "snapshot.kind == memory";
      case 2:
        return "has snapshot.owner and snapshot.owner != task.owner";
      default:
        return fmt::format("snapshot.kept > {}", r.Below(4));
    }
  }
  if (action == "extend") {
    return r.OneIn(2) ? "extend.times > 1" : fmt::format("extend.total > {}m", 1 + r.Below(20));
  }
  if (action == "observe") return "observe.what == logs";
  return SharedAtom(r);
}

}  // namespace

std::string Condition(Random& r, const std::vector<std::string>& actions, std::size_t depth) {
  const bool creates = std::find(actions.begin(), actions.end(), "create") != actions.end();
  if (depth > 0 && r.OneIn(2)) {
    const std::string word = r.OneIn(2) ? " and " : " or ";
    std::string text = "(";
    const std::size_t parts = 2 + r.Below(2);
    for (std::size_t i = 0; i < parts; ++i) {
      text += (i > 0 ? word : "") + ("(" + Condition(r, actions, depth - 1) + ")");
    }
    return text + ")";
  }
  if (depth > 0 && r.OneIn(5)) return "not (" + Condition(r, actions, depth - 1) + ")";
  if (actions.size() == 1 && r.OneIn(2)) return OwnAtom(r, actions.front());
  if (!creates && r.OneIn(4)) return SandboxAtom(r);
  return SharedAtom(r);
}

// ---- Rules --------------------------------------------------------------------------------------

std::string Rule(Random& r, const std::string& label) {
  static const std::vector<std::string> kActions = {"create",  "exec",    "egress", "export",
                                                    "observe", "resume",  "expose", "import",
                                                    "extend",  "snapshot"};
  // Lists are facts of `exec` only.
  const bool of_exec = r.OneIn(3);
  std::vector<std::string> actions = {of_exec ? "exec" : r.Pick(kActions)};
  while (!of_exec && r.OneIn(3)) {
    const std::string& more = r.Pick(kActions);
    if (std::find(actions.begin(), actions.end(), more) == actions.end()) actions.push_back(more);
  }
  std::string names;
  for (const std::string& action : actions) names += (names.empty() ? "" : ", ") + action;
  std::string text = r.OneIn(2) ? label + ": " : "";
  const std::string condition = Condition(r, actions, 2);
  const bool never = r.OneIn(5);
  if (!never && r.OneIn(6)) text += r.OneIn(2) ? "trial " : "trial until 2026-06-03T00:00:00Z ";
  if (!never && r.OneIn(3)) {
    text += fmt::format("require {}: {}", names, condition);
  } else {
    text += fmt::format("{} {} when {}", never ? "never" : "deny", names, condition);
  }
  return text + fmt::format(" because \"rule {}\"", label);
}

namespace {

std::string Tail(Random& r, const std::string& action) {
  return r.OneIn(4) ? " when " + Condition(r, {action}, 1) : "";
}

}  // namespace

// ---- Planes -------------------------------------------------------------------------------------

std::string BoundText(Random& r, std::size_t least, std::size_t most, std::string_view unit) {
  const std::size_t top = least + r.Below(most - least + 1);
  const std::size_t standard = least + r.Below(top - least + 1);
  switch (r.Below(3)) {
    case 0:
      return fmt::format("{}{}", top, unit);
    case 1:
      return fmt::format("at most {}{}", top, unit);
    default:
      return fmt::format("{}{} at most {}{}", standard, unit, top, unit);
  }
}

// WebSockets, queries, escaped slashes and every public name.
std::string LateNetworkStatement(Random& r, const std::string& label, const std::string& host,
                                 const std::string& methods) {
  const std::string query = fmt::format(" query k == \"{}\"{}", r.Pick({"v", "a b", ""}),
                                        r.OneIn(3) ? ", l == \"w\"" : "");
  switch (r.Below(8)) {
    case 0:
      return fmt::format("{}allow websocket \"https://{}{}\"", label, host,
                         r.Pick({"", "/a/**", "/a"}));
    case 1:
      return fmt::format("{}deny websocket {}", label,
                         r.Pick({"any", "\"https://h1.example.com\""}));
    case 2:
    case 3:
      return fmt::format("{}allow {} \"https://{}/a\"{}", label, methods, host, query);
    case 4:
      return fmt::format("{}deny {} any{}", label, methods, query);
    case 5:
      return fmt::format("{}allow {} \"https://{}{}\" with encoded slash", label, methods, host,
                         r.Pick({"", "/a/**", "/a/*", "/a%2Fb"}));
    case 6:
      return fmt::format("{}deny {} \"https://{}{}\"", label, methods, host,
                         r.Pick({"/a/b/**", "/a/*", "/A/b"}));
    default:
      return r.OneIn(2) ? fmt::format("{}allow {} internet because \"research\"", label, methods)
                        : fmt::format("{}deny {} internet{}", label, methods, query);
  }
}

std::string NetworkStatement(Random& r, std::size_t n) {
  const std::string label = r.OneIn(2) ? fmt::format("n{}: ", n) : "";
  const std::string host =
      r.OneIn(3) ? fmt::format("{}h{}.example.com", r.Pick({"", "", "*.", "**."}), r.Below(8))
                 : r.Pick({"api.example.com", "*.example.com", "**.example.com", "db.example.com",
                           "10.1.2.3", "93.184.216.34"});
  const std::string path = r.Pick({"", "/a/**", "/a/*/b", "/A/x", "/a"});
  const std::string pin =
      r.OneIn(4) ? r.OneIn(2) ? " at \"10.0.0.0/8\"" : " at \"192.168.0.0/16\"" : "";
  const std::string methods = r.Pick({"GET", "GET, HEAD", "POST", "any"});
  if (r.OneIn(5)) return LateNetworkStatement(r, label, host, methods);
  switch (r.Below(9)) {
    case 7: {
      // Targets that are alike but for host and port.
      std::string targets;
      for (std::size_t i = 0; i < 5; ++i) {
        targets += fmt::format("{}\"https://h{}.example.com:{}\"", i == 0 ? "" : ", ", i, 5000 + i);
      }
      return fmt::format("{}allow {} {}", label, methods, targets);
    }
    case 6: {
      // Long enough to be searched.
      std::string hosts;
      for (std::size_t i = 0; i < 12; ++i) {
        hosts += fmt::format("{}\"{}h{}.example.com\"", i == 0 ? "" : ", ",
                             r.Pick({"", "*.", "**."}), r.Below(20));
      }
      return fmt::format("{}deny {} {}", label, methods, hosts);
    }
    case 0:
    case 1:
      return fmt::format("{}allow {} \"https://{}{}\"{}{}", label, methods, host, path, pin,
                         Tail(r, "egress"));
    case 2:
      return fmt::format("{}allow {} \"http://{}:8080{}\"{}", label, methods, host, path, pin);
    case 3:
      return fmt::format("{}allow connect \"{}:{}\"{}", label, host, r.Pick({22, 5432}), pin);
    case 4:
      return fmt::format("{}deny {} any{}", label, methods, Tail(r, "egress"));
    case 5:
      return fmt::format("{}{}deny {} \"https://{}{}\"", label, r.OneIn(3) ? "trial " : "", methods,
                         host, path);
    default:
      return fmt::format("{}deny \"{}\"", label,
                         r.Pick({"10.0.0.0/16", "db.example.com", "**.example.com"}));
  }
}

namespace {

// Rules that are alike but for one fact, enough of them for an index that goes by it.
std::vector<std::string> AlikeStatements(Random& r) {
  std::vector<std::string> statements;
  const std::size_t kind = r.Pick<std::size_t>({0, 0, 1, 2, 3});
  const std::size_t count = 10 + r.Below(10);
  const bool mostly_allows = r.OneIn(2);
  for (std::size_t n = 0; n < count; ++n) {
    const bool allows = r.OneIn(6) ? !mostly_allows : mostly_allows;
    const std::string effect = allows ? "allow GET" : r.Pick({"deny GET", "deny any"});
    switch (kind) {
      case 0:
        statements.push_back(fmt::format("{} \"https://api.example.com/{}{}{}\"", effect,
                                         r.Pick({"p", "P"}), n % 12,
                                         r.Pick({"", "/**", "/x", "/*/b", "/x/**", "*"})));
        break;
      case 1:
        statements.push_back(
            fmt::format("{} \"https://api.example.com\" {}", effect,
                        r.OneIn(2) ? fmt::format("port {}", 5000 + n)
                                   : fmt::format("ports {}..{}", 4998 + n, 4998 + n + r.Below(4))));
        break;
      case 2:
        if (allows) {
          statements.push_back(fmt::format("allow GET \"https://93.184.216.{}\"", 30 + n));
        } else {
          statements.push_back(fmt::format("deny \"93.185.{}\"", r.OneIn(2)
                                                                     ? fmt::format("0.{}", n)
                                                                     : fmt::format("{}.0/24", n)));
        }
        break;
      default:
        statements.push_back(fmt::format("{} \"https://{}h{}.example.com/a/**\"", effect,
                                         r.Pick({"", "", "*.", "**."}), n));
    }
  }
  return statements;
}

}  // namespace

// What goes in, and what outlives a sandbox.
void AddKept(Random& r, std::vector<std::string>& filesystem) {
  const std::size_t imports = r.Below(3);
  for (std::size_t i = 0; i < imports; ++i) {
    filesystem.push_back(fmt::format(
        "{}import {}{}at most {}{}", r.OneIn(2) ? fmt::format("m{}: ", i) : "",
        r.Pick({"\"/work/in/**\"", "\"/work/in/*\", \"/data/x\""}), r.OneIn(2) ? " each " : " ",
        r.Pick({"1MiB", "4MiB", "16MiB"}), Tail(r, "import")));
  }
  if (imports == 0 && r.OneIn(6)) filesystem.push_back("import none");
  if (r.OneIn(2)) {
    filesystem.push_back(
        fmt::format("persist deps \"/deps\" 1GiB {{ reason \"cache\" owner \"{}\" expires 7d{} }}",
                    r.Pick({"group:g1", "user:cy"}), r.Pick({"", " shared by class"})));
    if (r.OneIn(3)) {
      filesystem.push_back(
          "persist logs \"/logs\" 1GiB { reason \"logs\" owner \"user:ana\" expires 1d }");
    }
  } else if (r.OneIn(6)) {
    filesystem.push_back("persist none");
  }
  bool keeps = false;
  for (const char* kind : {"disk", "memory"}) {
    if (!r.OneIn(2)) continue;
    keeps = true;
    std::string text = fmt::format("snapshot {} {{ expires {}", kind,
                                   r.OneIn(2) ? "10m at most 40m" : "at most 30m");
    if (r.OneIn(2)) text += fmt::format(" size at most {}MiB", r.Pick({4, 16}));
    if (r.OneIn(2)) text += fmt::format(" keep {}", 1 + r.Below(4));
    if (r.OneIn(2)) text += fmt::format(" branches at most {}", 1 + r.Below(4));
    if (r.OneIn(3)) text += " renews";
    if (r.OneIn(3)) text += " from c0";
    filesystem.push_back(text + " }");
  }
  if (!keeps && r.OneIn(6)) filesystem.push_back("snapshot none");
}

namespace {

ClassText GenerateClass(Random& r, std::size_t index) {
  ClassText text;
  text.head = fmt::format("sandbox c{}{}", index, r.OneIn(6) ? " by name" : "");
  std::string when = fmt::format("task.kind == \"k{}\"", index);
  if (r.OneIn(4)) when += " and (" + Condition(r, {"create", "exec"}, 1) + ")";
  // A class that may meet another: the checker refuses what surely does.
  if (r.OneIn(8)) when = r.Pick({"task.kind matches \"k*\"", "task.budget > 2"});
  text.head += " when " + when;

  auto& image = text.planes["image"];
  image.push_back(r.OneIn(9)   ? "allow none"
                  : r.OneIn(2) ? fmt::format("allow i{}", r.Below(3))
                               : "allow i0, i2");
  if (!r.OneIn(5)) {
    image.push_back(r.Pick(
        {"exec any", "exec none", "exec \"/usr/bin/**\"", "exec \"/usr/bin/p*\", \"/bin/sh\""}));
  }
  if (r.OneIn(2)) {
    image.push_back("size cpu " + BoundText(r, 1, 4, ""));
    if (r.OneIn(2)) image.back() += ", memory " + BoundText(r, 256, 2048, "MiB");
    if (r.OneIn(2)) image.back() += ", disk " + BoundText(r, 1, 4, "GiB");
  }
  if (r.OneIn(2)) image.push_back(r.OneIn(3) ? "isolation kvm" : "isolation any");

  auto& identity = text.planes["identity"];
  // Every other class may have what rules send.
  const bool secrets = r.OneIn(2);
  if (secrets) identity.push_back(r.OneIn(2) ? "secrets t0, t1" : "secrets t0");
  if (r.OneIn(2)) identity.push_back(r.Pick({"env \"LANG\", \"TZ\"", "env \"LANG\"", "env none"}));
  if (r.OneIn(3)) identity.push_back("token audience \"bridge\" lives 5m");
  if (r.OneIn(2)) {
    identity.push_back(r.Pick({"access \"group:g1\"", "access \"user:cy\", \"group:g2\"",
                               "access none", "access any", "access task.owner, \"group:g1\""}));
  }
  auto& filesystem = text.planes["filesystem"];
  if (r.OneIn(2)) filesystem.push_back("scratch \"/work\" 1GiB");
  const std::size_t exports = r.Below(4);
  for (std::size_t i = 0; i < exports; ++i) {
    filesystem.push_back(fmt::format(
        "{}export {}{}at most {}{}", r.OneIn(2) ? fmt::format("e{}: ", i) : "",
        r.Pick({"\"/work/out/**\"", "\"/work/out/*\"", "\"/work/**\", \"/data/x\""}),
        r.OneIn(2) ? " each " : " ", r.Pick({"1MiB", "4MiB", "16MiB"}), Tail(r, "export")));
  }
  AddKept(r, filesystem);
  auto& network = text.planes["network"];
  if (!r.OneIn(3)) {
    // Some planes are long enough for an index.
    const std::size_t statements = 1 + r.Below(r.OneIn(3) ? 14 : 5);
    for (std::size_t i = 0; i < statements; ++i) network.push_back(NetworkStatement(r, i));
    if (r.OneIn(3)) {
      for (std::string& statement : AlikeStatements(r)) network.push_back(std::move(statement));
    }
    network.push_back("tls inspect");
    if (secrets && r.OneIn(2)) {
      network.push_back("allow POST \"https://api.example.com/a\" using t0");
    }
    if (r.OneIn(4)) {
      network.push_back(r.Pick({"limit 100 requests per 1m", "limit 2 requests per 1m, 2MiB in all",
                                "limit 4MiB per request", "limit 64MiB in all"}));
    }
  } else if (r.OneIn(4)) {
    network.push_back("allow none");
  }
  const std::size_t exposes = r.Below(3);
  for (std::size_t i = 0; i < exposes; ++i) {
    network.push_back(fmt::format(
        "{}expose {} to {} for {}{}", r.OneIn(2) ? fmt::format("x{}: ", i) : "",
        r.Pick({"8080", "8000..8100", "443"}), r.Pick({"task.owner", "any", "\"user:ana\""}),
        BoundText(r, 10, 60, "m"), Tail(r, "expose")));
  }
  auto& lifetime = text.planes["lifetime"];
  lifetime.push_back("ttl " + BoundText(r, 10, 60, "m"));
  if (r.OneIn(2))
    lifetime.push_back(
        fmt::format("idle {}m then {}", 1 + r.Below(10), r.Pick({"close", "freeze"})));
  if (r.OneIn(3)) lifetime.push_back(fmt::format("frozen at most {}m", 5 + r.Below(60)));
  if (r.OneIn(2)) {
    lifetime.push_back(
        fmt::format("renew at most {} times by {}m", 1 + r.Below(3), 1 + r.Below(9)));
  }
  if (r.OneIn(2)) lifetime.push_back(fmt::format("grace {}s", 1 + r.Below(60)));
  auto& evidence = text.planes["evidence"];
  if (r.OneIn(3)) {
    evidence.push_back(r.Pick({"record all", "record all except egress allow",
                               "record all except exec allow, observe allow"}));
  }
  if (r.OneIn(4)) evidence.push_back("redact header \"x-api-key\"");
  if (r.OneIn(4)) evidence.push_back(fmt::format("retain {}d", 1 + r.Below(90)));

  const std::size_t rules = r.Below(3);
  for (std::size_t i = 0; i < rules; ++i) text.rules.push_back(Rule(r, fmt::format("r{}", i)));
  return text;
}

std::string TextOf(const ClassText& of) {
  std::string text = of.head + " {\n";
  for (const auto& [plane, statements] : of.planes) {
    if (statements.empty()) continue;
    text += "  " + plane + " {\n";
    for (const std::string& statement : statements) text += "    " + statement + "\n";
    text += "  }\n";
  }
  for (const std::string& rule : of.rules) text += "  " + rule + "\n";
  return text + "}\n";
}

}  // namespace

std::string ClassText::name() const {
  constexpr std::string_view kSandbox = "sandbox ";
  const std::string rest = head.substr(kSandbox.size());
  return rest.substr(0, rest.find(' '));
}

std::string PolicyText::Text() const {
  std::string text = "language 1\n";
  for (const std::string& declaration : declarations) text += declaration + "\n";
  for (const ClassText& of : classes) text += TextOf(of);
  for (const std::string& rule : rules) text += rule + "\n";
  return text;
}

PolicyText GeneratePolicy(Random& random) {
  PolicyText policy;
  policy.declarations.push_back(
      "attributes task {\n  risk: low < medium < high\n  ticket: string?\n"
      "  labels: set of string\n  nets: set of cidr\n  budget: int\n  urgent: bool\n}");
  for (std::size_t i = 0; i < 3; ++i) {
    policy.declarations.push_back(fmt::format("image i{} {{ digest {} }}", i, DigestText(i)));
  }
  policy.declarations.push_back("secret t0 { from env \"T0\" send bearer to \"api.example.com\" }");
  policy.declarations.push_back(
      "secret t1 { from file \"/t1\" send header \"x-key\" to \"db.example.com:8443\" }");
  const std::size_t classes = 1 + random.Below(3);
  for (std::size_t i = 0; i < classes; ++i) policy.classes.push_back(GenerateClass(random, i));
  while (policy.classes.size() < 7 && random.OneIn(3)) {
    policy.classes.push_back(GenerateNarrowing(random, random.Pick(policy.classes),
                                               fmt::format("c{}", policy.classes.size())));
  }
  const std::size_t floors = random.OneIn(4) ? 1 + random.Below(2) : 0;
  for (std::size_t i = 0; i < floors; ++i) {
    policy.classes.push_back(GenerateFloor(random, i));
  }
  const std::size_t rules = random.Below(3);
  for (std::size_t i = 0; i < rules; ++i) {
    policy.rules.push_back(Rule(random, fmt::format("s{}", i)));
  }
  return policy;
}

std::vector<std::string> Rearranged(const PolicyText& policy, Random& random) {
  PolicyText other = policy;
  std::vector<std::string> parts = other.declarations;
  for (ClassText& of : other.classes) {
    for (auto& [plane, statements] : of.planes) random.Shuffle(statements);
    random.Shuffle(of.rules);
    parts.push_back(TextOf(of));
  }
  parts.insert(parts.end(), other.rules.begin(), other.rules.end());
  // Without a label, what is written twice is one rule.
  for (const std::string& rule : other.rules) {
    const bool labelled = rule.substr(0, rule.find(' ')).ends_with(':');
    if (!labelled && random.OneIn(2)) parts.push_back(rule);
  }
  random.Shuffle(parts);
  std::vector<std::string> files(1 + random.Below(3), "language 1\n");
  for (const std::string& part : parts) files[random.Below(files.size())] += part + "\n";
  return files;
}

std::string GenerateDenial(Random& random) {
  std::string rule = Rule(random, "added");
  while (rule.find("deny ") == std::string::npos || rule.find("trial") != std::string::npos) {
    rule = Rule(random, "added");
  }
  return rule;
}

}  // namespace curfew::properties
