#pragma once
// Whether a node is still the one that it was. Pure but for `known`.
#include <string_view>

#include "base/result.h"
#include "inventory/endpoint.h"
#include "inventory/trust.h"

namespace cupel::ssh {

/// Pins on first use, compares afterwards. Fingerprints are as OpenSSH prints them: "SHA256:...".
/// Errors: kUntrusted, with both fingerprints and the command that accepts the new key; kInvalid
/// for Trust::ca, which SSH here does not know.
Result<void> check_host_key(std::string_view node, const inventory::Trust& trust,
                            inventory::KnownKeys& known, std::string_view fingerprint);

}  // namespace cupel::ssh
