#include "orchestrator/store/schema.h"

#include <soci/soci.h>

#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/measurements.h"

namespace cupel::store {
namespace {

constexpr std::array<std::string_view, 7> kFirst{
    "CREATE TABLE run (id INTEGER PRIMARY KEY, playbook TEXT NOT NULL, playbook_file TEXT NOT "
    "NULL, "
    "playbook_text TEXT NOT NULL, inventory_file TEXT NOT NULL, inventory_digest TEXT NOT NULL, "
    "phase TEXT NOT NULL, cancel INTEGER NOT NULL, began BIGINT NOT NULL, ended BIGINT NOT NULL)",
    "CREATE TABLE run_node (run INTEGER NOT NULL, place INTEGER NOT NULL, node TEXT NOT NULL, "
    "PRIMARY KEY (run, place))",
    "CREATE INDEX run_node_by_node ON run_node (node, run)",
    "CREATE TABLE event (run INTEGER NOT NULL, sequence BIGINT NOT NULL, time BIGINT NOT NULL, "
    "kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, data TEXT NOT NULL, "
    "hash TEXT NOT NULL, PRIMARY KEY (run, sequence))",
    "CREATE INDEX event_by_node ON event (run, node, sequence)",
    "CREATE TABLE node_lock (node TEXT PRIMARY KEY, run INTEGER NOT NULL)",
    "CREATE TABLE known_key (name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, since BIGINT NOT "
    "NULL)",
};

// What is known of BMCs: what they refused, who and where they are, how they fared.
constexpr std::array<std::string_view, 3> kBmcs{
    "CREATE TABLE bmc_refusal (node TEXT NOT NULL, login TEXT NOT NULL, mark TEXT NOT NULL, "
    "salt TEXT NOT NULL, times INTEGER NOT NULL, believed INTEGER NOT NULL, last BIGINT NOT NULL, "
    "PRIMARY KEY (node, login))",
    "CREATE TABLE known_bmc (node TEXT PRIMARY KEY, serial TEXT NOT NULL, uuid TEXT NOT NULL, "
    "service_uuid TEXT NOT NULL, macs TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL, "
    "since BIGINT NOT NULL)",
    "CREATE TABLE bmc_budget (node TEXT PRIMARY KEY, data TEXT NOT NULL)",
};

// What people ask of runs, and states that bound a replay.
constexpr std::array<std::string_view, 3> kCommands{
    "CREATE TABLE command (id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, "
    "kind TEXT NOT NULL, node TEXT NOT NULL, step TEXT NOT NULL, reason TEXT NOT NULL, "
    "asked_by TEXT NOT NULL, at BIGINT NOT NULL)",
    "CREATE INDEX command_by_run ON command (run, id)",
    "CREATE TABLE snapshot (run INTEGER NOT NULL, sequence BIGINT NOT NULL, "
    "event_hash TEXT NOT NULL, state TEXT NOT NULL, hash TEXT NOT NULL, "
    "PRIMARY KEY (run, sequence))",
};

// How a run is accompanied, as its command line said.
constexpr std::array<std::string_view, 1> kRunOptions{
    "ALTER TABLE run ADD COLUMN options TEXT NOT NULL DEFAULT ''",
};

// What people did to runs from outside: gave one with a damaged journal an end, or removed it
// whole. A run that was removed keeps its number: no other gets it.
constexpr std::array<std::string_view, 2> kRepairs{
    "CREATE TABLE repair (run INTEGER NOT NULL, at BIGINT NOT NULL, asked_by TEXT NOT NULL, "
    "reason TEXT NOT NULL, damaged_at BIGINT NOT NULL, damage TEXT NOT NULL, phase TEXT NOT NULL, "
    "nodes TEXT NOT NULL)",
    "CREATE TABLE pruned (run INTEGER PRIMARY KEY, playbook TEXT NOT NULL, began BIGINT NOT NULL, "
    "ended BIGINT NOT NULL, at BIGINT NOT NULL, asked_by TEXT NOT NULL)",
};

// The journal's numbers: orchestrator/store/measurements.h. Texts stand once, rows are some 30
// bytes.
constexpr std::array<std::string_view, 5> kMeasurements{
    "CREATE TABLE name (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE series (id INTEGER PRIMARY KEY, stage INTEGER NOT NULL, measure INTEGER NOT "
    "NULL, unit INTEGER NOT NULL, profile INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX series_by_measure ON series (measure, profile, stage, unit)",
    "CREATE TABLE measurement (series INTEGER NOT NULL, run INTEGER NOT NULL, subject INTEGER NOT "
    "NULL, sequence BIGINT NOT NULL, place INTEGER NOT NULL, value DOUBLE NOT NULL, criterion "
    "INTEGER, PRIMARY KEY (series, run, subject, sequence, place)) WITHOUT ROWID",
    "CREATE VIEW measurements AS SELECT m.run AS run, subject.text AS subject, stage.text AS "
    "stage, measure.text AS measure, m.value AS value, unit.text AS unit, event.time AS time, "
    "profile.text AS profile, criterion.text AS criterion, m.sequence AS sequence, m.place AS "
    "place FROM measurement AS m JOIN series ON series.id = m.series JOIN name AS subject ON "
    "subject.id = m.subject JOIN name AS stage ON stage.id = series.stage JOIN name AS measure ON "
    "measure.id = series.measure JOIN name AS unit ON unit.id = series.unit JOIN name AS profile "
    "ON profile.id = series.profile JOIN event ON event.run = m.run AND event.sequence = "
    "m.sequence LEFT JOIN name AS criterion ON criterion.id = m.criterion",
};

// The service: who may use it, what was changed through it, and what it has answered.
constexpr std::array<std::string_view, 4> kService{
    "CREATE TABLE access_token (id TEXT PRIMARY KEY, hash TEXT NOT NULL, name TEXT NOT NULL, role "
    "TEXT NOT NULL, racks TEXT NOT NULL, session INTEGER NOT NULL, parent TEXT NOT NULL, made_by "
    "TEXT NOT NULL, made BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL, used "
    "BIGINT NOT NULL)",
    "CREATE TABLE audit (sequence INTEGER PRIMARY KEY, time BIGINT NOT NULL, who TEXT NOT NULL, "
    "origin TEXT NOT NULL, what TEXT NOT NULL, data TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TABLE kept_reply (who TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, status "
    "INTEGER NOT NULL, location TEXT NOT NULL, body TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY "
    "(who, key))",
    "CREATE TABLE pending_approval (id TEXT PRIMARY KEY, request TEXT NOT NULL, asked_by TEXT NOT "
    "NULL, origin TEXT NOT NULL, at BIGINT NOT NULL, expires BIGINT NOT NULL)",
};

// A controller asks for them once a second, however many runs a store has from years of nights.
constexpr std::array<std::string_view, 1> kSubmitted{
    "CREATE INDEX run_submitted ON run (id) WHERE phase = 'submitted'",
};

// What a resume must find again and no reader of events may have; and whose word a pin is.
constexpr std::array<std::string_view, 2> kSecrets{
    "CREATE TABLE step_secret (run INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, "
    "PRIMARY KEY (run, id))",
    "ALTER TABLE known_key ADD COLUMN by_person INTEGER NOT NULL DEFAULT 0",
};

// All racks as a word of its own: a text that was lost means none of them.
constexpr std::array<std::string_view, 2> kScopes{
    "UPDATE access_token SET racks = '*' WHERE racks = ''",
    "DELETE FROM pending_approval",  // they say it in the former way, and expire in a day
};

/// What turns version i into version i + 1; an empty database is version 0.
struct Migration {
  std::span<const std::string_view> statements;
  /// What cannot be known in SQL, behind the statements. Throws what SOCI throws.
  void (*fill)(soci::session& sql, const std::filesystem::path& folder) = nullptr;
};

constexpr std::array<Migration, 10> kMigrations{{{kFirst},
                                                 {kBmcs},
                                                 {kCommands},
                                                 {kRunOptions},
                                                 {kRepairs},
                                                 {kMeasurements, fill_measurements},
                                                 {kService},
                                                 {kSubmitted},
                                                 {kSecrets},
                                                 {kScopes}}};

}  // namespace

int version_of(soci::session& sql) {
  if (!has_table(sql, "schema_version")) return 0;
  int version = 0;
  sql << "SELECT version FROM schema_version", soci::into(version);
  return version;
}

Result<void> not_newer(int version) {
  const auto newest = static_cast<int>(kMigrations.size());
  if (version <= newest) return ok();
  return Error{Code::kUnsupported,
               fmt::format("the store is of version {}, written by a newer Cupel; this one reads "
                           "up to version {}: install the newer one, or name another --state",
                           version, newest)};
}

Result<void> migrate(soci::session& sql, const std::filesystem::path& folder) {
  const auto newest = static_cast<int>(kMigrations.size());
  if (version_of(sql) == newest) return ok();
  Writing writing{sql};
  // Again: another process may have migrated it while this one waited.
  const int version = version_of(sql);
  TRY(not_newer(version));
  if (version == 0) {
    sql << "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)";
    sql << "INSERT INTO schema_version VALUES (0)";
  }
  for (int i = version; i < newest; ++i) {
    const auto& migration = kMigrations[static_cast<std::size_t>(i)];
    for (const auto statement : migration.statements) sql << in_dialect(sql, statement);
    if (migration.fill != nullptr) migration.fill(sql, folder);
  }
  sql << "UPDATE schema_version SET version = :v", soci::use(newest);
  writing.commit();
  return ok();
}

}  // namespace cupel::store
