#pragma once
// Tokens and sessions against the audit log, which has an entry for each that was made: a row that
// no command made, or that was changed afterwards, is a way in that no admin has opened.
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/store/check.h"

namespace cupel::store {

/// SHA-256 of the row as it was made, with the hash of its secret, without its last use and its
/// revocation: what the audit log keeps of it. Empty: there is no such row. Throws what SOCI
/// throws.
std::string token_digest(soci::session& sql, std::string_view id);

/// What is not as the log says. Throws what SOCI throws.
std::vector<Fault> token_faults(soci::session& sql);

}  // namespace cupel::store
