#include "compiler/check/floor.h"

namespace curfew::check {
namespace {

struct Allowance {
  std::string_view word;  // of the statement, for the message
  bool allows = false;
};

constexpr Allowance Bounds{"", false};

struct Read {
  Allowance operator()(const syntax::AllowImages& s) const { return {"allow", !s.none}; }
  Allowance operator()(const syntax::ExecStatement& s) const {
    return {"exec", s.kind != syntax::ExecStatement::Kind::None};
  }
  Allowance operator()(const syntax::SizeStatement&) const { return Bounds; }
  // Silence is `kvm`.
  Allowance operator()(const syntax::IsolationStatement& s) const {
    return {"isolation any", s.level.text == "any"};
  }
  Allowance operator()(const syntax::TokenStatement&) const { return {"token", true}; }
  Allowance operator()(const syntax::SecretsStatement& s) const { return {"secrets", !s.none}; }
  Allowance operator()(const syntax::EnvStatement& s) const { return {"env", !s.none}; }
  Allowance operator()(const syntax::AccessStatement& s) const { return {"access", !s.none}; }
  Allowance operator()(const syntax::ScratchStatement&) const { return {"scratch", true}; }
  Allowance operator()(const syntax::TransferStatement& s) const {
    const bool import = s.direction == syntax::TransferStatement::Direction::Import;
    return {import ? "import" : "export", !s.none};
  }
  Allowance operator()(const syntax::PersistStatement& s) const { return {"persist", !s.none}; }
  Allowance operator()(const syntax::SnapshotStatement& s) const { return {"snapshot", !s.none}; }
  Allowance operator()(const syntax::TlsStatement&) const { return Bounds; }
  Allowance operator()(const syntax::AllowTraffic& s) const { return {"allow", !s.none}; }
  Allowance operator()(const syntax::DenyTraffic&) const { return Bounds; }
  Allowance operator()(const syntax::LimitStatement&) const { return Bounds; }
  Allowance operator()(const syntax::ExposeStatement& s) const { return {"expose", !s.none}; }
  Allowance operator()(const syntax::TtlStatement&) const { return Bounds; }
  // A freeze lets a sandbox run again.
  Allowance operator()(const syntax::IdleStatement& s) const {
    return {"idle … then freeze", s.then.text == "freeze"};
  }
  Allowance operator()(const syntax::FrozenStatement&) const { return {"frozen", true}; }
  Allowance operator()(const syntax::RenewStatement& s) const { return {"renew", !s.none}; }
  Allowance operator()(const syntax::GraceStatement&) const { return Bounds; }
  Allowance operator()(const syntax::RecordStatement&) const { return Bounds; }
  Allowance operator()(const syntax::RedactStatement&) const { return Bounds; }
  Allowance operator()(const syntax::RetainStatement&) const { return Bounds; }
};

}  // namespace

bool AllowsSomething(const syntax::Statement& statement) {
  return std::visit(Read{}, statement).allows;
}

void ReportInFloor(Context& context, const syntax::Statement& statement) {
  const Span span = std::visit([](const auto& s) { return s.span; }, statement);
  context.sink.Report(span, diag::NotInFloor, std::visit(Read{}, statement).word);
}

}  // namespace curfew::check
