#include "compiler/lint/egress_reach.h"
#include "compiler/lint/rule.h"
#include "compiler/model/chain.h"
#include "compiler/values/path.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace curfew::lint {
namespace {

using syntax::AllowTraffic;
using syntax::SandboxDecl;

constexpr std::int64_t kPortsMax = 100;
// Prefixes of 128 bits; an IPv4 /16 is 112.
constexpr int kPinPrefixLeast = 112;
constexpr int kPinPrefixLeastV6 = 48;
constexpr int kBlockPrefixLeast = 120;
constexpr int kBlockPrefixLeastV6 = 64;

constexpr std::array kReadMethods = {std::string_view("GET"), std::string_view("HEAD"),
                                     std::string_view("OPTIONS")};

// What a rule sends: the first method that writes, or `any`; empty where it only reads.
std::string_view WritesBy(const syntax::Traffic& traffic) {
  if (traffic.stream != syntax::Traffic::Stream::Http) return {};
  if (traffic.any_method) return "any method";
  for (const syntax::Name& method : traffic.methods) {
    if (std::find(kReadMethods.begin(), kReadMethods.end(), method.text) == kReadMethods.end()) {
      return method.text;
    }
  }
  return {};
}

const values::HostPattern* HostOf(const TargetText& target) {
  const values::Place* place = target.place();
  return place == nullptr ? nullptr : std::get_if<values::HostPattern>(place);
}

void FindDeepWildcard(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      const auto* host = HostOf(target);
      if (host == nullptr || host->reach != values::HostReach::AnyDepth) continue;
      sink.Report(target.span, diag::DeepWildcard, values::ToString(*host));
    }
  });
}

void FindEveryMethod(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    const bool http = allow.traffic.stream == syntax::Traffic::Stream::Http;
    if (http && allow.traffic.any_method) sink.Report(*allow.traffic.any_method, diag::EveryMethod);
  });
}

void FindWriteToWildcard(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    const std::string_view writes = WritesBy(allow.traffic);
    if (writes.empty()) return;
    for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      const auto* host = HostOf(target);
      if (host == nullptr || host->reach != values::HostReach::OneLabel) continue;
      sink.Report(target.span, diag::WriteToWildcard, writes, values::ToString(*host));
    }
  });
}

void FindPlainHttp(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    if (!allow.traffic.at.empty()) return;  // in a network of one's own
    for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      if (!target.url || target.url->scheme != values::UrlScheme::Http) continue;
      sink.Report(target.span, diag::PlainHttp, target.text);
    }
  });
}

// `outer` has the whole place of `inner`, and more paths.
bool IsWider(const model::EgressTarget& outer, const model::EgressTarget& inner) {
  model::EgressTarget place = inner;
  place.path = outer.path;
  // A deny that names no scheme, port or host is of all of them; what it takes from this allow
  // counts.
  place.http = place.http && outer.http;
  place.https = place.https && outer.https;
  place.tcp = false;
  if (!place.http && !place.https) return false;
  if (place.ports.empty()) place.ports = outer.ports;
  if (!place.place) place.place = outer.place;
  if (!Covers(outer, place)) return false;
  return !outer.path ||
         (outer.path->text != inner.path->text && PathCovers(*outer.path, *inner.path));
}

void FindDenyByPath(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  for (const model::Class& of : subject.model->classes) {
    const ClassTraffic traffic = TrafficOf(*subject.model, of);
    ComparisonBudget budget;
    for (const model::EgressRule& deny : of.network.rules) {
      if (deny.effect != model::EgressRule::Effect::Deny) continue;
      const model::EgressRule* under = nullptr;
      for (const model::EgressRule* allow : traffic.allows) {
        for (const model::EgressTarget& target : deny.targets) {
          if (!target.path || under != nullptr || !budget.Take()) continue;
          const auto wider = [&target](const model::EgressTarget& of_allow) {
            return IsWider(of_allow, target);
          };
          if (MethodsMeet(*allow, deny) &&
              std::any_of(allow->targets.begin(), allow->targets.end(), wider)) {
            under = allow;
          }
        }
      }
      if (under == nullptr) continue;
      sink.Report(deny.span, diag::DenyByPath).Note(under->span, diag::AllowedHere);
    }
  }
}

void FindOpaqueStream(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    if (allow.traffic.stream != syntax::Traffic::Stream::Connect) return;
    for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      if (!target.at || target.at->port != 443) continue;
      sink.Report(target.span, diag::OpaqueStream, target.text);
    }
  });
}

// The first fact inside HTTP that a condition reads; empty where it reads none.
std::string_view HttpFactOf(const model::Expressions& all, model::ExprId condition) {
  const model::Expr& expr = all.at(condition);
  if (expr.kind == model::ExprKind::Attribute || expr.kind == model::ExprKind::Has) {
    const std::string_view path = all.attributes[expr.leaf].path;
    const bool is_inside =
        path == "egress.method" || path == "egress.path" || path == "egress.query";
    return is_inside ? path : std::string_view();
  }
  for (const model::ExprId operand : all.OperandsOf(condition)) {
    const std::string_view path = HttpFactOf(all, operand);
    if (!path.empty()) return path;
  }
  return {};
}

// An allow of the class by which HTTPS leaves unread; null where there is none.
const model::EgressRule* UnreadIn(const model::PolicyModel& model, const model::Class& of) {
  const ClassTraffic traffic = TrafficOf(model, of);
  const bool wants = model::BoundsOf(model, of).network.tls == model::Tls::Inspect;
  const auto is_read = [](const model::EgressRule* rule) { return model::ReadsInsideTls(*rule); };
  if (wants && std::ranges::any_of(traffic.allows, is_read)) return nullptr;
  for (const model::EgressRule* allow : traffic.allows) {
    if (std::ranges::any_of(allow->targets, &model::EgressTarget::https)) return allow;
  }
  return nullptr;
}

// A plane's deny holds of what cannot be seen; a condition that asks `has` of it does not.
void FindRuleOverUnreadHttps(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  const model::PolicyModel& model = *subject.model;
  const model::EgressRule* of_any = nullptr;
  std::map<const model::Class*, const model::EgressRule*> of_link;  // of some class that has it
  for (const model::Class& of : model.classes) {
    const model::EgressRule* allow = UnreadIn(model, of);
    if (allow == nullptr) continue;
    if (of_any == nullptr) of_any = allow;
    for (const model::Class* link : model::ChainOf(model, of)) of_link.emplace(link, allow);
  }
  if (of_any == nullptr) return;
  const auto judge = [&](const model::Rule& rule) {
    constexpr auto kEgress = static_cast<std::size_t>(schema::Action::Egress);
    if (!rule.actions[kEgress] || rule.condition == model::NoExpr) return;
    const std::string_view fact = HttpFactOf(model.expressions, rule.condition);
    if (fact.empty()) return;
    const model::EgressRule* allow = of_any;
    if (rule.of_class) {
      const auto place = of_link.find(&At(model, *rule.of_class));
      if (place == of_link.end()) return;
      allow = place->second;
    }
    sink.Report(rule.span, diag::RuleOverUnreadHttps, fact, allow->id)
        .Note(allow->span, diag::AllowedHere);
  };
  for (const model::Rule& rule : model.rules) judge(rule);
  for (const model::Rule& rule : model.trials) judge(rule);
}

// What the checker refuses (the deny names the host, or the port is that of HTTP) is no finding.
void FindStreamBesideDeny(const Subject& subject, diagnostics::Sink& sink) {
  if (subject.model == nullptr) return;
  for (const model::Class& of : subject.model->classes) {
    const ClassTraffic traffic = TrafficOf(*subject.model, of);
    ComparisonBudget budget;
    for (const model::EgressRule* allow : traffic.allows) {
      const auto is_stream = [](const model::EgressTarget& target) { return target.tcp; };
      if (std::none_of(allow->targets.begin(), allow->targets.end(), is_stream)) continue;
      for (const model::EgressRule* deny : traffic.denies) {
        if (!budget.Take()) break;
        const auto judges_requests = [&deny](const model::EgressTarget& target) {
          return !target.place && (target.path || !deny->methods.empty());
        };
        if (std::none_of(deny->targets.begin(), deny->targets.end(), judges_requests)) continue;
        sink.Report(allow->span, diag::StreamBesideDeny, deny->id)
            .Note(deny->span, diag::DeniedHere);
        break;
      }
    }
  }
}

void FindWriteToInternet(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    const std::string_view writes = WritesBy(allow.traffic);
    for (const syntax::Target& target : allow.traffic.targets) {
      if (target.kind != syntax::Target::Kind::Internet || writes.empty()) continue;
      sink.Report(target.span, diag::WriteToInternet, writes);
    }
  });
}

// "2^16", "2^24": how many addresses a block holds.
std::string AddressesOf(const values::Cidr& block) {
  return fmt::format("2^{}", 128 - block.prefix);
}

bool IsWide(const values::Cidr& block, int least, int least_v6) {
  const bool v4 = values::IsIpv4(block.base) && block.prefix >= 96;
  return block.prefix < (v4 ? least : least_v6);
}

void FindWidePin(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    for (const syntax::Place& place : allow.traffic.at) {
      if (place.kind != syntax::Place::Kind::Block) continue;
      const auto block = values::ParseCidr(place.text);
      if (!block || !IsWide(*block, kPinPrefixLeast, kPinPrefixLeastV6)) continue;
      sink.Report(place.span, diag::WidePin, place.text, AddressesOf(*block));
    }
  });
}

void FindManyPorts(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    for (const syntax::PortRange& range : allow.traffic.ports) {
      const auto first = NumberOf(range.first);
      const auto last = range.last ? NumberOf(*range.last) : first;
      if (!first || !last || *last - *first < kPortsMax) continue;
      sink.Report(range.span, diag::ManyPorts, *last - *first + 1);
    }
  });
}

void FindWideBlock(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<AllowTraffic>(subject.tree, [&](const SandboxDecl&, const AllowTraffic& allow) {
    for (const TargetText& target : TargetsOf(subject.tree, allow.traffic)) {
      const values::Place* place = target.place();
      const auto* block = place == nullptr ? nullptr : std::get_if<values::Cidr>(place);
      if (block == nullptr || !IsWide(*block, kBlockPrefixLeast, kBlockPrefixLeastV6)) continue;
      sink.Report(target.span, diag::WideBlock, target.text, AddressesOf(*block));
    }
  });
}

// Programs that start others as they are told.
constexpr std::array kStarters = {
    std::string_view("/bin/sh"),          std::string_view("/bin/bash"),
    std::string_view("/usr/bin/sh"),      std::string_view("/usr/bin/bash"),
    std::string_view("/usr/bin/env"),     std::string_view("/usr/bin/python3"),
    std::string_view("/usr/bin/perl"),    std::string_view("/usr/bin/node"),
    std::string_view("/usr/bin/ruby"),    std::string_view("/usr/bin/make"),
    std::string_view("/usr/bin/busybox"), std::string_view("/usr/bin/xargs")};

// What of the grants can start other programs; empty where nothing can.
std::string StarterOf(const syntax::ExecStatement& exec) {
  if (exec.kind == syntax::ExecStatement::Kind::Any) return "exec any";
  for (const syntax::String& pattern : exec.patterns) {
    const auto glob = values::ParseFileGlob(pattern.text);
    if (!glob) continue;
    for (const std::string_view program : kStarters) {
      if (values::MatchesPathGlob(glob->text, program)) return pattern.text;
    }
  }
  return {};
}

void FindDenyByProgram(const Subject& subject, diagnostics::Sink& sink) {
  std::string any_starter;
  std::map<const SandboxDecl*, std::string> starters;
  ForEachIn<syntax::ExecStatement>(
      subject.tree, [&](const SandboxDecl& sandbox, const syntax::ExecStatement& exec) {
        std::string starter = StarterOf(exec);
        if (any_starter.empty()) any_starter = starter;
        starters.emplace(&sandbox, std::move(starter));
      });
  const auto judge = [&sink](const syntax::Rule& rule, const std::string& starter) {
    if (starter.empty() || rule.effect != syntax::Rule::Effect::Deny || !rule.tail.when) return;
    const bool of_exec = std::any_of(
        rule.actions.begin(), rule.actions.end(),
        [](const syntax::ActionName& name) { return name.action == syntax::Action::Exec; });
    if (!of_exec || !Reads(*rule.tail.when, "exec.program")) return;
    sink.Report(rule.tail.when->span, diag::DenyByProgram, starter);
  };
  for (const syntax::Rule* rule : subject.tree.rules) judge(*rule, any_starter);
  for (const SandboxDecl* sandbox : subject.tree.classes) {
    std::string starter;
    for (const SandboxDecl* link : subject.tree.ChainOf(*sandbox)) {
      const auto found = starters.find(link);
      if (starter.empty() && found != starters.end()) starter = found->second;
    }
    for (const syntax::SandboxMember& member : sandbox->members) {
      if (const auto* rule = std::get_if<syntax::Rule>(&member)) judge(*rule, starter);
    }
  }
}

// `/**`, `/*`, `/**/x`: nothing but the root is fixed.
bool IsEverywhere(std::string_view glob) { return glob.starts_with("/*"); }

void FindExecEverywhere(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::ExecStatement>(
      subject.tree, [&sink](const SandboxDecl&, const syntax::ExecStatement& exec) {
        for (const syntax::String& pattern : exec.patterns) {
          if (!IsEverywhere(pattern.text)) continue;
          sink.Report(pattern.span, diag::ExecEverywhere, pattern.text);
        }
      });
}

void FindExecOfScratch(const Subject& subject, diagnostics::Sink& sink) {
  for (const SandboxDecl* sandbox : subject.tree.classes) {
    const auto chain = subject.tree.ChainOf(*sandbox);
    ForEach<syntax::ExecStatement>(*sandbox, [&](const syntax::ExecStatement& exec) {
      for (const syntax::String& pattern : exec.patterns) {
        for (const SandboxDecl* link : chain) {
          ForEach<syntax::ScratchStatement>(*link, [&](const syntax::ScratchStatement& scratch) {
            if (!pattern.text.starts_with(scratch.path.text + "/")) return;
            sink.Report(pattern.span, diag::ExecOfScratch, pattern.text, scratch.path.text)
                .Note(scratch.span, diag::DeclaredHere, scratch.path.text);
          });
        }
      }
    });
  }
}

void FindExportEverywhere(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::TransferStatement>(
      subject.tree, [&sink](const SandboxDecl&, const syntax::TransferStatement& transfer) {
        if (transfer.direction != syntax::TransferStatement::Direction::Export) return;
        for (const syntax::String& pattern : transfer.patterns) {
          if (!IsEverywhere(pattern.text)) continue;
          sink.Report(pattern.span, diag::ExportEverywhere, pattern.text);
        }
      });
}

void FindExposeToAny(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::ExposeStatement>(
      subject.tree, [&sink](const SandboxDecl&, const syntax::ExposeStatement& expose) {
        if (!expose.to || expose.to->kind != syntax::Audience::Kind::Any) return;
        sink.Report(expose.to->span, diag::ExposeToAny);
      });
}

void FindEmulationAllowed(const Subject& subject, diagnostics::Sink& sink) {
  ForEachIn<syntax::IsolationStatement>(
      subject.tree, [&sink](const SandboxDecl&, const syntax::IsolationStatement& isolation) {
        if (isolation.level.text != "any") return;
        sink.Report(isolation.span, diag::EmulationAllowed);
      });
}

void FindWriteWithoutLimit(const Subject& subject, diagnostics::Sink& sink) {
  for (const SandboxDecl* sandbox : subject.tree.classes) {
    if (First<syntax::LimitStatement>(subject.tree.ChainOf(*sandbox)) != nullptr) continue;
    bool is_first = true;
    ForEach<AllowTraffic>(*sandbox, [&](const AllowTraffic& allow) {
      const std::string_view writes = WritesBy(allow.traffic);
      if (writes.empty() || !std::exchange(is_first, false)) return;
      sink.Report(allow.span, diag::WriteWithoutLimit, writes, sandbox->name.text);
    });
  }
}

constexpr Rule kRules[] = {
    {diag::DeepWildcard.code, Category::Reach, "an allow for every name below one, however deep",
     FindDeepWildcard},
    {diag::EveryMethod.code, Category::Reach, "an allow for every method", FindEveryMethod},
    {diag::WriteToWildcard.code, Category::Reach, "methods that write to a wildcard host",
     FindWriteToWildcard},
    {diag::PlainHttp.code, Category::Reach, "an allow over plain HTTP", FindPlainHttp},
    {diag::DenyByPath.code, Category::Reach, "a path that is denied under a wider allow",
     FindDenyByPath},
    {diag::OpaqueStream.code, Category::Reach, "a byte stream where HTTPS is spoken",
     FindOpaqueStream},
    {diag::StreamBesideDeny.code, Category::Reach,
     "a byte stream that can carry what a deny by method or path forbids", FindStreamBesideDeny},
    {diag::WriteToInternet.code, Category::Reach, "methods that write to every public name",
     FindWriteToInternet},
    {diag::WidePin.code, Category::Reach, "a pin of more than 65,536 addresses", FindWidePin},
    {diag::ManyPorts.code, Category::Reach, "a range of more than a hundred ports", FindManyPorts},
    {diag::WideBlock.code, Category::Reach, "an allow for more than 256 addresses", FindWideBlock},
    {diag::DenyByProgram.code, Category::Reach,
     "a program that is denied beside one that can start it", FindDenyByProgram},
    {diag::ExecEverywhere.code, Category::Reach, "a pattern of programs that is all of them",
     FindExecEverywhere},
    {diag::ExecOfScratch.code, Category::Reach, "programs from where the task writes",
     FindExecOfScratch},
    {diag::ExportEverywhere.code, Category::Reach, "an export of any file", FindExportEverywhere},
    {diag::ExposeToAny.code, Category::Reach, "a port that is open to everybody", FindExposeToAny},
    {diag::EmulationAllowed.code, Category::Reach, "a class that emulation may run",
     FindEmulationAllowed},
    {diag::WriteWithoutLimit.code, Category::Reach, "methods that write, and no limit of how much",
     FindWriteWithoutLimit},
    {diag::RuleOverUnreadHttps.code, Category::Reach,
     "a rule that reads a method or path where HTTPS leaves unread", FindRuleOverUnreadHttps},
};

}  // namespace

std::span<const Rule> ReachRules() { return kRules; }

}  // namespace curfew::lint
