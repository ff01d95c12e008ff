// Runs: what they are, which nodes they hold, what was asked of them.
#include <fmt/format.h>

#include <map>

#include "inventory/node_range.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

Run run_of(const soci::row& row) {
  Run run;
  run.id = row.get<int>(0);
  run.playbook = row.get<std::string>(1);
  run.playbook_file = row.get<std::string>(2);
  run.playbook_text = row.get<std::string>(3);
  run.inventory_file = row.get<std::string>(4);
  run.inventory_digest = row.get<std::string>(5);
  run.phase = engine::run_phase(row.get<std::string>(6)).value_or(RunPhase::interrupted);
  run.began = time_of(row.get<long long>(7));
  run.ended = time_of(row.get<long long>(8));
  run.options = row.get<std::string>(9);
  return run;
}

constexpr std::string_view kRunColumns =
    "SELECT id, playbook, playbook_file, playbook_text, inventory_file, inventory_digest, phase, "
    "began, ended, options FROM run ";

void read_nodes(soci::session& sql, Run& run) {
  const soci::rowset<std::string> names =
      (sql.prepare << "SELECT node FROM run_node WHERE run = :run ORDER BY place",
       soci::use(run.id));
  run.nodes.assign(names.begin(), names.end());
}

using Holders = std::map<RunId, std::vector<std::string>>;

/// Which of the run's nodes others hold.
Holders held_by_others(soci::session& sql, const Run& run) {
  Holders holders;
  for (const auto& node : run.nodes) {
    int holder = 0;
    sql << "SELECT run FROM node_lock WHERE node = :node", soci::use(node), soci::into(holder);
    if (sql.got_data()) holders[holder].push_back(node);
  }
  return holders;
}

/// Why waiting, resume and cancel would not free what the run holds; empty if they would.
std::string stuck(soci::session& sql, RunId run) {
  std::string phase;
  sql << "SELECT phase FROM run WHERE id = :run", soci::use(run), soci::into(phase);
  if (!sql.got_data()) return "which is not there any more";
  if (is_over(phase)) return "which is over";
  const auto damage = damage_of(sql, run);
  return damage ? fmt::format("whose journal is damaged at event {}", damage->sequence) : "";
}

/// Who holds which nodes, and what frees them.
std::string in_words(soci::session& sql, const Holders& holders) {
  std::string held, helps;
  for (const auto& [holder, nodes] : holders) {
    const auto why = stuck(sql, holder);
    held += fmt::format("{}run {}{} holds {}", held.empty() ? "" : "; ", holder,
                        why.empty() ? "" : ", " + why + ",", inventory::fold(nodes));
    helps += why.empty() ? fmt::format("{}wait for it, or cupel resume {}, or cupel cancel {}",
                                       helps.empty() ? "" : "; ", holder, holder)
                         : fmt::format("{}free them with: cupel store repair {}",
                                       helps.empty() ? "" : "; ", holder);
  }
  return held + ": " + helps;
}

void insert_run(soci::session& sql, const Run& run, WallTime time) {
  const auto began = count_of(time);
  const std::string phase{to_string(run.phase)};
  sql << "INSERT INTO run (id, playbook, playbook_file, playbook_text, inventory_file, "
         "inventory_digest, phase, cancel, began, ended, options) "
         "VALUES (1 + (SELECT MAX(n) FROM (SELECT MAX(id) AS n FROM run UNION SELECT MAX(run) FROM "
         "pruned UNION SELECT 0)), :a, :b, :c, :d, :e, :phase, 0, :f, 0, :options)",
      soci::use(run.playbook), soci::use(run.playbook_file), soci::use(run.playbook_text),
      soci::use(run.inventory_file), soci::use(run.inventory_digest), soci::use(phase),
      soci::use(began), soci::use(run.options);
}

void insert_nodes(soci::session& sql, RunId id, const std::vector<std::string>& nodes) {
  int place = 0;
  std::string node;
  soci::statement member =
      (sql.prepare << "INSERT INTO run_node (run, place, node) VALUES (:run, :place, :node)",
       soci::use(id), soci::use(place), soci::use(node));
  soci::statement lock = (sql.prepare << "INSERT INTO node_lock (node, run) VALUES (:node, :run)",
                          soci::use(node), soci::use(id));
  for (const auto& name : nodes) {
    node = name;
    member.execute(true);
    lock.execute(true);
    ++place;
  }
}

}  // namespace

Result<RunId> Store::begin_run(const Run& run) {
  auto& sql = database_->sql;
  return guarded("cannot write the run", [&]() -> Result<RunId> {
    Holders held;
    {
      Writing writing{sql};
      held = held_by_others(sql, run);
      if (held.empty()) {
        insert_run(sql, run, database_->wall());
        RunId id = 0;
        sql << "SELECT last_insert_rowid()", soci::into(id);
        insert_nodes(sql, id, run.nodes);
        writing.commit();
        return id;
      }
    }
    // Reads their journals: nobody is to wait for that.
    return Error{Code::kConflict, in_words(sql, held)};
  });
}

Result<void> Store::keep_options(RunId run, const std::string& options) {
  auto& sql = database_->sql;
  return guarded("cannot write the run", [&]() -> Result<void> {
    sql << "UPDATE run SET options = :options WHERE id = :run", soci::use(options), soci::use(run);
    return ok();
  });
}

Result<void> Store::submit_again(RunId run) {
  auto& sql = database_->sql;
  return guarded("cannot write the run", [&]() -> Result<void> {
    // Not one that is over: it may have ended since somebody looked.
    sql << "UPDATE run SET phase = 'submitted' WHERE id = :run AND phase IN ('interrupted', "
           "'running')",
        soci::use(run);
    return ok();
  });
}

Result<std::vector<RunId>> Store::submitted(std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const soci::rowset<int> rows =
        (sql.prepare << "SELECT id FROM run WHERE phase = 'submitted' ORDER BY id LIMIT " +
                            std::to_string(most));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

Result<std::vector<Run>> Store::runs(std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<Run>> {
    std::vector<Run> found;
    const soci::rowset<soci::row> rows =
        (sql.prepare << std::string{kRunColumns} + "ORDER BY id DESC LIMIT " +
                            std::to_string(most));
    for (const auto& row : rows) found.push_back(run_of(row));
    for (auto& run : found) read_nodes(sql, run);
    return found;
  });
}

Result<Run> Store::run(RunId id) const {
  auto& sql = database_->sql;
  return guarded("cannot read the run", [&]() -> Result<Run> {
    soci::row row;
    sql << std::string{kRunColumns} + "WHERE id = :id", soci::use(id), soci::into(row);
    if (!sql.got_data())
      return Error{Code::kNotFound,
                   fmt::format("there is no run {} in {}: see cupel status", id, folder_.string())};
    auto run = run_of(row);
    read_nodes(sql, run);
    return run;
  });
}

Result<std::vector<RunId>> Store::runs_of(std::string_view node, std::size_t most,
                                          RunId before) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const std::string name{node};
    const soci::rowset<int> rows =
        (sql.prepare << "SELECT run FROM run_node WHERE node = :node AND (:any = 0 OR run < "
                        ":before) ORDER BY run DESC LIMIT " +
                            std::to_string(most),
         soci::use(name), soci::use(before), soci::use(before));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

}  // namespace cupel::store
