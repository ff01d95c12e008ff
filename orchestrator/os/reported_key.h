#pragma once
// What a machine reports of its keys: the SSH host key, of several the one that our SSH asks for
// first, and its TPM's.
#include <optional>
#include <string>

#include "base/json.h"

namespace cupel::os {

/// Its fingerprint, "SHA256:...", of `ssh_host_keys` in a hello or a report from home; nothing
/// where it has none that we know.
std::optional<std::string> reported_key(const json::object& body);

/// The SHA-256 of its TPM's endorsement certificate, of a hello; empty where it reports none.
std::string reported_tpm(const json::object& body);

}  // namespace cupel::os
