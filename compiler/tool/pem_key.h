// Ed25519 keys as files in PEM, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout`
// write them: the private half signs bundles, the public one says whose bundles are taken.
#pragma once

#include "compiler/base/result.h"
#include "compiler/module/bundle.h"

#include <span>
#include <string>
#include <vector>

namespace curfew::tool {

// Refuses a key that others may read (PermissionDenied), and one with a password: nobody is asked.
Result<module::BundleSigner> ReadSigningKey(const std::string& path);

Result<std::vector<Ed25519PublicKey>> ReadPublicKeys(std::span<const std::string> paths);

}  // namespace curfew::tool
