#include "orchestrator/store/store.h"

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <cstdlib>

#include "orchestrator/store/database.h"
#include "orchestrator/store/schema.h"

namespace cupel::store {
namespace {

int version_of(soci::session& sql) {
  int tables = 0;
  sql << "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'",
      soci::into(tables);
  if (tables == 0) return 0;
  int version = 0;
  sql << "SELECT version FROM schema_version", soci::into(version);
  return version;
}

Result<void> migrate(soci::session& sql) {
  const int newest = static_cast<int>(migrations().size());
  const int version = version_of(sql);
  if (version > newest)
    return Error{Code::kUnsupported,
                 fmt::format("the store is of version {}, written by a newer Cupel; this one reads "
                             "up to version {}: install the newer one, or name another --state",
                             version, newest)};
  if (version == newest) return ok();
  Writing writing{sql};
  if (version == 0) {
    sql << "CREATE TABLE schema_version (version INTEGER NOT NULL)";
    sql << "INSERT INTO schema_version VALUES (0)";
  }
  for (int i = version; i < newest; ++i)
    for (const auto statement : migrations()[static_cast<std::size_t>(i)].statements)
      sql << std::string{statement};
  sql << "UPDATE schema_version SET version = :v", soci::use(newest);
  writing.commit();
  return ok();
}

}  // namespace

std::filesystem::path default_folder() {
  if (const char* named = std::getenv("CUPEL_STATE"); named != nullptr && *named != '\0')
    return named;
  if (::geteuid() == 0) return "/var/lib/cupel";
  const char* home = std::getenv("HOME");
  return std::filesystem::path{home == nullptr ? "." : home} / ".local/state/cupel";
}

Store::Store(std::filesystem::path folder, std::unique_ptr<Database> database)
    : folder_{std::move(folder)}, database_{std::move(database)} {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return Error{Code::kStorage, fmt::format("cannot make the state folder {}: {}", folder.string(),
                                             failure.message())};
  // Records name machines, addresses and serials: they are not for everybody.
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
  return guarded("cannot open the store in " + folder.string(),
                 [&]() -> Result<std::unique_ptr<Store>> {
                   auto database = std::make_unique<Database>();
                   database->sql.open(soci::sqlite3,
                                      "db=\"" + (folder / "cupel.db").string() + "\" timeout=10");
                   std::string mode;
                   database->sql << "PRAGMA journal_mode = WAL", soci::into(mode);
                   database->sql << "PRAGMA synchronous = FULL";
                   TRY(migrate(database->sql));
                   return std::unique_ptr<Store>{new Store{folder, std::move(database)}};
                 });
}

void Store::tell_time_by(const engine::Clock& clock) { database_->clock = &clock; }

void Store::limit_pages(int pages) {
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
  return found ? std::move(found).assume_value() : std::optional<std::string>{"unreadable store"};
}

void Store::pin(std::string_view name, std::string_view fingerprint) {
  // If it cannot be kept, the next connection asks again; the journal will have failed by then.
  [[maybe_unused]] const auto kept = repin(name, fingerprint);
}

Result<void> Store::repin(std::string_view name, std::string_view fingerprint) {
  auto& sql = database_->sql;
  return guarded("cannot write the pins", [&]() -> Result<void> {
    const std::string key{name};
    const std::string value{fingerprint};
    const auto since = count_of(now());
    sql << "DELETE FROM known_key WHERE name = :name", soci::use(key);
    if (!value.empty())
      sql << "INSERT INTO known_key (name, fingerprint, since) VALUES (:name, :value, :since)",
          soci::use(key), soci::use(value), soci::use(since);
    return ok();
  });
}

}  // namespace cupel::store
