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

constexpr std::array<Migration, 1> kMigrations{{{kFirst}}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

}  // namespace cupel::store
