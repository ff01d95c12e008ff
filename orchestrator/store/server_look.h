#pragma once
// What a person wants to know of the server that has the store: which it is, and whether it keeps
// what it acknowledges.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupel::store {

struct ServerLook {
  std::string where{};               // "schema cupel of cupel, PostgreSQL 15.18 at /run/postgresql"
  std::vector<std::string> risks{};  // settings with which it can lose what it acknowledged
};

/// Nothing where the store is in the folder. Errors: as server_of(); kStorage: it does not answer.
Result<std::optional<ServerLook>> look_at_server(const std::filesystem::path& state);

}  // namespace cupel::store
