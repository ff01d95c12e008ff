#pragma once
// From a TCP connection to an authenticated session: handshake, host key, user key.
#include "orchestrator/ssh/link.h"

namespace cupel::ssh {

/// The handshake. Errors: kUnreachable, kCancelled; kUnsupported where there is no common
/// algorithm.
Task<Result<void>> shake_hands(Link& link);

/// The host key's fingerprint as OpenSSH prints it. After shake_hands().
Result<std::string> fingerprint(Link& link);

/// Logs in by the key file, or by the agent where that is empty. One try.
/// Errors: kRefused, kUnreachable, kCancelled.
Task<Result<void>> log_in(Link& link, std::string user, std::string key_file);

}  // namespace cupel::ssh
