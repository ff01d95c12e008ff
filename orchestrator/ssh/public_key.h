#pragma once
// Public keys as text: of our own private key, for nodes that are to let us in, and of nodes that
// report theirs before anybody has logged in.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::ssh {

/// "ssh-ed25519 AAAA...", of a private key. Errors: as private_key() of key_file.h.
Result<std::string> public_key_of(const std::filesystem::path& private_key);

/// "SHA256:..." of a line such as "ssh-ed25519 AAAA... comment". Errors: kMalformed.
Result<std::string> fingerprint_of(std::string_view public_key);

}  // namespace cupel::ssh
