#include "orchestrator/store/server_look.h"

#include <array>

#include "orchestrator/store/database.h"
#include "orchestrator/store/server.h"

namespace cupel::store {
namespace {

/// Source: PostgreSQL 15, 20.5.1 "Settings" of "Write Ahead Log".
constexpr std::array kNeeded{"fsync", "full_page_writes", "synchronous_commit"};

std::string setting(soci::session& sql, const std::string& name) {
  std::string value;
  sql << "SELECT COALESCE(current_setting(:name), '')", soci::use(name), soci::into(value);
  return value;
}

}  // namespace

Result<std::optional<ServerLook>> look_at_server(const std::filesystem::path& state) {
  TRY(const auto server, server_of(state));
  if (!server) return std::optional<ServerLook>{};
  return guarded("the store's server", [&]() -> Result<std::optional<ServerLook>> {
    soci::session sql;
    open_session(sql, state, Access::read_only);
    ServerLook look{.where = fmt::format("schema {} of {}, PostgreSQL {} at {}", server->schema,
                                         server->database, setting(sql, "server_version"),
                                         server->host)};
    for (const auto* name : kNeeded)
      if (setting(sql, name) == "off") look.risks.push_back(fmt::format("{} is off", name));
    return std::optional{std::move(look)};
  });
}

}  // namespace cupel::store
