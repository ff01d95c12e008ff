#include "orchestrator/store/run_row_check.h"

#include <soci/soci.h>

#include <set>

#include "base/digest.h"

namespace cupel::store {
namespace {

using Names = std::multiset<std::string>;

Names nodes_in_rows(soci::session& sql, engine::RunId run) {
  const soci::rowset<std::string> rows =
      (sql.prepare << "SELECT node FROM run_node WHERE run = :run", soci::use(run));
  return {rows.begin(), rows.end()};
}

/// Nothing: the event does not name them.
std::optional<Names> nodes_in(const json::value& started) {
  const auto* nodes = find(started, "nodes");
  if (nodes == nullptr || !nodes->is_array()) return std::nullopt;
  Names names;
  for (const auto& each : nodes->get_array()) names.insert(text_at(each, "name").value_or(""));
  return names;
}

}  // namespace

std::string changed_in_row(soci::session& sql, engine::RunId run, const json::value& started) {
  std::string playbook, text, inventory;
  sql << "SELECT playbook, playbook_text, inventory_digest FROM run WHERE id = :run",
      soci::use(run), soci::into(playbook), soci::into(text), soci::into(inventory);
  if (!sql.got_data()) return {};
  std::string changed;
  const auto hold = [&](bool is_same, std::string_view what) {
    if (!is_same) changed += (changed.empty() ? "" : ", ") + std::string{what};
  };
  const auto name = text_at(started, "playbook");
  const auto digest = text_at(started, "playbook_sha256");
  hold((!name || *name == playbook) && (!digest || *digest == sha256_hex(text)), "its playbook");
  const auto read = text_at(started, "inventory_sha256");
  hold(!read || *read == inventory, "the digest of its inventory");
  const auto nodes = nodes_in(started);
  hold(!nodes || *nodes == nodes_in_rows(sql, run), "its nodes");
  return changed;
}

}  // namespace cupel::store
