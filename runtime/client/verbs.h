// The verbs that touch this host: they start sandboxes, and look after what was started.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/base/verb.h"
#include "runtime/host/clock.h"
#include "runtime/host/entropy.h"
#include "runtime/host/files.h"
#include "runtime/host/networks.h"
#include "runtime/host/processes.h"

#include <functional>
#include <span>
#include <string>

namespace curfew::client {

// What a composition root gives. References outlive the verbs.
struct Means {
  host::Files& files;
  host::Processes& processes;
  host::Networks& networks;
  const host::Clock& clock;
  host::Entropy& entropy;
  // The bytes of the module that these policies make, or that a bundle of them brings:
  // InvalidPolicy with the diagnostics as text. With keys to trust nothing but a bundle that one of
  // them signed. With a root, files of the policies may name what lies below it.
  std::function<Result<Bytes>(std::span<const std::string> policies,
                              std::span<const std::string> trusted_keys, const std::string& root)>
      open_policy;
  // The sealed native code of a module's bytes; the failure says why it cannot be made.
  std::function<Result<OwnedFd>(ByteView module)> make_native_code;
  // The same of code that was made before, as its bytes.
  std::function<Result<OwnedFd>(ByteView code)> seal_native_code;
  // All that code which is made here depends on beside its module.
  std::function<Result<std::string>()> native_code_maker;
  std::string keeper_program;
  // Has native code made and run; the failure says why this machine cannot.
  std::function<Outcome()> try_native_code;
};

std::unique_ptr<Verb> MakeRunVerb(const Means& means);
std::unique_ptr<Verb> MakeAuditVerb(const Means& means);
std::unique_ptr<Verb> MakePsVerb(const Means& means);
std::unique_ptr<Verb> MakeReloadVerb(const Means& means);
std::unique_ptr<Verb> MakeReceiptVerb(const Means& means);
std::unique_ptr<Verb> MakeResidueVerb(const Means& means);
std::unique_ptr<Verb> MakeDoctorVerb(const Means& means);

// All of them, in the order of --help.
Verbs ClientVerbs(const Means& means);

}  // namespace curfew::client
