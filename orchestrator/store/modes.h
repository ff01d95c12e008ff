#pragma once
// The state folder is for its owner alone: records name machines, addresses and serials.
#include <filesystem>

namespace cupel::store {

/// A folder that only its owner enters. True if it was not there before.
bool make_private_folder(const std::filesystem::path& folder);

/// The database, what SQLite lays beside it, and the evidence: 0600 and 0700, also where an older
/// Cupel left them open. An empty database is made where there is none, so that SQLite gives its
/// files that mode. What cannot be changed stays as it is.
void close_to_others(const std::filesystem::path& state);

/// The same of the evidence alone, where the database is not in the folder.
void close_evidence(const std::filesystem::path& state);

}  // namespace cupel::store
