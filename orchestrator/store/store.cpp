#include "orchestrator/store/store.h"

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <cstdlib>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/measurements.h"
#include "orchestrator/store/modes.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/server.h"
#include "orchestrator/store/server_schema.h"
#include "orchestrator/store/store_move.h"

namespace cupel::store {
namespace {

// Read whole at each opening: some milliseconds. What is larger is held against `cupel store
// check`.
constexpr std::uintmax_t kReadWhole = 4u << 20;

/// Whether closing the connection may carry over into the database what the WAL holds. Not before
/// it is known that the store is sound and ours: until then no byte of it is to change.
/// Source: SQLite, "Database Connection Configuration Options", SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE.
void allow_checkpoint_on_close(soci::session& sql, bool allowed) {
  auto* backend = static_cast<soci::sqlite3_session_backend*>(sql.get_backend());
  sqlite_api::sqlite3_db_config(backend->conn_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, allowed ? 0 : 1,
                                nullptr);
}

std::filesystem::path wal_of(const std::filesystem::path& file) { return file.string() + "-wal"; }

bool holds_writes(const std::filesystem::path& wal) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(wal, failure);
  return !failure && bytes > 0;
}

/// A WAL without its database: SQLite would make a new one and throw the WAL away.
Result<void> not_torn_apart(const std::filesystem::path& file) {
  std::error_code failure;
  const auto wal = wal_of(file);
  if (!holds_writes(wal) || std::filesystem::exists(file, failure)) return ok();
  return Error{Code::kStorage,
               fmt::format("{} is missing, but its newest writes are there ({}): nothing was "
                           "touched; put the file back beside them, or move them away",
                           file.string(), wal.string())};
}

Result<void> sound(soci::session& sql, const std::filesystem::path& file) {
  std::error_code failure;
  const auto size = std::filesystem::file_size(file, failure);
  if (failure || size > kReadWhole) return ok();
  std::string found;
  sql << "PRAGMA quick_check(1)", soci::into(found);
  if (found == "ok") return ok();
  return storage_error(file.string(), "the database is malformed: " + found);
}

/// Records name machines, addresses and serials: they are not for everybody. And what others can
/// write there is not ours: pins, and programs that --notify starts.
Result<void> make_state_folder(const std::filesystem::path& folder) {
  TRY(within("state folder", check_ownership(folder)));
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  using std::filesystem::perms;
  const auto open = perms::group_all | perms::others_all;
  if (!failure && (std::filesystem::status(folder, failure).permissions() & open) != perms::none)
    std::filesystem::permissions(folder, open, std::filesystem::perm_options::remove, failure);
  if (!failure) return ok();
  // Somebody else's, or on a disk that is read-only: it is for its owner to close, and nothing will
  // be written there.
  std::error_code absent;
  if (std::filesystem::is_directory(folder, absent) && ::access(folder.c_str(), W_OK) != 0)
    return ok();
  return Error{Code::kStorage,
               fmt::format("cannot make the state folder {} for this user alone: {}",
                           folder.string(), failure.message())};
}

/// What each connection is given. docs/build/decisions/durability.md says why.
void set_up(soci::session& sql) {
  std::string mode;
  sql << "PRAGMA journal_mode = WAL", soci::into(mode);
  sql << "PRAGMA synchronous = FULL";
  sql << "PRAGMA wal_autocheckpoint = 4000";  // pages: 16 MB
  sql << "PRAGMA journal_size_limit = 67108864";
  sql << "PRAGMA cache_size = -65536";  // KiB
}

/// SQLite's, in the folder.
Result<void> open_file(soci::session& sql, const std::filesystem::path& folder) {
  const auto file = folder / "cupel.db";
  TRY(within("state", check_ownership(file)));
  TRY(not_torn_apart(file));
  close_to_others(folder);
  const bool unwritten = holds_writes(wal_of(file));
  open_session(sql, folder);
  allow_checkpoint_on_close(sql, !unwritten);
  const int version = version_of(sql);
  TRY(not_newer(version));
  TRY(sound(sql, file));
  set_up(sql);
  TRY(migrate(sql, folder));
  if (version == 0) {
    TRY(sync_folder(folder));
  }
  allow_checkpoint_on_close(sql, true);
  return ok();
}

/// PostgreSQL's, on the server. Consoles, locks and what files of evidence there are stay in the
/// folder.
Result<void> open_on(const Server& server, soci::session& sql,
                     const std::filesystem::path& folder) {
  if (is_there(folder / "cupel.db"))
    return Error{Code::kConflict,
                 fmt::format("{0}/cupel.db is a store, and {0}/store.yaml names another: move one "
                             "of them away, for records in two places are no proof",
                             folder.string())};
  make_private_folder(folder / "evidence");
  close_evidence(folder);
  open_session(sql, folder);
  TRY(prepare_schema(sql, server, folder));
  TRY(not_newer(version_of(sql)));
  return migrate(sql, folder);
}

}  // namespace

std::filesystem::path default_folder() {
  if (const char* named = std::getenv("CUPEL_STATE"); named != nullptr && *named != '\0')
    return named;
  if (::geteuid() == 0) return "/var/lib/cupel";
  const char* home = std::getenv("HOME");
  return std::filesystem::path{home == nullptr ? "." : home} / ".local/state/cupel";
}

Store::Database::Database() = default;
Store::Database::~Database() = default;

Store::Store(std::filesystem::path folder, std::unique_ptr<Database> database)
    : folder_{std::move(folder)}, database_{std::move(database)} {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder) {
  TRY(make_state_folder(folder));
  TRY(is_not_moved(folder));
  TRY(const auto server, server_of(folder));
  return guarded("cannot open the store in " + folder.string(),
                 [&]() -> Result<std::unique_ptr<Store>> {
                   auto database = std::make_unique<Database>();
                   auto& sql = database->sql;
                   TRY(server ? open_on(*server, sql, folder) : open_file(sql, folder));
                   return std::unique_ptr<Store>{new Store{folder, std::move(database)}};
                 });
}

void Store::tell_time_by(const engine::Clock& clock) { database_->clock = &clock; }

void Store::limit_pages(int pages) {
  if (!is_postgresql(database_->sql))
    database_->sql << "PRAGMA max_page_count = " + std::to_string(pages);
}

std::optional<std::string> Store::pinned(std::string_view name) {
  auto& sql = database_->sql;
  auto found = guarded("cannot read the pins", [&]() -> Result<std::optional<std::string>> {
    const std::string key{name};
    std::string fingerprint;
    sql << "SELECT fingerprint FROM known_key WHERE name = :name", soci::use(key),
        soci::into(fingerprint);
    return sql.got_data() ? std::optional{fingerprint} : std::nullopt;
  });
  // A store that cannot be read must not look like one that has never seen this name: that would
  // pin whatever answers now. No real fingerprint equals this.
  return found ? *std::move(found) : std::optional<std::string>{"unreadable store"};
}

namespace {

/// Whose word it is: pins.h.
Result<void> write_pin(soci::session& sql, std::string_view name, std::string_view fingerprint,
                       bool by_person) {
  return guarded("cannot write the pins", [&]() -> Result<void> {
    const std::string key{name};
    const std::string value{fingerprint};
    const auto since = count_of(now());
    const int word = by_person ? 1 : 0;
    Writing writing{sql};
    sql << "DELETE FROM known_key WHERE name = :name", soci::use(key);
    if (!value.empty())
      sql << "INSERT INTO known_key (name, fingerprint, since, by_person) VALUES (:name, :value, "
             ":since, :word)",
          soci::use(key), soci::use(value), soci::use(since), soci::use(word);
    writing.commit();
    return ok();
  });
}

}  // namespace

void Store::pin(std::string_view name, std::string_view fingerprint) {
  // If it cannot be kept, the next connection asks again; the journal will have failed by then.
  [[maybe_unused]] const auto kept = write_pin(database_->sql, name, fingerprint, false);
}

Result<void> Store::repin(std::string_view name, std::string_view fingerprint) {
  return write_pin(database_->sql, name, fingerprint, true);
}

}  // namespace cupel::store
