#pragma once
// A private key from a file, read once and kept for as long as the file stays the same.
#include <filesystem>

#include "base/result.h"
#include "orchestrator/ssh/libssh.h"

namespace cupel::ssh {

/// Errors: kRefused where the file is absent, unreadable, ours but open to others (as ssh refuses
/// it; but for one of root that its group may read), no private key, or under a passphrase (Cupel
/// asks nobody: an agent may hold such a key). The handle stays ours.
Result<std::shared_ptr<ssh_key_struct>> private_key(const std::filesystem::path& file);

}  // namespace cupel::ssh
