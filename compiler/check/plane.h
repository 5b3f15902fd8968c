// The planes of one class: each statement in the file of its plane.
#pragma once

#include "compiler/check/context.h"
#include "compiler/model/policy_model.h"
#include "compiler/syntax/ast.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace curfew::check {

class PlaneChecker {
 public:
  PlaneChecker(Context& context, model::Class& of) : context_(context), class_(of) {}

  // Statements arrive plane by plane; what they mean together is looked at by Finish, and what they
  // mean to what the class inherits by chain.h.
  void Check(const syntax::Plane& plane);
  // Of `every sandbox`: what allows anything is refused.
  void CheckOfFloor(const syntax::Plane& plane);
  void Finish();

  [[nodiscard]] bool states_image() const { return IsStated("image allow"); }
  [[nodiscard]] bool states_ttl() const { return IsStated("ttl"); }

  // image
  void operator()(const syntax::AllowImages& statement);
  void operator()(const syntax::ExecStatement& statement);
  void operator()(const syntax::SizeStatement& statement);
  void operator()(const syntax::IsolationStatement& statement);
  // identity
  void operator()(const syntax::TokenStatement& statement);
  void operator()(const syntax::SecretsStatement& statement);
  void operator()(const syntax::EnvStatement& statement);
  void operator()(const syntax::AccessStatement& statement);
  // filesystem
  void operator()(const syntax::ScratchStatement& statement);
  void operator()(const syntax::TransferStatement& statement);
  void operator()(const syntax::PersistStatement& statement);
  void operator()(const syntax::SnapshotStatement& statement);
  // network
  void operator()(const syntax::TlsStatement& statement);
  void operator()(const syntax::AllowTraffic& statement);
  void operator()(const syntax::DenyTraffic& statement);
  void operator()(const syntax::LimitStatement& statement);
  void operator()(const syntax::ExposeStatement& statement);
  // lifetime
  void operator()(const syntax::TtlStatement& statement);
  void operator()(const syntax::IdleStatement& statement);
  void operator()(const syntax::FrozenStatement& statement);
  void operator()(const syntax::RenewStatement& statement);
  void operator()(const syntax::GraceStatement& statement);
  // evidence
  void operator()(const syntax::RecordStatement& statement);
  void operator()(const syntax::RedactStatement& statement);
  void operator()(const syntax::RetainStatement& statement);

 private:
  // What may be stated once: false, after a report, the second time.
  bool Once(std::string_view keyword, Span span);
  [[nodiscard]] bool IsStated(std::string_view keyword) const { return stated_.contains(keyword); }

  [[nodiscard]] std::string IdOf(std::string_view path) const;

  enum class Unit { Count, Size, Duration };
  std::optional<std::int64_t> ReadPositive(const syntax::Quantity& quantity, Unit unit,
                                           std::string_view keyword);
  // A limit of what nobody wishes for: it has no default.
  std::optional<model::Bound> ReadMaximum(const syntax::Bound& bound, Unit unit,
                                          std::string_view keyword);
  // Where something is mounted inside: no folder of the system, and each once.
  std::optional<std::string> ReadMountPath(const syntax::String& path);
  std::optional<model::Bound> ReadBound(const syntax::Bound& bound, Unit unit,
                                        std::string_view keyword, std::string_view path);

  // The parts of a network rule; nothing after a report.
  std::optional<model::EgressRule> ReadTraffic(const syntax::Traffic& traffic,
                                               model::EgressRule::Effect effect,
                                               values::EscapedSlashes slashes);
  bool ReadTargets(const syntax::Traffic& traffic, const std::vector<model::PortRange>& ports,
                   values::EscapedSlashes slashes, model::EgressRule& rule);
  std::optional<std::vector<syntax::Target>> WithoutLists(const syntax::Traffic& traffic,
                                                          model::EgressRule::Effect effect);
  bool ReadPins(const std::vector<syntax::Place>& at, model::EgressRule::Effect effect,
                std::vector<values::Cidr>& pins);
  void AddEgressRule(model::EgressRule rule, const std::optional<syntax::Name>& label,
                     const syntax::Tail& tail, Span span);
  void FinishNetwork();
  void FinishEvidence();

  Context& context_;
  model::Class& class_;
  std::map<std::string, Span, std::less<>> stated_;
};

}  // namespace curfew::check
