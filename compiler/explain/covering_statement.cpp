#include "compiler/explain/covering_statement.h"

#include "compiler/values/address.h"
#include "compiler/values/quantity.h"

#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace curfew::explain {
namespace {

namespace slot = schema::slot;

bool IsThere(const module::Request& request, schema::Slot slot) {
  return request.is_known(slot) && request.is_present(slot);
}

std::string_view TextAt(const module::Request& request, schema::Slot slot) {
  return request.value(slot).text();
}

// Whether the text, as a pattern, meets itself only, and needs no escape within quotes.
bool IsPlain(std::string_view text) {
  return text.find_first_of("*\\\"") == std::string_view::npos;
}

// A host or an address, as a URL spells it.
std::optional<std::string> PlaceOf(const module::Request& request) {
  if (IsThere(request, slot::EgressHost)) return std::string(TextAt(request, slot::EgressHost));
  if (!IsThere(request, slot::EgressIp)) return std::nullopt;
  values::Address address;
  const std::string_view bytes = TextAt(request, slot::EgressIp);
  if (bytes.size() != address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  const std::string text = values::ToString(address);
  return values::IsIpv4(address) ? text : "[" + text + "]";
}

std::optional<std::string> EgressStatement(const module::Request& request) {
  const std::optional<std::string> place = PlaceOf(request);
  if (!place || !IsThere(request, slot::EgressScheme) || !IsThere(request, slot::EgressPort)) {
    return std::nullopt;
  }
  const auto words = schema::InfoOf(schema::Enum::Scheme).values;
  const std::string_view scheme =
      words[static_cast<std::size_t>(request.value(slot::EgressScheme).integer)];
  const std::int64_t port = request.value(slot::EgressPort).integer;
  if (!IsThere(request, slot::EgressMethod) || !IsThere(request, slot::EgressPath)) {
    return fmt::format("allow connect \"{}:{}\"", *place, port);
  }
  if (!IsPlain(TextAt(request, slot::EgressPath))) return std::nullopt;
  const bool usual = (scheme == "http" && port == 80) || (scheme == "https" && port == 443);
  return fmt::format("allow {} \"{}://{}{}{}\"", TextAt(request, slot::EgressMethod), scheme,
                     *place, usual ? std::string() : fmt::format(":{}", port),
                     TextAt(request, slot::EgressPath));
}

std::optional<std::string> ImageStatement(const module::PolicyModule& policy,
                                          const module::Request& request) {
  if (!IsThere(request, slot::CreateImage)) return std::nullopt;
  for (module::ClassIndex i = 0; i < policy.class_count(); ++i) {
    for (const module::ImageGrant& image : policy.plan(i).images) {
      if (AsText(image.digest.bytes) == TextAt(request, slot::CreateImage)) {
        return "allow " + image.name;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CoveringStatement> StatementCovering(const module::PolicyModule& policy,
                                                   const module::Request& request) {
  std::optional<std::string> statement;
  std::string plane;
  switch (request.action()) {
    case schema::Action::Egress:
      plane = "network";
      statement = EgressStatement(request);
      break;
    case schema::Action::Exec:
      plane = "image";
      if (IsThere(request, slot::ExecProgram) && IsPlain(TextAt(request, slot::ExecProgram))) {
        statement = fmt::format("exec \"{}\"", TextAt(request, slot::ExecProgram));
      }
      break;
    case schema::Action::Export:
      plane = "filesystem";
      if (IsThere(request, slot::ExportPath) && IsThere(request, slot::ExportTotal) &&
          IsPlain(TextAt(request, slot::ExportPath))) {
        statement = fmt::format("export \"{}\" at most {}", TextAt(request, slot::ExportPath),
                                values::SizeText(request.value(slot::ExportTotal).integer));
      }
      break;
    case schema::Action::Create:
      plane = "image";
      statement = ImageStatement(policy, request);
      break;
    case schema::Action::Resume:
    case schema::Action::Expose:
    case schema::Action::Snapshot:
    case schema::Action::Import:
    case schema::Action::Extend:
    case schema::Action::Observe:
      break;
  }
  if (!statement) return std::nullopt;
  return CoveringStatement{.plane = std::move(plane), .statement = *std::move(statement)};
}

}  // namespace curfew::explain
