#pragma once
// What SQLite and PostgreSQL say differently. All other SQL of the store is the same for both.
#include <soci/soci.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::store {

/// A statement of the schema, which is written for SQLite, as the session's engine has it.
std::string in_dialect(soci::session& sql, std::string_view statement);

/// Rows of a table without end are asked for so many at a time: the driver of PostgreSQL holds
/// all that a statement found in memory.
inline constexpr std::size_t kRowsAtOnce = 2000;

/// What was committed stands on the disk when the commit returns, also on a connection that
/// Store::open() has not set up. A server's own setting is read there.
void write_durably(soci::session& sql);

/// Begins a transaction that sees the store as it is now, whoever writes meanwhile, and may last.
void begin_snapshot(soci::session& sql);
/// The same, and nobody else writes until it ends.
void begin_alone(soci::session& sql);

bool has_table(soci::session& sql, const std::string& name);

/// Whether the session's engine takes many rows at once, as arrays: on PostgreSQL each statement is
/// a round trip, in SQLite a prepared one for each row is as quick.
bool takes_arrays(soci::session& sql);

/// The texts as an array of PostgreSQL's, for CAST(:texts AS text[]).
/// Source: PostgreSQL 15, 8.15.6 "Array Input and Output Syntax".
std::string array_text(const std::vector<std::string>& texts);

/// One of them, in quotes.
std::string array_element(std::string_view text);

/// Another number after each write by another connection.
std::int64_t data_version(soci::session& sql);

/// What the database itself says is wrong with it, at most 100 lines. PostgreSQL finds damage where
/// it reads a page, if the cluster has checksums; pg_amcheck looks for it.
std::vector<std::string> faults_of_database(soci::session& sql);

}  // namespace cupel::store
