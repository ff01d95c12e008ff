#pragma once
// Where a store lives that is not in its folder: the file `store.yaml` in the state folder names a
// PostgreSQL server. Without it the store is SQLite's file in the folder.
#include <filesystem>
#include <optional>
#include <string>

#include "base/result.h"
#include "inventory/problem.h"
#include "inventory/secret_ref.h"

namespace cupel::store {

/// A store on PostgreSQL: its tables are in one schema of one database.
struct Server {
  std::string host{};  // "/run/postgresql": the socket in that folder; else a name, over TLS
  long port = 5432;
  std::string database = "cupel";
  std::string user = "cupel";
  std::string schema = "cupel";
  std::optional<inventory::SecretRef> password{};
  std::filesystem::path authorities{};  // who may have signed the server's certificate: PEM
  bool is_local() const { return host.starts_with('/'); }
};

std::filesystem::path server_file(const std::filesystem::path& state);

/// Errors: kInvalid, with each place in the file and what is wrong there; another user can write to
/// it. Nothing where there is no such file.
Result<std::optional<Server>> server_of(const std::filesystem::path& state);

/// The text of store.yaml. A relative path in it is relative to `folder`.
std::optional<Server> parse_server(std::string_view text, const std::string& file,
                                   const std::filesystem::path& folder,
                                   std::vector<inventory::Problem>& problems);

/// What libpq is told, the password included: for libpq alone. Over TCP the server must have a
/// certificate for its name by one of the authorities. `read_only`: each transaction is.
/// Errors: as inventory::resolve_secret().
/// Source: PostgreSQL 15, 34.1.1 "Connection Strings" and 34.19 "SSL Support".
Result<std::string> connection_text(const Server& server, bool read_only);

}  // namespace cupel::store
