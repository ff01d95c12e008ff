#pragma once
// The host key that a machine reports of itself, of several the one that our SSH asks for first.
#include <optional>
#include <string>

#include "base/json.h"

namespace cupel::os {

/// Its fingerprint, "SHA256:...", of `ssh_host_keys` in a hello or a report from home; nothing
/// where it has none that we know.
std::optional<std::string> reported_key(const json::object& body);

}  // namespace cupel::os
