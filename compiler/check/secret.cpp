#include "compiler/check/secret.h"

#include "compiler/check/literal.h"
#include "compiler/check/names.h"
#include "compiler/model/print.h"
#include "compiler/values/header.h"
#include "compiler/values/path.h"
#include "compiler/values/url.h"
#include "compiler/values/variable.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace curfew::check {
namespace {

using model::Secret;

// Fields that say where a request goes, how long it is, or what becomes of its connection.
constexpr std::array kNoSecretHeader = std::to_array<std::string_view>(
    {"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade",
     "expect", "proxy-authorization", "keep-alive"});

class SecretReader {
 public:
  SecretReader(diagnostics::Sink& sink, Secret& secret) : sink_(sink), secret_(secret) {}

  void ReadSource(const syntax::SecretSource& from);
  // Whether it is known where the secret goes.
  bool ReadSend(const syntax::SecretSend& send);

 private:
  void Wrong(Span span, std::string_view what, std::string_view why) {
    sink_.Report(span, diag::WrongLiteral, what, why);
  }
  void Unknown(std::string_view what, const syntax::Name& name,
               std::span<const std::string_view> candidates) {
    const Guess guess = Nearest(name.text, candidates);
    OfferGuess(sink_.Report(name.span, diag::UnknownName, what, name.text, DidYouMean(guess)),
               name.span, guess);
  }
  void ReadHeader(const syntax::String& text);

  diagnostics::Sink& sink_;
  Secret& secret_;
};

void SecretReader::ReadSource(const syntax::SecretSource& from) {
  constexpr std::string_view kKinds[] = {"env", "file"};
  secret_.source = from.name.text;
  if (from.kind.text == "env") {
    secret_.from = Secret::From::Env;
    if (!values::IsVariableName(secret_.source)) {
      Wrong(from.name.span, "a variable",
            "a name has letters, digits and `_`, and begins with no digit");
    }
  } else if (from.kind.text == "file") {
    secret_.from = Secret::From::File;
    const auto path = values::ParseFilePath(secret_.source);
    if (!path) Wrong(from.name.span, "a file path", path.error().message);
  } else {
    Unknown("source of a secret", from.kind, kKinds);
  }
}

void SecretReader::ReadHeader(const syntax::String& text) {
  const auto name = values::ParseHeaderName(text.text);
  if (!name) return Wrong(text.span, "a header", name.error().message);
  if (std::find(kNoSecretHeader.begin(), kNoSecretHeader.end(), *name) != kNoSecretHeader.end()) {
    return Wrong(text.span, "a header for a secret", "it says how the request is sent");
  }
  secret_.header = *name;
}

bool SecretReader::ReadSend(const syntax::SecretSend& send) {
  constexpr std::string_view kForms[] = {"bearer", "basic", "header"};
  secret_.header = "authorization";
  if (send.header) {
    secret_.form = Secret::Form::Header;
    ReadHeader(*send.header);
  } else if (send.form.text == "bearer") {
    secret_.form = Secret::Form::Bearer;
  } else if (send.form.text == "basic") {
    secret_.form = Secret::Form::Basic;
  } else {
    Unknown("way to send a secret", send.form, kForms);
  }
  for (const syntax::String& text : send.targets) {
    const auto place = values::ParsePlacePattern(text.text);
    if (!place) {
      Wrong(text.span, "a host", place.error().message);
      continue;
    }
    const auto* host = std::get_if<values::HostPattern>(&place->place);
    if (host == nullptr) {
      Wrong(text.span, "a host", "a secret goes to a name, whose server shows a certificate");
    } else if (host->reach != values::HostReach::Exact) {
      sink_.Report(text.span, diag::SecretToWildcard, text.text);
    } else {
      secret_.hosts.push_back(
          {host->name, place->port.value_or(values::PortOf(values::UrlScheme::Https))});
    }
  }
  const bool whole = secret_.hosts.size() == send.targets.size();
  std::sort(secret_.hosts.begin(), secret_.hosts.end());
  secret_.hosts.erase(std::unique(secret_.hosts.begin(), secret_.hosts.end()), secret_.hosts.end());
  return whole;
}

}  // namespace

UnreadSecrets DeclareSecrets(std::span<const syntax::SecretDecl* const> declarations,
                             model::PolicyModel& model, diagnostics::Sink& sink, bool is_partial) {
  UnreadSecrets unread;
  for (const syntax::SecretDecl* declaration : declarations) {
    Secret secret;
    secret.name = declaration->name.text;
    secret.span = declaration->name.span;
    SecretReader reader(sink, secret);
    if (declaration->from) {
      reader.ReadSource(*declaration->from);
    } else if (!is_partial) {
      sink.Report(secret.span, diag::SecretIncomplete, secret.name, "from");
    }
    if (declaration->sends.empty()) {
      unread.insert(secret.name);
      if (!is_partial) sink.Report(secret.span, diag::SecretIncomplete, secret.name, "send");
    }
    for (const syntax::SecretSend& send : declaration->sends) {
      if (&send == declaration->sends.data()) {
        if (!reader.ReadSend(send)) unread.insert(secret.name);
      } else {
        sink.Report(send.span, diag::StatedTwice, "send")
            .Note(declaration->sends.front().span, diag::FirstHere);
      }
    }
    model.secrets.push_back(std::move(secret));
  }
  return unread;
}

std::optional<model::SecretId> FindSecret(Context& context, const syntax::Name& name) {
  const auto found = context.names.secrets.find(name.text);
  if (found != context.names.secrets.end()) return found->second;
  std::vector<std::string_view> candidates;
  for (const auto& [candidate, id] : context.names.secrets) candidates.push_back(candidate);
  if (!context.partial) ReportUnknown(context, "secret", name, candidates);
  return std::nullopt;
}

bool MaySend(Context& context, const model::EgressRule& rule, model::SecretId id, Span span) {
  const Secret& secret = At(context.model, id);
  for (const model::EgressTarget& target : rule.targets) {
    const auto* host = target.place ? std::get_if<values::HostPattern>(&*target.place) : nullptr;
    if (target.http) {
      context.sink.Report(span, diag::SecretWithoutTls, secret.name);
      return false;
    }
    if (host == nullptr || host->reach != values::HostReach::Exact) {
      const std::string to = host != nullptr ? values::ToString(*host)
                             : target.place
                                 ? values::ToString(std::get<values::Cidr>(*target.place))
                                 : "internet";
      context.sink.Report(span, diag::SecretToWildcard, to);
      return false;
    }
    for (const model::PortRange& ports : target.ports) {
      const bool is_meant = ports.first == ports.last &&
                            std::binary_search(secret.hosts.begin(), secret.hosts.end(),
                                               model::SecretHost{host->name, ports.first});
      if (is_meant || context.names.unread_secrets.contains(secret.name)) continue;
      context.sink
          .Report(span, diag::SecretNotFor, secret.name,
                  fmt::format("{}:{}", host->name, ports.first))
          .Note(secret.span, diag::DeclaredHere, secret.name);
      return false;
    }
  }
  return true;
}

}  // namespace curfew::check
