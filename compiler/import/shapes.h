// The policies of other products that are known here, one file a shape. Each is recognised by the
// fields that only it has, and takes its fields one by one.
#pragma once

#include "compiler/import/draft.h"

#include <span>

namespace curfew::import {

struct Shape {
  std::string_view name;    // "an OpenShell policy"
  std::string_view fields;  // what it is known by, for people
  bool (*knows)(const Node& root);
  void (*read)(const Node& root, std::string_view class_name, Draft& draft, Reading& reading);
};

// {id, sandbox, rules: [{domain, methods | allowedMethods, tokenInjection, action, ttl}]}, one or a
// list of them.
extern const Shape FlatRules;
// version, filesystem_policy, landlock, process, network_policies.
extern const Shape OpenShell;
// {network: {allowOut, denyOut, rules, …}, timeout, …}, as the API and the SDKs spell it.
extern const Shape E2b;
// {network: {allowedDomains, deniedDomains}, filesystem: {denyRead, allowWrite, denyWrite}}.
extern const Shape SandboxRuntime;
// {networkPolicy: "allow-all" | "deny-all" | {allow: […] | {…}, subnets}}.
extern const Shape Vercel;
// {policy: {default_egress, rules: [{action, direction, destination, ports}]}}.
extern const Shape Microsandbox;

std::span<const Shape* const> Shapes();

}  // namespace curfew::import
