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
  friend bool operator==(const Server&, const Server&) = default;
};

std::filesystem::path server_file(const std::filesystem::path& state);

/// Errors: kInvalid, with each place in the file and what is wrong there; another user can write to
/// it. Nothing where there is no such file.
Result<std::optional<Server>> server_of(const std::filesystem::path& state);

/// The text of store.yaml. A relative path in it is relative to `folder`.
std::optional<Server> parse_server(std::string_view text, const std::string& file,
                                   const std::filesystem::path& folder,
                                   std::vector<inventory::Problem>& problems);

/// As a person names it on a command line: postgresql://USER@HOST:PORT/DATABASE?schema=NAME&
/// password=file:PATH&ca=PATH; the folder of a socket as host=/run/postgresql behind the "?".
/// Relative paths are relative to `folder`. A password itself is refused: others read command
/// lines. Errors: kInvalid, with all that is wrong.
/// Source: PostgreSQL 15, 34.1.1.2 "Connection URIs"; RFC 3986.
Result<Server> parse_server_url(std::string_view url, const std::filesystem::path& folder);

/// What parse_server() reads as the same.
std::string to_yaml(const Server& server);
/// What parse_server_url() reads as the same.
std::string to_url(const Server& server);

/// Writes store.yaml into a state folder that has no store, once the server was reached. Nothing is
/// done where it names the same server already. Errors: kConflict: the folder has a store, or names
/// another server; kStorage.
Result<void> name_server(const std::filesystem::path& state, const Server& server);

/// The command that removes the server's schema with all that is in it, on that server.
std::string drop_schema_command(const Server& server);

/// What libpq is given, the password included: for libpq alone. Over TCP the server must have a
/// certificate for its name by one of the authorities. `read_only`: each transaction is.
/// Errors: as inventory::resolve_secret().
/// Source: PostgreSQL 15, 34.1.1 "Connection Strings" and 34.19 "SSL Support".
Result<std::string> connection_text(const Server& server, bool read_only);

}  // namespace cupel::store
