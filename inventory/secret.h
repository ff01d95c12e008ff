#pragma once
// Secrets, fetched when they are needed, and never shown: not in logs, argv, journal or evidence.
#include <string>

#include "base/task.h"
#include "inventory/secret_ref.h"

namespace cupel::inventory {

/// The secret, without the line end. A file must not be readable by others (mode 0600 or 0400), as
/// ssh demands of keys, and must be our own or root's. A command runs through /bin/sh and has 30 s.
/// Errors: kInvalid (unset variable, no file, wrong mode, empty); kFailed (the command, with its
/// exit status and standard error, never its output).
Task<Result<std::string>> resolve_secret(SecretRef ref, Deadline deadline);

}  // namespace cupel::inventory
