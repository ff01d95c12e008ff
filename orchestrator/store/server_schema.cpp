#include "orchestrator/store/server_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/server.h"
#include "orchestrator/store/table_copy.h"
#include "orchestrator/store/tables.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

/// Which folder's store it is, the same for as long as the folder is there.
Result<std::string> name_of_folder(const fs::path& state) {
  constexpr std::size_t kBytes = 16;
  const auto file = state / "store.id";
  if (!is_there(file)) {
    TRY(write_file(file, random_hex(kBytes) + "\n"));
  }
  TRY(const auto text, read_file(file, 2 * kBytes + 1));
  const auto id = text.substr(0, text.find('\n'));
  if (id.size() == 2 * kBytes && id.find_first_not_of("0123456789abcdef") == id.npos) return id;
  return Error{
      Code::kMalformed,
      fmt::format("{} is not what Cupel wrote there: put it back from a backup", file.string())};
}

std::string half_of(const std::string& id) { return "copy " + id; }

std::string place_of(const fs::path& state) {
  return fmt::format("{} on {}", absolute_path(state).string(), own_host());
}

Result<void> is_utf8(soci::session& sql, const Server& server) {
  std::string encoding;
  sql << "SHOW server_encoding", soci::into(encoding);
  if (encoding == "UTF8") return ok();
  return Error{Code::kUnsupported,
               fmt::format("the database {} is in {}, and must be in UTF8: make one with createdb "
                           "--template template0 --encoding UTF8",
                           server.database, encoding)};
}

/// What a server alone has. Evidence is packed already, or does not pack: the server shall not try.
/// Source: PostgreSQL 15, 73.2 "TOAST", EXTERNAL.
void make_schema(soci::session& sql, const Server& server) {
  sql.begin();
  // Two that come at once: the second finds it made.
  sql << "SELECT pg_advisory_xact_lock(hashtext('cupel.' || :name))", soci::use(server.schema);
  sql << "CREATE SCHEMA IF NOT EXISTS " + server.schema;
  sql << "CREATE TABLE IF NOT EXISTS writing (id BIGINT PRIMARY KEY CHECK (id = 1), count BIGINT "
         "NOT NULL, folder TEXT NOT NULL, place TEXT NOT NULL) WITH (fillfactor = 10)";
  sql << "INSERT INTO writing VALUES (1, 0, '', '') ON CONFLICT DO NOTHING";
  sql << "CREATE TABLE IF NOT EXISTS evidence (hash TEXT COLLATE \"C\" PRIMARY KEY, packed BOOLEAN "
         "NOT NULL, bytes BYTEA NOT NULL)";
  sql << "ALTER TABLE evidence ALTER COLUMN bytes SET STORAGE EXTERNAL";
  sql.commit();
}

struct Owner {
  std::string folder{}, place{};
};

Owner owner_of(soci::session& sql) {
  Owner owner;
  sql << "SELECT folder, place FROM writing", soci::into(owner.folder), soci::into(owner.place);
  return owner;
}

Error of_another(const Server& server, const fs::path& state, const Owner& owner) {
  return Error{
      Code::kConflict,
      fmt::format("the schema {} of the database {} is the store of another state folder "
                  "({}), whose locks and consoles belong to it: use that folder, or name "
                  "another schema in {}",
                  server.schema, server.database, owner.place, server_file(state).string())};
}

Error half_copied(const Server& server, const Owner& owner) {
  return Error{
      Code::kConflict,
      fmt::format("the schema {} of the database {} holds a part of a copy ({}): go on "
                  "with the command that began it (cupel store migrate or cupel restore FOLDER)",
                  server.schema, server.database, owner.place)};
}

/// Whoever comes first has it; it is his already where he had it.
void bind_to_folder(soci::session& sql, const std::string& id, const fs::path& state) {
  const auto place = place_of(state);
  sql << "UPDATE writing SET folder = :id, place = :place WHERE folder = ''", soci::use(id),
      soci::use(place);
}

int tables_in(soci::session& sql, const Server& server) {
  int count = 0;
  sql << "SELECT COUNT(*) FROM pg_class WHERE relnamespace = to_regnamespace(:schema) AND relkind "
         "IN ('r', 'p', 'v', 'm', 'f')",
      soci::use(server.schema), soci::into(count);
  return count;
}

Error not_empty(const Server& server, const std::string& what) {
  return Error{
      Code::kConflict,
      fmt::format("the schema {0} of the database {1} is not empty: {2}. Nothing was "
                  "written; name another schema, or remove this one, if it is not needed: {3}",
                  server.schema, server.database, what, drop_schema_command(server))};
}

bool holds_rows(soci::session& sql) {
  const auto has_row = [&](std::string_view table) {
    return has_table(sql, std::string{table}) && rows_of(sql, table) > 0;
  };
  return has_row("evidence") || std::ranges::any_of(tables(), has_row, &Table::name);
}

/// A store without a row, as `cupel doctor` leaves it, is taken too.
Ground claim_own(soci::session& sql, const Server& server, const std::string& id) {
  if (holds_rows(sql)) return Ground::whole;
  make_schema(sql, server);  // an older Cupel made less
  const auto half = half_of(id);
  sql << "UPDATE writing SET folder = :half WHERE folder = :id", soci::use(half), soci::use(id);
  return Ground::empty;
}

}  // namespace

Result<void> prepare_schema(soci::session& sql, const Server& server, const fs::path& state) {
  TRY(is_utf8(sql, server));
  int made = 0;
  sql << "SELECT CASE WHEN to_regclass('writing') IS NULL OR to_regclass('evidence') IS NULL THEN "
         "0 ELSE 1 END",
      soci::into(made);
  if (made == 0) make_schema(sql, server);
  TRY(const auto id, name_of_folder(state));
  bind_to_folder(sql, id, state);
  const auto owner = owner_of(sql);
  if (owner.folder == id) return ok();
  return owner.folder == half_of(id) ? half_copied(server, owner)
                                     : of_another(server, state, owner);
}

Result<Ground> claim_for_copy(soci::session& sql, const Server& server, const fs::path& state) {
  TRY(is_utf8(sql, server));
  TRY(const auto id, name_of_folder(state));
  const int tables = tables_in(sql, server);
  if (tables > 0 && !has_table(sql, "writing"))
    return not_empty(server, fmt::format("it has {} tables that Cupel did not make", tables));
  const auto before = tables > 0 ? owner_of(sql) : Owner{};
  if (before.folder == half_of(id)) return Ground::begun;
  if (before.folder == id) return claim_own(sql, server, id);
  if (!before.folder.empty()) return not_empty(server, "it belongs to " + before.place);
  make_schema(sql, server);
  bind_to_folder(sql, half_of(id), state);
  const auto owner = owner_of(sql);
  if (owner.folder == half_of(id)) return Ground::empty;
  return not_empty(server, "it belongs to " + owner.place);
}

Result<void> end_copy(soci::session& sql, const fs::path& state) {
  TRY(const auto id, name_of_folder(state));
  const auto half = half_of(id);
  sql << "UPDATE writing SET folder = :id WHERE folder = :half", soci::use(id), soci::use(half);
  if (owner_of(sql).folder == id) return ok();
  return Error{Code::kConflict, "the schema was given to another state folder meanwhile"};
}

}  // namespace cupel::store
