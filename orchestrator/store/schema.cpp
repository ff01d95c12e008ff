#include "orchestrator/store/schema.h"

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

constexpr std::array<Migration, 3> kMigrations{{{kFirst}, {kBmcs}, {kCommands}}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace cupel::store
