#pragma once
// What a state folder is kept for. A rehearsal's folder is marked by a file, so that its records
// and pins never mix with those of real machines.
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace cupel::store {

/// Whether the folder has a store, or names one. To ask makes none.
bool has_store(const std::filesystem::path& folder);

/// `none`: there is no store in the folder, or one that holds nothing yet, or no folder.
enum class Purpose { none, site, rehearsal };

Purpose purpose_of(const std::filesystem::path& folder);

/// The store of real machines that the folder is, contains, or lies in. Of folders that it contains
/// only the first level is searched.
std::optional<std::filesystem::path> site_store_at(const std::filesystem::path& folder);

/// Makes the folder (mode 0700) and marks it. Idempotent. Errors: kConflict: see site_store_at();
/// kStorage.
Result<void> keep_for_rehearsals(const std::filesystem::path& folder);

}  // namespace cupel::store
