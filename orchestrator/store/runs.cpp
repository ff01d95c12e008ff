// Runs: what they are, which nodes they hold, what was asked of them.
#include <fmt/format.h>

#include <map>

#include "inventory/node_range.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

/// The rows of runs.
class RunRows {
 public:
  /// Those of `which`, the rest of the statement, with `id` for its place, if it has one.
  RunRows(soci::session& sql, const std::string& which, const RunId* id = nullptr) : rows_{sql} {
    if (id != nullptr) rows_.exchange(soci::use(*id));
    rows_.exchange(soci::into(run_.id));
    for (auto* text : {&run_.playbook, &run_.playbook_file, &run_.playbook_text,
                       &run_.inventory_file, &run_.inventory_digest, &phase_})
      rows_.exchange(soci::into(*text));
    for (auto* time : {&began_, &ended_}) rows_.exchange(soci::into(*time));
    rows_.exchange(soci::into(run_.options));
    rows_.alloc();
    rows_.prepare(
        "SELECT id, playbook, playbook_file, playbook_text, inventory_file, inventory_digest, "
        "phase, began, ended, options FROM run " +
        which);
    rows_.define_and_bind();
    rows_.execute();
  }

  /// nullptr behind the last.
  const Run* next() {
    if (!rows_.fetch()) return nullptr;
    run_.phase = engine::run_phase(phase_).value_or(RunPhase::interrupted);
    run_.began = time_of(began_);
    run_.ended = time_of(ended_);
    return &run_;
  }

 private:
  Run run_{};
  std::string phase_{};
  std::int64_t began_ = 0, ended_ = 0;
  soci::statement rows_;
};

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
    RunId holder = 0;
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

RunId insert_run(soci::session& sql, const Run& run, WallTime time) {
  RunId id = 0;
  const auto began = count_of(time);
  const std::string phase{to_string(run.phase)};
  sql << "INSERT INTO run (id, playbook, playbook_file, playbook_text, inventory_file, "
         "inventory_digest, phase, cancel, began, ended, options) "
         "VALUES (1 + (SELECT MAX(n) FROM (SELECT MAX(id) AS n FROM run UNION SELECT MAX(run) FROM "
         "pruned UNION SELECT 0) AS numbers), :a, :b, :c, :d, :e, :phase, 0, :f, 0, :options) "
         "RETURNING id",
      soci::use(run.playbook), soci::use(run.playbook_file), soci::use(run.playbook_text),
      soci::use(run.inventory_file), soci::use(run.inventory_digest), soci::use(phase),
      soci::use(began), soci::use(run.options), soci::into(id);
  return id;
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
        const auto id = insert_run(sql, run, database_->wall());
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
    Writing writing{sql};
    sql << "UPDATE run SET options = :options WHERE id = :run", soci::use(options), soci::use(run);
    writing.commit();
    return ok();
  });
}

Result<void> Store::submit_again(RunId run) {
  auto& sql = database_->sql;
  return guarded("cannot write the run", [&]() -> Result<void> {
    Writing writing{sql};
    // Not one that is over: it may have ended since somebody looked.
    sql << "UPDATE run SET phase = 'submitted' WHERE id = :run AND phase IN ('interrupted', "
           "'running')",
        soci::use(run);
    writing.commit();
    return ok();
  });
}

Result<std::vector<RunId>> Store::submitted(std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const soci::rowset<long long> rows =
        (sql.prepare << "SELECT id FROM run WHERE phase = 'submitted' ORDER BY id LIMIT " +
                            std::to_string(most));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

Result<std::vector<Run>> Store::runs(std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<Run>> {
    std::vector<Run> found;
    RunRows rows{sql, "ORDER BY id DESC LIMIT " + std::to_string(most)};
    while (const auto* row = rows.next()) found.push_back(*row);
    for (auto& run : found) read_nodes(sql, run);
    return found;
  });
}

Result<Run> Store::run(RunId id) const {
  auto& sql = database_->sql;
  return guarded("cannot read the run", [&]() -> Result<Run> {
    RunRows rows{sql, "WHERE id = :id", &id};
    const auto* row = rows.next();
    if (row == nullptr)
      return Error{Code::kNotFound,
                   fmt::format("there is no run {} in {}: see cupel status", id, folder_.string())};
    auto run = *row;
    read_nodes(sql, run);
    return run;
  });
}

Result<std::vector<RunId>> Store::runs_of(std::string_view node, std::size_t most,
                                          RunId before) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const std::string name{node};
    const soci::rowset<long long> rows =
        (sql.prepare << "SELECT run FROM run_node WHERE node = :node AND (CAST(:any AS BIGINT) = 0 "
                        "OR run < "
                        ":before) ORDER BY run DESC LIMIT " +
                            std::to_string(most),
         soci::use(name), soci::use(before), soci::use(before));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

}  // namespace cupel::store
