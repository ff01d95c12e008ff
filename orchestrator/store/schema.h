#pragma once
// The database's tables, version by version. A version that was shipped is never edited.
#include <soci/soci.h>

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

namespace cupel::store {

/// What turns version i into version i + 1; an empty database is version 0.
struct Migration {
  std::span<const std::string_view> statements;
  /// What cannot be said in SQL, behind the statements. Throws what SOCI throws.
  void (*fill)(soci::session& sql, const std::filesystem::path& folder) = nullptr;
};

std::span<const Migration> migrations();

// The first versions with these tables.
inline constexpr int kSnapshotsSince = 3;
inline constexpr int kRepairsSince = 5;
inline constexpr int kMeasurementsSince = 6;

}  // namespace cupel::store
