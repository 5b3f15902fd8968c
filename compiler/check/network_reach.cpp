#include "compiler/check/network_reach.h"

#include "compiler/model/chain.h"
#include "compiler/values/address.h"
#include "compiler/values/host.h"
#include "compiler/values/path_meet.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace curfew::check {
namespace {

// Rules that want `tls inspect`: so many of a class are pointed at.
constexpr std::size_t kReadingShown = 8;

using model::EgressRule;
using model::EgressTarget;

// A request that both rules allow, as an author would write it; nothing where there is none. `when`
// is not looked into.
std::optional<std::string> RequestOfBoth(const EgressRule& a, const EgressRule& b) {
  if (a.websocket != b.websocket) return std::nullopt;
  for (const model::QueryTerm& term : a.query) {
    for (const model::QueryTerm& other : b.query) {
      if (term.key == other.key && term.value != other.value) return std::nullopt;
    }
  }
  std::string method = a.websocket ? "websocket" : a.methods.empty() ? "GET" : a.methods.front();
  if (a.methods.empty() && !b.methods.empty()) method = b.methods.front();
  if (!a.methods.empty() && !b.methods.empty()) {
    const auto shared =
        std::find_first_of(a.methods.begin(), a.methods.end(), b.methods.begin(), b.methods.end());
    if (shared == a.methods.end()) return std::nullopt;
    method = *shared;
  }
  const values::PathGlob every{"/**"};
  for (const EgressTarget& x : a.targets) {
    for (const EgressTarget& y : b.targets) {
      // A secret goes by `https` to one name and one port.
      if (x.place != y.place || x.ports != y.ports) continue;
      const auto path = values::MeetingPath(x.path.value_or(every), y.path.value_or(every));
      if (!path) continue;
      const auto& host = std::get<values::HostPattern>(*x.place);
      const std::uint16_t port = x.ports.front().first;
      return fmt::format("{} https://{}{}{}", method, host.name,
                         port == 443 ? "" : fmt::format(":{}", port), *path);
    }
  }
  return std::nullopt;
}

// Whether a link of a chain, or the floor, is among those with a mistake.
bool IsUnread(const std::set<std::string, std::less<>>& unread,
              std::span<const model::Class* const> chain) {
  return std::any_of(chain.begin(), chain.end(),
                     [&](const model::Class* link) { return unread.contains(link->name); });
}

// Of secrets that rules use: each is granted, and no request would go with two.
void CheckSecrets(Context& context, const model::Class& of, ClassIndexes& indexes) {
  const auto chain = ChainOf(context.model, of);
  const auto granting = WritersOf(context.model, of, model::Grant::Secrets);
  const auto is_granted = [&](model::SecretId secret) {
    return !granting.empty() &&
           std::all_of(granting.begin(), granting.end(), [&](const model::Class* link) {
             const auto& secrets = link->identity.secrets->secrets;
             return std::any_of(secrets.begin(), secrets.end(),
                                [&](const auto& one) { return one.secret == secret; });
           });
  };
  for (const EgressRule& own : of.network.rules) {
    if (!own.secret) continue;
    const model::Secret& secret = At(context.model, *own.secret);
    if (!is_granted(*own.secret) && !IsUnread(context.unread_secrets, chain)) {
      context.sink.Report(own.span, diag::SecretNotGranted, secret.name)
          .Note(secret.span, diag::DeclaredHere, secret.name);
    }
    for (const model::Class* link : chain) {
      std::map<std::string_view, const EgressRule*> others;  // by id
      for (const EgressTarget& target : own.targets) {
        static_cast<void>(indexes.Of(*link).rules.Any(target, [&](const EgressRule& rule) {
          // Each pair of a class once.
          const bool comes_later = link == &of && rule.id >= own.id;
          if (!comes_later && rule.secret && *rule.secret != *own.secret) {
            others.emplace(rule.id, &rule);
          }
          return false;
        }));
      }
      for (const auto& [id, rule] : others) {
        const auto request = RequestOfBoth(own, *rule);
        if (!request) continue;
        context.sink
            .Report(own.span, diag::TwoSecrets, *request, At(context.model, *rule->secret).name,
                    secret.name)
            .Note(rule->span, diag::DeclaredHere, rule->id);
      }
    }
  }
}

}  // namespace

void CheckNetworkReach(Context& context, const model::Class& of, ClassIndexes& indexes) {
  CheckSecrets(context, of, indexes);
  if (BoundsOf(context.model, of).network.tls == model::Tls::Inspect) return;
  if (IsUnread(context.unread_tls, ChainOf(context.model, of))) return;
  // One line is missing, however many rules want it.
  std::vector<source::Span> reading;
  for (const EgressRule& rule : of.network.rules) {
    if (rule.effect == EgressRule::Effect::Allow && model::ReadsInsideTls(rule)) {
      reading.push_back(rule.span);
    }
  }
  if (reading.empty()) return;
  std::sort(reading.begin(), reading.end());
  auto draft = context.sink.Report(reading.front(), diag::InspectionMissing);
  const std::size_t shown = std::min(reading.size(), kReadingShown);
  for (std::size_t i = 1; i < shown; ++i) draft.Note(reading[i], diag::AllowedHere);
}

}  // namespace curfew::check
