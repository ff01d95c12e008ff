#pragma once
// The database's tables, version by version. A version that was shipped is never edited.
#include <array>
#include <span>
#include <string_view>

namespace cupel::store {

/// What turns version i into version i + 1; an empty database is version 0.
struct Migration {
  std::span<const std::string_view> statements;
};

std::span<const Migration> migrations();

inline constexpr int kSnapshotsSince = 3;  // the first version with the table

}  // namespace cupel::store
