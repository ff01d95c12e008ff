#pragma once
// The store's connection to PostgreSQL, by SOCI's backend. Only for what differs between the
// engines: all else in the store speaks to both alike.
#include <soci/soci.h>

#include <filesystem>
#include <optional>
#include <string>

namespace cupel::store {

struct Server;

/// Connects. A connection that was lost is made anew before the next statement that stands in no
/// transaction; one that is lost in a transaction makes the rest of that fail. Throws what SOCI
/// throws, and std::runtime_error where the password cannot be had. `folder`: the state folder
/// whose store it is; empty for one that is copied to or from.
void open_postgresql(soci::session& sql, const Server& server, bool read_only,
                     const std::filesystem::path& folder = {});

/// As it was given to open_postgresql().
const std::filesystem::path& folder_of_server(soci::session& sql);

/// Whether the session was opened by open_postgresql().
bool is_postgresql(soci::session& sql);

/// A transaction that writes: waits until no other of the schema does, up to lock_timeout.
void begin_writing(soci::session& sql);
/// Where the connection is lost before the server has answered, the server is asked whether the
/// transaction was committed. Returns only if it was. Throws soci::soci_error.
void commit_writing(soci::session& sql);
/// No error if there is nothing to roll back any more.
void roll_back(soci::session& sql);

/// Stays the same for as long as nobody else writes and the connection lasts: what was cached of
/// the store, and what was prepared, then still holds. Asked in a transaction of begin_writing().
std::int64_t cache_version(soci::session& sql);

/// A piece of evidence as its table has it.
struct KeptBytes {
  bool packed = false;  // by gzip
  std::string bytes{};
};

/// Keeps it under its hash in place of what is there. Durable once it returns. Throws what SOCI
/// throws.
void put_evidence(soci::session& sql, const std::string& hash, const KeptBytes& kept);
/// Nothing where there is none. Throws what SOCI throws.
std::optional<KeptBytes> get_evidence(soci::session& sql, const std::string& hash);

/// What a person does about an error of PostgreSQL's; nothing where `fault` is none of its.
std::optional<std::string> postgresql_message(const std::exception& fault);

}  // namespace cupel::store
